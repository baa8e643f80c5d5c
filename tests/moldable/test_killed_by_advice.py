"""A job that advice has killed is queued again as its user asked for it, and everything it took counts."""

from __future__ import annotations

from typing import Any

import pytest

from hpcsim import Cluster, NodeGroup, simulate
from hpcsim.engine.simulation import Simulation
from hpcsim.job import Job, JobOutcome
from hpcsim.policies import FCFS
from hpcsim.recorder import Recorder
from hpcsim.results.explain import explain_all
from hpcsim.results.result import Result
from hpcsim.results.run import collect
from hpcsim.testing import verify
from tests.moldable.advisors import Says
from tests.moldable.test_advice import IDEAL, NODE, moldable, ran, with_truth

NARROW = Says(answers={1: (1, 399)})
"""Job 1 would take 400 s on one node."""


def killed(cluster: Cluster, **options: Any) -> Result:
    return simulate(moldable(), cluster, "fcfs", advisor=NARROW, scaling=IDEAL, check=True, **options)


def test_hand_worked_second_attempt() -> None:
    """Killed at 399 s, job 1 queues behind jobs 2 (399 to 449) and 3, and runs as asked from 449 to 549."""
    result = killed(Cluster.of_nodes(8))
    job = result.jobs.iloc[0]
    assert (job["state"], job["start_s"], job["end_s"], job["nodes"], job["limit_s"]) == ("COMPLETED", 449, 549, 4, 120)
    assert (job["attempts"], job["lost_node_s"], job["wait_s"], job["advice"]) == (2, 399, 449, "advised")
    its = result.attempts[result.attempts["row"] == 0]
    shown = its[["attempt", "start_s", "end_s", "nodes", "node_ids", "state"]].values.tolist()
    assert shown == [[1, 0, 399, 1, "0", "TIMEOUT"], [2, 449, 549, 4, "1-4", "COMPLETED"]]
    assert result.summary()["advice_requeued"] == 1
    assert result.summary()["used_node_s"] == 399 + 8 * 50 + 4 * 100 + 10
    assert result.provenance["advice"]["requeued"] == 1
    verify(result, moldable(), Cluster.of_nodes(8), scaling=IDEAL)


def test_the_timeline_has_both_times_in_the_queue() -> None:
    """Jobs 2 and 3 wait from 0; from 399 on jobs 3 and 1; from 449 nobody."""
    timeline = killed(Cluster.of_nodes(8)).timeline.set_index("time_s")
    assert timeline["queue_length"].to_dict() == {0: 2, 399: 2, 449: 0, 459: 0, 549: 0}
    assert timeline["used_nodes"].to_dict() == {0: 1, 399: 8, 449: 5, 459: 4, 549: 0}
    assert timeline["queued_node_s"].loc[399] == 4 * 120 + 10


def test_a_first_wait_asks_for_what_was_advised() -> None:
    """From 1 to 50 wait job 3, 1 x 10 node-seconds, and job 1 as it was advised, 1 x 399, not 4 x 120 as asked for."""
    jobs = moldable(submit_s=[1, 0, 0])
    result = simulate(jobs, Cluster.of_nodes(8), "fcfs", advisor=NARROW, scaling=IDEAL, check=True)
    assert result.jobs["attempts"].tolist() == [2, 1, 1]
    timeline = result.timeline.set_index("time_s")["queued_node_s"]
    assert (timeline.loc[1], timeline.loc[50]) == (10 + 399, 0)


def test_advice_kills_no_job_twice() -> None:
    """Killed on one node at 399 s, job 1 waits as asked for; whoever asks again changes nothing."""
    heard: list[int] = []

    class Counts(Says):
        def advise(self, job: Job, system: Any) -> Any:
            heard.append(job.job_id)
            return super().advise(job, system)

    advisor = Counts(answers=NARROW.answers)
    sim = Simulation(moldable(), Cluster.of_nodes(8), FCFS(), advisor=advisor, scaling=IDEAL, check=True)
    sim.run(until=420)
    waiting = next(job for job in sim.queue if job.job_id == 1)
    asked = len(heard)
    assert sim.advise_again(waiting) is waiting
    assert len(heard) == asked
    sim.run()
    assert collect(sim).jobs["attempts"].tolist() == [2, 1, 1]


def test_both_attempts_draw_power() -> None:
    machine = Cluster(groups=(NodeGroup(nodes=8, power=NODE),))
    jobs = with_truth()
    # By its truth, an Amdahl share of 0.1, job 1 takes 100 s x 1 / 0.325 on one node.
    result = simulate(jobs, machine, "fcfs", advisor=Says(answers={1: (1, 300)}), check=True)
    verify(result, jobs, machine)
    job = result.jobs.iloc[0]
    alone_w = 1300.0 * 500 / (4 * (100 + 400 * (0.5 + 0.5 / (4 * 0.325))))
    assert job["attempts"] == 2
    assert job["energy_j"] == pytest.approx(alone_w * 300 + 1300.0 * 100)


def test_a_job_that_could_never_run_as_asked_stays_killed() -> None:
    """Job 1 asks for 4 nodes of 3; advice runs it on one, for 399 of 400 s."""
    result = killed(Cluster.of_nodes(3))
    job = result.jobs.iloc[0]
    assert (job["state"], job["attempts"], job["end_s"], job["nodes"]) == ("TIMEOUT", 1, 399, 1)
    verify(result, moldable(), Cluster.of_nodes(3), scaling=IDEAL)


def test_a_job_that_would_have_been_killed_anyway_is_not_tried_again() -> None:
    jobs = moldable(limit_s=[90, 60, 10])
    result = simulate(jobs, Cluster.of_nodes(8), "fcfs", advisor=Says(answers={1: (1, 200)}), scaling=IDEAL, check=True)
    assert (ran(result, "state")[0], ran(result, "attempts")[0]) == ("TIMEOUT", 1)


def test_observers_hear_of_both_attempts() -> None:
    heard: list[tuple[Any, ...]] = []

    class Watch(Recorder):
        def on_submit(self, job: Job, system: Any) -> None:
            heard.append(("queued", job.job_id, job.nodes))

        def on_end(self, job: Job, outcome: JobOutcome, system: Any) -> None:
            heard.append(("ended", job.job_id, str(outcome.state), outcome.attempts, outcome.state_reason))

    killed(Cluster.of_nodes(8), recorders=[Watch()])
    assert [event for event in heard if event[1] == 1] == [
        ("queued", 1, 1),
        ("ended", 1, "TIMEOUT", 1, "killed by advice, queued again as asked for"),
        ("queued", 1, 4),
        ("ended", 1, "COMPLETED", 2, ""),
    ]


@pytest.mark.parametrize("policy", ["easy", "conservative", "easy-sjbf", "easy-plus-plus"])
def test_policies_live_with_a_job_that_comes_back(policy: str) -> None:
    result = simulate(moldable(), Cluster.of_nodes(8), policy, advisor=NARROW, scaling=IDEAL, check=True)
    verify(result, moldable(), Cluster.of_nodes(8), scaling=IDEAL)
    assert ran(result, "state") == ["COMPLETED"] * 3


def test_waits_of_such_a_job_are_explained_to_the_second(tmp_path: Any) -> None:
    result = killed(Cluster.of_nodes(8))
    table = explain_all(result)
    result.save(tmp_path / "run")
    assert Result.load(tmp_path / "run").attempts["state"].tolist() == result.attempts["state"].tolist()
    assert len(table) == 3
