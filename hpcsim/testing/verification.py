"""Is this result possible? It is derived again from its tables, the workload and the cluster, without the engine.

Works on any `Result`: one just simulated, one loaded from a folder, one made by another simulator.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from hpcsim.cluster import Cluster
from hpcsim.errors import InvariantViolation
from hpcsim.job import JobState
from hpcsim.speedup import SpeedUp
from hpcsim.testing.advice import advice_faults, effective_jobs, effective_run_s, requested
from hpcsim.testing.occupancy import occupancy_faults
from hpcsim.workload import END_STATES, Workload

if TYPE_CHECKING:
    import pandas as pd

    from hpcsim.results.result import Result

_SHOWN = 5

Column = NDArray[Any]


def verify(result: Result, workload: Workload, cluster: Cluster, *, scaling: SpeedUp | None = None) -> None:
    """Check that *result* is a possible outcome of *workload* on *cluster*.

    Checked are: each job is the workload's own, in one state, with the times that go with it; none
    starts before its submission; each ends when its run time and limit say; jobs that can never run
    did not; no two attempts hold a node at once, and no node is outside the machine; attempts,
    timeline and summary agree with the jobs; a complete result has every job of the workload.

    Where the run had an advisor, only jobs that it advised differ from the workload, each on a node count
    that it allows, and they run as long there as their truth says, or the law *scaling* of the run.
    Where the machine's power is described, parts and jobs draw what the whole does.

    Jobs that were submitted during the run, behind the workload's rows, are checked for all that
    needs no workload.

    Raises:
        InvariantViolation: something does not hold; the message has the first few faults and their
            number, `faults` holds all.
    """
    faults = list(_faults(result, workload, cluster, scaling)) or list(_summary_faults(result))
    if faults:
        more = f" (and {len(faults) - _SHOWN} more)" if len(faults) > _SHOWN else ""
        error = InvariantViolation(
            f"The result is impossible: {'; '.join(faults[:_SHOWN])}{more}.",
            "Check that workload and cluster are those of the run; else it is a defect of what made the result.",
        )
        error.faults = tuple(faults)
        raise error


def _faults(result: Result, workload: Workload, cluster: Cluster, scaling: SpeedUp | None) -> Iterator[str]:
    jobs = result.jobs
    rows = jobs["row"].to_numpy()
    if len(np.unique(rows)) < len(rows):
        yield "a job has two rows"
        return
    if result.nodes != cluster.nodes:
        yield f"it is of a machine of {result.nodes} nodes, the cluster has {cluster.nodes}"
    missing = len(workload) - np.count_nonzero(rows < len(workload))
    if missing and result.is_complete:
        yield f"it calls itself complete and lacks {missing} of the workload's jobs"
    own = jobs[rows < len(workload)]
    yield from _identity_faults(own, workload)
    yield from _time_faults(jobs)
    for wrong, fault in advice_faults(own, workload):
        yield from _each(own, wrong, fault)
    yield from _end_faults(own, workload, result.provenance["options"], scaling)
    yield from _admission_faults(own, workload, cluster)
    yield from _attempt_faults(jobs, result.attempts)
    yield from occupancy_faults(result, cluster.nodes)
    yield from _energy_faults(result)


def _identity_faults(jobs: pd.DataFrame, workload: Workload) -> Iterator[str]:
    """What was asked is what the workload says."""
    rows = jobs["row"].to_numpy()
    for name in ("submit_s", "limit_s", "nodes"):
        found = jobs[name].to_numpy() if name == "submit_s" else requested(jobs, name)
        wrong = found != workload.columns[name][rows]
        yield from _each(jobs, wrong, f"has another {name} than in the workload")
    wrong = jobs["job_id"].astype(str).to_numpy() != workload.columns["job_id"][rows].astype(str)
    yield from _each(jobs, wrong, "has another job_id than in the workload")


def _time_faults(jobs: pd.DataFrame) -> Iterator[str]:
    """Times are in order, and those are there that the state wants."""
    submit_s, eligible_s, start_s, end_s = (
        jobs[name].to_numpy(dtype=float) for name in ("submit_s", "eligible_s", "start_s", "end_s")
    )
    state = jobs["state"].astype(str).to_numpy()
    started, ended = ~np.isnan(start_s), ~np.isnan(end_s)
    yield from _each(jobs, eligible_s < submit_s, "was eligible before its submission")
    yield from _each(jobs, started & (start_s < eligible_s), "started before it was eligible")
    yield from _each(jobs, started & (end_s < start_s), "ended before it started")
    yield from _each(jobs, ended == (state == "UNFINISHED"), "has an end or none against its state")
    yield from _each(jobs, started & (state == "REJECTED"), "started and was rejected")
    ran = np.isin(state, ["COMPLETED", "FAILED", "TIMEOUT", "NODE_FAIL"])
    yield from _each(jobs, ran & ~started, "ran to an end and never started")
    yield from _each(
        jobs, started & _differ(jobs["wait_s"], start_s - eligible_s), "has a wait that is not start - eligible"
    )
    yield from _each(jobs, started & _differ(jobs["run_s"], end_s - start_s), "has a run time that is not end - start")
    yield from _each(
        jobs, started != (jobs["node_ids"].astype(str).to_numpy() != ""), "has nodes or none against its start"
    )


def _end_faults(
    jobs: pd.DataFrame, workload: Workload, options: dict[str, Any], scaling: SpeedUp | None
) -> Iterator[str]:
    """Each job ends when run time, limit and grace say, in the state that follows."""
    rows = jobs["row"].to_numpy()
    run_s = effective_run_s(jobs, workload, scaling)
    limit_s = jobs["limit_s"].to_numpy(dtype=float)
    most_s = limit_s + options.get("grace_s", 0) if options.get("kill_at_limit", True) else np.full(len(rows), math.inf)
    own_end = np.array([str(state) for state in END_STATES])[_own_ends(workload)[rows]]
    start_s, state = jobs["start_s"].to_numpy(dtype=float), jobs["state"].astype(str).to_numpy()
    ended = ~np.isnan(start_s) & (state != "UNFINISHED")
    cancelled = (state == "CANCELLED") & (jobs["state_reason"].astype(str).to_numpy() != "")
    lost = state == str(JobState.NODE_FAIL)
    planned = np.where(run_s > most_s, "TIMEOUT", own_end)
    yield from _each(
        jobs, ended & ~cancelled & ~lost & (state != planned), "ended in another state than its run time gives"
    )
    expected_s = start_s + np.minimum(run_s, most_s)
    end_s = jobs["end_s"].to_numpy(dtype=float)
    wrong = np.where(cancelled | lost, end_s > expected_s, _differ(end_s, expected_s))
    yield from _each(jobs, ended & wrong, "ended at another time than start + min(run time, limit + grace)")


def _admission_faults(jobs: pd.DataFrame, workload: Workload, cluster: Cluster) -> Iterator[str]:
    """A job that can never run was rejected."""
    never = np.array([bool(cluster.never_runs(job)) for job in effective_jobs(jobs, workload)], dtype=bool)
    state = jobs["state"].astype(str).to_numpy()
    yield from _each(jobs, never & (state != "REJECTED"), "can never run here and was not rejected")


def _attempt_faults(jobs: pd.DataFrame, attempts: pd.DataFrame) -> Iterator[str]:
    """The last attempt of each job is what the table of jobs says, and their number too."""
    last = attempts.drop_duplicates("row", keep="last").set_index("row")
    counted = attempts["row"].value_counts().reindex(jobs["row"], fill_value=0).to_numpy()
    yield from _each(jobs, counted != jobs["attempts"].to_numpy(), "has another number of attempts than it says")
    if not set(last.index) <= set(jobs["row"]):
        yield "there are attempts of jobs that are not in the table of jobs"
    known = jobs[jobs["row"].isin(last.index)]
    its = last.reindex(known["row"])
    for name in ("start_s", "end_s", "nodes"):
        yield from _each(known, _differ(known[name], its[name]), f"has another {name} than its last attempt")
    for name in ("node_ids", "state"):
        wrong = known[name].astype(str).to_numpy() != its[name].astype(str).to_numpy()
        yield from _each(known, wrong, f"has another {name} than its last attempt")


def _energy_faults(result: Result) -> Iterator[str]:
    """Jobs, idle, booting and off nodes draw what the machine does, at every instant and in all."""
    if result.power is None:
        return
    power = result.power
    parts_w = sum(power[name].to_numpy() for name in ("jobs_w", "idle_w", "boot_w", "off_w"))
    if not np.allclose(parts_w, power["power_w"].to_numpy(), rtol=1e-9, atol=1e-6):
        yield "jobs, idle, booting and off nodes draw another power than the machine"
    jobs_j = math.fsum(power["jobs_w"].to_numpy()[:-1] * np.diff(power["time_s"].to_numpy()))
    if not math.isclose(math.fsum(result.jobs["energy_j"]), jobs_j, rel_tol=1e-9, abs_tol=1e-6):
        yield f"the jobs took {math.fsum(result.jobs['energy_j'])} J, all of them together {jobs_j} J"


def _summary_faults(result: Result) -> Iterator[str]:
    """The headline figures that follow at once from the jobs."""
    jobs, summary = result.jobs, result.summary()
    waits_s = jobs["wait_s"].dropna()
    expected: dict[str, Any] = {"jobs_submitted": len(jobs), "jobs_started": len(waits_s)}
    if len(waits_s):
        expected |= {"mean_wait_s": waits_s.mean(), "max_wait_s": waits_s.max()}
    for name, value in expected.items():
        if summary[name] is None or not math.isclose(float(summary[name]), value, rel_tol=1e-9, abs_tol=1e-9):  # type: ignore[arg-type]
            yield f"the summary says {name} = {summary[name]}, the jobs {value}"


def _own_ends(workload: Workload) -> Column:
    return workload.columns.get("end_state", np.zeros(len(workload), dtype=np.int8))


def _differ(some: Any, others: Any) -> Column:
    """Tell where two columns of times differ, beyond what adding them in another order can make; NaN equals NaN."""
    different: Column = ~np.isclose(
        np.asarray(some, float), np.asarray(others, float), rtol=1e-12, atol=1e-9, equal_nan=True
    )
    return different


def _each(jobs: pd.DataFrame, wrong: Column, fault: str) -> Iterator[str]:
    """Yield *fault* for each job for which *wrong* holds."""
    for job_id in jobs["job_id"].to_numpy()[np.asarray(wrong, dtype=bool)]:
        yield f"job {job_id} {fault}"
