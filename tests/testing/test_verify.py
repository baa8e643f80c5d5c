"""`verify` takes results as they are, and refuses each after a change that makes it impossible."""

from __future__ import annotations

import ast
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hpcsim import Cluster, Job, Result, Simulation, Workload, make_policy, read, simulate
from hpcsim.errors import InvariantViolation
from hpcsim.results.run import collect
from hpcsim.testing import scenarios, verify, workloads
from hpcsim.workload import END_STATES

CLUSTER = Cluster.of_nodes(4)


def workload() -> Workload:
    """Return six jobs: one waits, one is killed, one fails, one takes no time and one is too wide."""
    return Workload.of(
        submit_s=[0, 1, 2, 2, 3, 4],
        run_s=[10, 8, 5, 0, 4, 1],
        limit_s=[10, 5, 9, 3, 4, 1],
        nodes=[3, 2, 1, 1, 4, 5],
        end_state=[0, 0, 1, 0, 0, 0],
    )


def result() -> Result:
    return simulate(workload(), CLUSTER, "easy")


def test_result_of_a_run_is_possible() -> None:
    verify(result(), workload(), CLUSTER)


def test_loaded_result_is_possible(tmp_path: Path) -> None:
    result().save(tmp_path / "out")
    verify(Result.load(tmp_path / "out"), workload(), CLUSTER)


@given(scenarios(), st.sampled_from(["saf", "easy", "conservative"]))
def test_every_schedule_is_possible(scenario: tuple[Workload, Cluster], name: str) -> None:
    verify(simulate(*scenario, name), *scenario)


@pytest.mark.parametrize("options", [{"grace_s": 2}, {"kill_at_limit": False}, {"until": 30}], ids=str)
@given(drawn=workloads(is_fractional=True, has_unlimited=True))
@settings(max_examples=30)
def test_options_of_the_run_are_known(options: dict[str, Any], drawn: Workload) -> None:
    cluster = Cluster.of_nodes(8)
    verify(simulate(drawn, cluster, "easy", **options), drawn, cluster)


def test_jobs_submitted_and_cancelled_during_the_run_are_allowed() -> None:
    simulation = Simulation(workload(), CLUSTER, make_policy("fcfs"))
    simulation.run(until=5)
    added = simulation.submit(Job(0, 1, 0, 2, 5), 3)
    simulation.submit(Job(0, 1, 0, 2, 5), 9)
    simulation.cancel(added)
    simulation.cancel(next(iter(simulation.system.running)).job)
    simulation.run()
    verify(collect(simulation), workload(), CLUSTER)


def change(column: str, row: int, value: Any, table: str = "jobs") -> Callable[[Result], None]:
    def apply(changed: Result) -> None:
        frame = getattr(changed, table)
        values = frame[column].to_numpy(dtype=object if isinstance(value, str) else None, copy=True)
        values[row] = value
        frame[column] = values

    return apply


def also_in_attempts(changed: Result) -> None:
    """Move job 5 in both tables alike, so that only the machine can tell."""
    for table in (changed.jobs, changed.attempts):
        mine = table["job_id"] == 5
        table.loc[mine, ["start_s", "end_s"]] -= 8
    changed.jobs.loc[changed.jobs["job_id"] == 5, "wait_s"] -= 8


IMPOSSIBLE: list[tuple[Callable[[Result], None], str]] = [
    (change("nodes", 0, 1), "job 1 has another nodes than in the workload"),
    (change("submit_s", 0, -1), "job 1 has another submit_s"),
    (change("limit_s", 1, 6), "job 2 has another limit_s"),
    (change("job_id", 1, 9), "job 9 has another job_id"),
    (change("eligible_s", 4, 0.0), "job 5 was eligible before"),
    (change("start_s", 1, 0.0), "job 2 started before it was eligible"),
    (change("end_s", 0, -1.0), "job 1 ended before it started"),
    (change("wait_s", 4, 0.0), "job 5 has a wait that is not start - eligible"),
    (change("run_s", 4, 0.0), "job 5 has a run time that is not end - start"),
    (change("state", 0, "FAILED"), "job 1 ended in another state"),
    (change("state", 1, "COMPLETED"), "job 2 ended in another state"),
    (change("state", 0, "UNFINISHED"), "job 1 has an end or none against its state"),
    (change("state", 0, "REJECTED"), "job 1 started and was rejected"),
    (change("state", 5, "COMPLETED"), "job 6 can never run here and was not rejected"),
    (change("end_s", 0, 11.0), "job 1 ended at another time than"),
    (change("attempts", 0, 2), "job 1 has another number of attempts"),
    (change("node_ids", 0, "1-3"), "job 1 has another node_ids than its last attempt"),
    (change("node_ids", 0, ""), "job 1 has nodes or none against its start"),
    (change("start_s", 0, 1.0, "attempts"), "job 1 has another start_s than its last attempt"),
    (change("node_ids", 0, "0-3", "attempts"), "job 1 wanted 3 nodes and held '0-3'"),
    (change("node_ids", 0, "2-4", "attempts"), "the machine has nodes 0-3"),
    (change("node_ids", 1, "0", "attempts"), "on nodes that were held (0-0)"),
    (also_in_attempts, "on nodes that were held"),
    (change("used_nodes", 1, 0, "timeline"), "the timeline says used_nodes = 0"),
    (change("queue_length", 1, 7, "timeline"), "the timeline says queue_length = 7"),
    (change("time_s", 1, -5.0, "timeline"), "instants are not in order"),
    (lambda r: setattr(r, "timeline", r.timeline.iloc[:1]), "the timeline says"),
    (lambda r: setattr(r, "jobs", r.jobs.iloc[1:]), "lacks 1 of the workload's jobs"),
    (lambda r: setattr(r, "jobs", r.jobs.iloc[[0, 0, 1, 2, 3, 4, 5]]), "a job has two rows"),
    (lambda r: r.provenance.update(nodes=5), "a machine of 5 nodes, the cluster has 4"),
    (lambda r: setattr(r, "_summary", r.summary() | {"mean_wait_s": 1.0}), "the summary says mean_wait_s = 1.0"),
]


@pytest.mark.parametrize(("apply", "fault"), IMPOSSIBLE, ids=[fault for _, fault in IMPOSSIBLE])
def test_impossible_result_is_refused(apply: Callable[[Result], None], fault: str) -> None:
    changed = result()
    apply(changed)
    with pytest.raises(InvariantViolation) as caught:
        verify(changed, workload(), CLUSTER)
    assert any(fault in each for each in caught.value.faults), caught.value.faults
    assert caught.value.remedy


def test_result_of_another_workload_is_refused() -> None:
    other = Workload(workload().columns | {"run_s": np.array([9, 8, 5, 0, 4, 1])})
    with pytest.raises(InvariantViolation, match="job 1 ended at another time"):
        verify(result(), other, CLUSTER)


def test_end_states_are_those_of_the_workload() -> None:
    assert [str(state) for state in END_STATES][1] == "FAILED"
    assert result().jobs["state"].astype(str).tolist()[2] == "FAILED"


def test_archive_log_is_verified(shared: Path) -> None:
    log = read(shared / "traces" / "SDSC-SP2-1998-4.2-cln.swf.gz", limit_rows=5_000)
    machine = Cluster.of_processors(128)
    verify(simulate(log, machine, "easy"), log, machine)


def test_verification_imports_nothing_of_the_engine(root: Path) -> None:
    for name in ("verification", "occupancy"):
        tree = ast.parse((root / "hpcsim" / "testing" / f"{name}.py").read_text(encoding="utf-8"))
        modules = [node.module or "" for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
        assert not [module for module in modules if module.startswith("hpcsim.engine")]
