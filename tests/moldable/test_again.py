"""Advice again while a job waits: it keeps its place, and policies hear of it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from hpcsim import Cluster, make_policy
from hpcsim.decision import Reserve, Start
from hpcsim.engine.simulation import Simulation
from hpcsim.job import Job, JobState
from hpcsim.policies import FCFS, SJF, Conservative
from hpcsim.results.run import collect
from hpcsim.speedup import PowerLaw
from hpcsim.testing import verify
from hpcsim.workload import Workload
from tests.moldable.advisors import Erratic

IDEAL = PowerLaw(1.0)


def crowd() -> Workload:
    """Return job 1, which holds all 4 nodes for 100 s, and jobs 2 and 3, which want 4 and 2 of them."""
    return Workload.of(
        submit_s=[0, 1, 2],
        run_s=[100, 40, 30],
        limit_s=[100, 40, 30],
        nodes=[4, 4, 2],
        allowed_nodes=[(), (1, 2, 4), (1, 2)],
    )


def waiting(policy: Any, *answers: Any) -> Simulation:
    """Return a simulation at t = 10 s, when jobs 2 and 3 wait; each question takes the next answer."""
    sim = Simulation(crowd(), Cluster.of_nodes(4), policy, check=True, advisor=Erratic(answers=answers), scaling=IDEAL)
    sim.run(until=10)
    assert [job.job_id for job in sim.queue] == [2, 3]
    return sim


def test_a_job_takes_new_advice_in_its_place_and_may_take_back_the_old() -> None:
    sim = waiting(FCFS(), 2, None, 1, None)
    first = sim.queue[0]
    assert (first.nodes, first.limit_s) == (2, 80)
    again = sim.advise_again(first)
    assert (again.nodes, again.limit_s) == (1, 80)
    assert again.requested is not None
    assert (again.requested.nodes, again.requested.requested) == (4, None)
    assert [job.job_id for job in sim.queue] == [2, 3]
    sim.run()
    result = collect(sim)
    # 40 s on 4 nodes are 160 s on 1, the limit is 80 s: killed at 180 s, run again as asked for.
    assert result.attempts["nodes"].tolist() == [4, 1, 2, 4]
    assert result.jobs["attempts"].tolist() == [1, 2, 1]
    assert result.jobs["state"].tolist() == ["COMPLETED"] * 3
    assert result.jobs["end_s"].tolist() == [100, 220, 130]
    verify(result, sim.workload, sim.cluster, scaling=IDEAL)


def test_a_job_may_return_to_its_request() -> None:
    sim = waiting(FCFS(), 2, None, None)
    job = sim.advise_again(sim.queue[0])
    assert (job.nodes, job.limit_s, job.requested) == (4, 40, None)
    sim.run()
    assert collect(sim).jobs["run_s"].tolist() == [100, 40, 30]


def test_policies_hear_of_it_by_on_change_else_by_leaving_and_coming() -> None:
    class Hears(SJF):
        def reset(self, cluster: Any, rng: Any) -> None:
            super().reset(cluster, rng)
            self.news: list[Any] = []

        def on_change(self, old: Job, new: Job, system: Any) -> None:
            self.news.append((old.nodes, new.nodes))

    class HearsLess(SJF):
        def reset(self, cluster: Any, rng: Any) -> None:
            super().reset(cluster, rng)
            self.news: list[Any] = []

        def on_submit(self, job: Job, system: Any) -> None:
            self.news.append(("came", job.nodes))

        def on_leave(self, job: Job, system: Any) -> None:
            self.news.append(("left", job.nodes))

    for kind, news in ((Hears, [(4, 2)]), (HearsLess, [("left", 4), ("came", 2)])):
        policy = kind()
        sim = waiting(policy, None, None, 2)
        before = len(policy.news)
        sim.advise_again(sim.queue[0])
        assert policy.news[before:] == news


def test_a_promise_to_the_job_as_it_was_is_void() -> None:
    sim = Simulation(
        crowd(), Cluster.of_nodes(4), None, check=True, advisor=Erratic(answers=(None, None, 2)), scaling=IDEAL
    )
    sim.run_to_decision()
    sim.apply(Start(sim.queue[0]))
    sim.run_to_decision()
    sim.apply(Reserve(sim.queue[0], 100))
    sim.run_to_decision()
    sim.advise_again(sim.queue[0])
    assert not sim.system.promised


def test_a_job_that_can_never_run_as_advised_again_is_rejected() -> None:
    wide = crowd()
    wide.columns["allowed_nodes"][1] = (4, 9)
    sim = Simulation(
        wide, Cluster.of_nodes(4), FCFS(), check=True, advisor=Erratic(answers=(None, None, 9)), scaling=IDEAL
    )
    sim.run(until=10)
    sim.advise_again(sim.queue[0])
    assert [job.job_id for job in sim.queue] == [3]
    sim.run()
    assert collect(sim).jobs["state"].tolist() == ["COMPLETED", str(JobState.REJECTED), "COMPLETED"]


@pytest.mark.parametrize(
    "name", ["easy", "conservative", "easy-sjbf", "saf", "slack-based", "selective", "lookahead", "easy-plus-plus"]
)
def test_every_kind_of_policy_lives_with_it(name: str) -> None:
    sim = waiting(make_policy(name), None, None, 2, 1, 2)
    for job in list(sim.queue):
        sim.advise_again(job)
    sim.run()
    result = collect(sim)
    assert result.jobs["nodes"].tolist() == [4, 2, 1]
    assert (result.jobs["start_s"] >= 0).all()
    verify(result, sim.workload, sim.cluster, scaling=IDEAL)


@pytest.mark.parametrize("books", ["counting", "nodes"])
def test_conservative_gives_back_what_a_changed_job_was_promised(books: Any) -> None:
    """a holds all 4 nodes until 100; b, of 4, is promised 100 to 120; c, of 1, comes behind it, at 120. At 5 b is
    advised 2 nodes, for 40 s: c fits beside it at 100. A job that is changed before its first pass is no stranger."""
    workload = Workload.of(
        submit_s=[0, 1, 2],
        run_s=[100, 20, 30],
        nodes=[4, 4, 1],
        allowed_nodes=[(), (2, 4), ()],
    )
    advisor = Erratic(answers=(None, 2))
    sim = Simulation(
        workload, Cluster.of_nodes(4), Conservative(), check=True, advisor=advisor, scaling=IDEAL, books=books
    )
    sim.run(until=5)
    assert dict(sim.system.promised) == {1: 100, 2: 120}
    sim.advise_again(sim.queue[0])
    sim.run(until=6)
    assert dict(sim.system.promised) == {1: 100, 2: 100}
    late = sim.submit(replace(sim.queue[0], allowed_nodes=(1, 2)), 10)
    sim.advise_again(late)
    sim.run()
    assert collect(sim).jobs["start_s"].tolist()[:3] == [0, 100, 100]
