"""Each order by hand: who starts first on a machine that takes one job at a time."""

from __future__ import annotations

from math import log2, log10, sqrt
from types import SimpleNamespace
from typing import Any

import pytest

from hpcsim.decision import Start
from hpcsim.errors import HpcsimError
from hpcsim.job import Job
from hpcsim.policies import F1, UNICEP, WFP3, ByFunction, RandomOrder
from hpcsim.policy import Order, Policy
from hpcsim.registry import make
from tests.schedules import jobs, starts

TABLE = """
    z 0 10 10 4   # holds the machine until 10
    a 1  6  6 3   # area 18
    b 2  9  9 1   # area 9
    c 3  4  4 2   # area 8
"""
ORDERS = {
    "fcfs": "abc",
    "lcfs": "cba",
    "sjf": "cab",
    "ljf": "bac",
    "saf": "cba",
    "laf": "abc",
    "fewest-nodes": "bca",
    "most-nodes": "acb",
    # at 10: (9/6)^3 3 = 10.1, (8/9)^3 1 = 0.7, (7/4)^3 2 = 10.7; of the rest at 14 (13/6)^3 3 = 30.5 and (12/9)^3 = 2.4
    "wfp3": "cab",
    # at 10: 9/(1.58 6) = 0.9, b beyond all bounds, 7/(1 4) = 1.75
    "unicep": "bca",
    # log10(r) n + 870 log10(s): the submit time decides
    "f1": "abc",
    "f2": "abc",
    "f3": "abc",
    "f4": "abc",
}


class OneAtATime(Policy):
    """Starts the first job of an order whenever nothing runs."""

    order: Order

    def reset(self, cluster: Any, rng: Any) -> None:
        """Forget."""
        self.order.reset(cluster, rng)

    def listeners(self) -> Any:
        """Let the order hear what happens."""
        return self.order.listeners()

    def schedule(self, system: Any) -> Any:
        """Start one."""
        if not system.running:
            yield Start(self.order.in_order(system)[0])


@pytest.mark.parametrize("name", ORDERS)
def test_order(name: str) -> None:
    began = starts(jobs(TABLE), 4, OneAtATime(order=make("orders", name)))
    assert "".join(sorted("abc", key=began.__getitem__)) == ORDERS[name]


def job(submit_s: float, limit_s: float, nodes: int) -> Job:
    return Job(row=0, job_id=1, submit_s=submit_s, nodes=nodes, limit_s=limit_s)


def at(now_s: float) -> Any:
    return SimpleNamespace(now_s=now_s)


@pytest.mark.parametrize(
    ("name", "score"),
    [
        ("f1", log10(3600) * 8 + 870 * log10(500)),
        ("f2", sqrt(3600) * 8 + 25_600 * log10(500)),
        ("f3", 3600 * 8 + 6_860_000 * log10(500)),
        ("f4", 3600 * sqrt(8) + 530_000 * log10(500)),
        ("wfp3", -((600 / 3600) ** 3) * 8),
        ("unicep", -600 / (log2(8) * 3600)),
    ],
)
def test_score(name: str, score: float) -> None:
    assert make("orders", name).key(job(500, 3600, 8), at(1100)) == pytest.approx(score, rel=1e-15)


@pytest.mark.parametrize("name", ["f1", "f2", "f3", "f4", "wfp3", "unicep"])
def test_scores_of_the_first_second_and_of_no_limit_are_numbers(name: str) -> None:
    """A submit time of 0 is read as 0.1, whose logarithm is -1; a limit of 0 likewise."""
    order = make("orders", name)
    keys = [order.key(each, at(5)) for each in (job(0, 0, 1), job(0, float("inf"), 2))]
    assert keys == sorted(keys)
    assert F1().key(job(0, 10, 3), at(0)) == F1().key(job(-5, 10, 3), at(0)) == 3 - 870


def test_unicep_of_one_node_divides_by_a_hair() -> None:
    assert UNICEP().key(job(0, 10, 1), at(5)) == -5 / (log2(1 + 1e-15) * 10)


@pytest.mark.parametrize("kind", [WFP3, UNICEP])
def test_compat_turns_the_order_round(kind: Any) -> None:
    """RLScheduler's wait of a waiting job is -1 - submit: of two that came together the long one comes first."""
    short, long = job(100, 10, 2), job(100, 20, 2)
    assert kind().key(short, at(300)) < kind().key(long, at(300))
    assert kind(compat="rlscheduler").key(short, at(300)) > kind(compat="rlscheduler").key(long, at(300))
    assert kind(compat="rlscheduler").wait_s(short, at(300)) == -101
    assert kind(compat="rlscheduler").invariances == ()
    with pytest.raises(HpcsimError, match="'rlscheduler'"):
        kind(compat="batsim")


def test_random_order_is_the_seeds() -> None:
    """The same seed, the same order; among ten seeds all six orders of three jobs but few."""
    workload = jobs("z 0 10 10 4\n a 1 5 5 4\n b 2 5 5 4\n c 3 5 5 4")
    orders = [tuple(starts(workload, 4, RandomOrder(), seed=seed).values()) for seed in range(10)]
    assert orders == [tuple(starts(workload, 4, RandomOrder(), seed=seed).values()) for seed in range(10)]
    assert len(set(orders)) >= 4


def test_any_function_is_an_order(tmp_path: Any) -> None:
    """Given as a function, or as text that names one."""
    (tmp_path / "mine.py").write_text("def key(job, system):\n    return -job.nodes\n", encoding="utf-8")
    workload = jobs("z 0 10 10 4\n a 1 5 5 2\n b 2 5 5 4\n c 3 5 5 3")
    expected = starts(workload, 4, "most-nodes")
    for function in (lambda job, system: -job.nodes, f"{tmp_path / 'mine.py'}:key"):
        for changes in (True, False):
            assert starts(workload, 4, ByFunction(function=function, changes=changes)) == expected
    with pytest.raises(HpcsimError, match="Give a function of job and system"):
        ByFunction(function=3)  # type: ignore[arg-type]
