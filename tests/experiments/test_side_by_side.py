"""Several policies on one workload, and the demo made of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from hpcsim import Cluster, Recorder, Workload, make_policy
from hpcsim.experiments.demo import POLICIES, run_demo
from hpcsim.experiments.side_by_side import run_policies

WORKLOAD = Workload.of(submit_s=[0, 1, 2], run_s=[10, 5, 3], nodes=[1, 2, 1])


def test_each_policy_is_run_when_it_is_asked_for() -> None:
    """EASY starts job 3 beside job 1 at 2 s; FCFS leaves it behind job 2, until 15 s."""
    seen: list[tuple[str, int]] = []

    @contextmanager
    def watch(label: str, jobs: int) -> Iterator[Sequence[Recorder]]:
        seen.append((label, jobs))
        yield ()

    policies = {name: make_policy(name) for name in ("fcfs", "easy")}
    runs = run_policies(WORKLOAD, Cluster.of_nodes(2), policies, watch=watch)
    assert seen == []
    label, result = next(runs)
    assert (label, result.jobs["start_s"].tolist()) == ("fcfs", [0, 10, 15])
    assert seen == [("fcfs", 3)]
    label, result = next(runs)
    assert (label, result.jobs["start_s"].tolist()) == ("easy", [0, 10, 2])


def test_demo_runs_its_policies_on_one_workload() -> None:
    demo = run_demo(jobs=200, seed=3)
    assert tuple(demo.results) == POLICIES
    means = {name: result.jobs["wait_s"].mean() for name, result in demo.results.items()}
    assert means["easy"] < means["fcfs"]
    again = run_demo(jobs=200, seed=3)
    assert again.results["easy"].summary() == demo.results["easy"].summary()
