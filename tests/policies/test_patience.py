"""Who is overdue, worked by hand; and an order that lets those go first."""

from __future__ import annotations

import math
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hpcsim.cluster import Cluster
from hpcsim.errors import InvalidArgument
from hpcsim.job import Job
from hpcsim.policies import EASY, FCFS, LJF, SAF, WFP3, Backfill, Patience, Patient, RandomOrder
from hpcsim.system import System
from hpcsim.workload import Workload
from tests.properties.workloads import MACHINE, workload_of, workloads
from tests.schedules import jobs, run, starts


class Noting(Patience):
    """Keeps what it has said."""

    def __init__(self, patience: float = 1.0) -> None:
        super().__init__(patience)
        self.reset(Cluster.of_nodes(4))
        self.due: dict[Any, float] = {}

    def on_submit(self, job: Job, system: System) -> None:
        """Keep when *job* will be overdue."""
        super().on_submit(job, system)
        self.due[job.job_id] = self.due_s(job)


class Overheard(FCFS):
    """First come, first served, and somebody listens."""

    ear: Any = None

    def listeners(self) -> Any:
        """Return the one who listens."""
        return (self.ear,)


def dues(table: str, patience: float = 1.0, **options: Any) -> dict[Any, float]:
    noting = Noting(patience)
    run(jobs(table), 4, Overheard(ear=noting), **options)
    return noting.due


@pytest.mark.parametrize("patience", [1.0, 2.5])
def test_a_job_is_overdue_once_the_work_before_it_and_its_own_could_be_done(patience: float) -> None:
    """At 20 s job a holds 4 nodes for 80 s more by its limit, and b wants 2 x 40: 400 node-seconds, 100 s."""
    found = dues("a 0 90 100 4\nb 10 40 40 2\nc 20 30 30 4", patience)
    assert found == {"a": 100 * patience, "b": 10 + patience * (90 + 40), "c": 20 + patience * (100 + 30)}


def test_work_that_is_gone_counts_no_more_and_tells_how_much_limits_are_worth() -> None:
    """At 110 s a has ended after 90 s of its 100, and b runs, 20 s of its limit left, 0.9 of which are expected."""
    assert dues("a 0 90 100 4\nb 10 40 40 2\nc 110 30 30 4")["c"] == 110 + 0.9 * 20 * 2 / 4 + 30


def test_work_that_has_begun_counts_as_running_and_no_more_as_waiting() -> None:
    """At 15 s a has 15 s left on 4 nodes, and b still wants them for 30."""
    assert dues("x 0 10 10 4\na 1 20 20 4\nb 2 30 30 4\nc 15 5 5 4")["c"] == 15 + 15 + 30 + 5


@pytest.mark.parametrize("kills", [True, False])
def test_nobody_uses_more_than_asked_for(kills: bool) -> None:
    """Job a runs 30 s, killed or not at 10, b 5 of its 30: 60 of 160 node-seconds asked for, or what was asked of a."""
    found = dues("a 0 30 10 4\nb 30 5 30 4\nc 40 90 90 4\nd 50 1 1 4", kill_at_limit=kills)
    assert found["d"] == 50 + (40 + 20) / (40 + 120) * 80 + 1


def test_advice_changes_the_work_and_not_the_turn() -> None:
    """A job of 4 x 10 s becomes one of 2 x 30 s: the next has 60 node-seconds before it."""
    asked = Job(row=0, job_id=1, submit_s=0, nodes=4, limit_s=10)
    at_0: Any = SimpleNamespace(now_s=0, running=())
    patience = Noting()
    patience.on_submit(asked, at_0)
    patience.on_change(asked, advised := asked.advised(2, 30), at_0)
    patience.on_submit(Job(row=1, job_id=2, submit_s=0, nodes=1, limit_s=5), at_0)
    assert patience.due == {1: 10, 2: 60 / 4 + 5}
    assert patience.overdue(SimpleNamespace(now_s=11)) is advised  # type: ignore[arg-type]


def test_without_a_limit_nobody_can_say() -> None:
    """Not of a job without one, nor of those behind it, waiting or running; of those after it, again."""
    found = dues("a 0 20 20 4\nb 1 20 inf 4\nc 2 5 5 4\nd 30 5 5 4\ne 60 5 5 4")
    assert found == {"a": 20, "b": math.inf, "c": math.inf, "d": math.inf, "e": 65}


class Asking(Noting):
    """Names who is overdue at each arrival, with nobody hidden and with row 1 hidden."""

    named: tuple[Any, ...] = ()

    def on_submit(self, job: Job, system: System) -> None:
        """Name them."""
        super().on_submit(job, system)
        self.named += (tuple(found and found.job_id for found in (self.overdue(system), self.overdue(system, {1}))),)


def test_the_longest_overdue_job_is_named_unless_it_is_hidden() -> None:
    """Behind x, which leaves one node, a is due at 1 + 99 x 3 / 4 + 10, b at 2 + (98 x 3 + 2 x 10) / 4 + 6."""
    asking = Asking()
    table = "x 0 100 100 3\na 1 10 10 2\nb 2 6 6 2\nc 85 1 1 4\nd 85.25 1 1 4\ne 86 1 1 4\nf 120 1 1 4"
    run(jobs(table), 4, Overheard(ear=asking))
    assert (asking.due["a"], asking.due["b"]) == (85.25, 86.5)
    assert asking.named == (*[(None, None)] * 5, ("a", None), (None, None))  # at 120 both have run


def test_a_long_job_is_passed_by_short_ones_only_so_long() -> None:
    """Four nodes; one job of 4 x 50 s, and one of 4 x 10 s every 10 s: without patience they all go first."""
    smalls = "".join(f"s{at} {10 * at} 10 10 4\n" for at in range(30))
    table = jobs("long 0 50 50 4\n" + smalls)
    assert starts(table, 4, SAF())["long"] == 300
    assert starts(table, 4, Patient(patience=math.inf))["long"] == 300
    assert starts(table, 4, Patient(patience=1))["long"] == 60  # due at 50, which is not over yet at 50
    assert starts(table, 4, Patient(patience=2))["long"] == 110


@given(workloads(), st.sampled_from([SAF, LJF, WFP3, RandomOrder]))
def test_infinite_patience_is_the_order_itself(workload: Workload, order: Any) -> None:
    patient = Backfill(order=Patient(order=order(), patience=math.inf))
    assert starts(workload, MACHINE, patient) == starts(workload, MACHINE, Backfill(order=order()))


@given(st.lists(st.tuples(st.integers(0, 9), st.integers(1, 9), st.integers(1, MACHINE)), min_size=1, max_size=20))
def test_no_patience_is_first_come_first_served(rows: list[tuple[int, int, int]]) -> None:
    """Where no two jobs arrive at once."""
    workload = workload_of([(at, run_s, limit_s, nodes) for at, (run_s, limit_s, nodes) in enumerate(rows)])
    patient = Backfill(order=Patient(order=LJF(), patience=0))
    assert starts(workload, MACHINE, patient) == starts(workload, MACHINE, EASY())


@pytest.mark.parametrize("patience", [-1, math.nan, "1", True, None])
def test_what_is_no_patience_is_refused(patience: Any) -> None:
    with pytest.raises(InvalidArgument, match=r"patience is .*Give a number of 0 or more"):
        Patient(patience=patience)


def test_what_is_no_order_is_refused() -> None:
    with pytest.raises(InvalidArgument, match=r"order is EASY.*Give an order"):
        Patient(order=EASY())  # type: ignore[arg-type]
