"""Small schedules for tests: a workload in a table, a run, and who started where and when."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

from hpcsim.cluster import Cluster
from hpcsim.engine.columns import NOT_SUBMITTED, OPEN, STATES, RunColumns
from hpcsim.engine.simulation import Simulation
from hpcsim.job import JobState
from hpcsim.policy import Policy
from hpcsim.registry import make
from hpcsim.workload import Workload

Row = tuple[str, float, float, float, int]
"""(job id, submit, run time, limit, nodes), times in seconds."""


class Outcome(NamedTuple):
    """What happened to one job; NaN and ``""`` where it never started."""

    start_s: float
    end_s: float
    node_ids: str
    state: JobState | None
    reason: str


def jobs(table: str) -> Workload:
    """Read a workload from lines of ``id submit run limit nodes``; ``#`` begins a comment, ``inf`` is no limit."""
    rows = [line.partition("#")[0].split() for line in table.strip().splitlines()]
    ids, submit, run, limit, nodes = zip(*[row for row in rows if row], strict=True)
    return Workload.of(
        job_id=list(ids),
        submit_s=[float(x) for x in submit],
        run_s=[float(x) for x in run],
        limit_s=[float(x) for x in limit],
        nodes=[int(x) for x in nodes],
    )


def simulation(workload: Workload, cluster: Cluster | int, policy: Policy | str | None, **options: Any) -> Simulation:
    """Return a simulation with the checker on; *cluster* may be a node count, *policy* a registry name."""
    machine = Cluster.of_nodes(cluster) if isinstance(cluster, int) else cluster
    decider = make("policies", policy) if isinstance(policy, str) else policy
    return Simulation(workload, machine, decider, **{"check": True} | options)


def run(workload: Workload, cluster: Cluster | int, policy: Policy | str, **options: Any) -> RunColumns:
    """Simulate to the end and return the raw columns."""
    sim = simulation(workload, cluster, policy, **options)
    sim.run()
    return sim.finish()


def outcomes_of(columns: RunColumns, workload: Workload) -> dict[Any, Outcome]:
    """Return job id -> outcome, in the log's order."""
    ids = [*workload.columns["job_id"].tolist(), *[job.job_id for job in columns.added]]
    return {job_id: _outcome(columns, row) for row, job_id in enumerate(ids)}


def outcomes(workload: Workload, cluster: Cluster | int, policy: Policy | str, **options: Any) -> dict[Any, Outcome]:
    """Simulate to the end; return job id -> outcome."""
    return outcomes_of(run(workload, cluster, policy, **options), workload)


def starts(workload: Workload, cluster: Cluster | int, policy: Policy | str, **options: Any) -> dict[Any, float]:
    """Simulate to the end; return job id -> start in seconds, of the jobs that started."""
    every = outcomes(workload, cluster, policy, **options)
    return {job_id: outcome.start_s for job_id, outcome in every.items() if not math.isnan(outcome.start_s)}


def gantt(workload: Workload, cluster: Cluster | int, policy: Policy | str, **options: Any) -> list[tuple[Any, ...]]:
    """Simulate to the end; return (job id, start in seconds, node ids) in the order in which jobs started."""
    columns = run(workload, cluster, policy, **options)
    ids = workload.columns["job_id"].tolist()
    return [
        (ids[row], start_s, node_ids)
        for row, start_s, node_ids in zip(columns.attempt_row, columns.attempt_start_s, columns.node_ids(), strict=True)
    ]


def policy_of(schedule: Callable[..., Any], **members: Any) -> Policy:
    """Return a policy whose `schedule` is *schedule(system)*; *members* are put into its class."""
    body = {"schedule": lambda self, system: schedule(system), "__doc__": "A policy of a test.", **members}
    return type("PolicyOfATest", (Policy,), body)()  # type: ignore[no-any-return]


def _outcome(columns: RunColumns, row: int) -> Outcome:
    attempt, code = columns.attempt_of()[row], columns.state[row]
    started = attempt >= 0
    return Outcome(
        columns.attempt_start_s[attempt] if started else math.nan,
        columns.ended_s[row],
        list(columns.node_ids())[attempt] if started else "",
        None if code in (OPEN, NOT_SUBMITTED) else STATES[code],
        columns.reasons.get(row, ""),
    )
