"""Each invariant of the run-time checker fires on an engine that is broken on purpose."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from hpcsim.engine.checker import InvariantChecker
from hpcsim.engine.clock import COMPLETION, Happening
from hpcsim.engine.free_nodes import FreeNodes
from hpcsim.engine.jobs import JobLife
from hpcsim.engine.ledger import CountingLedger
from hpcsim.engine.queue import QueueKeeper
from hpcsim.errors import InvariantViolation
from hpcsim.job import Job
from tests.schedules import jobs, run

TABLE = "a 0 10 10 2\n b 1 5 5 2\n c 2 5 5 3"


def expect(fault: str) -> None:
    """Run under FCFS on four nodes and demand that the checker stops the run with *fault*."""
    with pytest.raises(InvariantViolation, match=fault):
        run(jobs(TABLE), 4, "fcfs")


def test_a_sound_engine_passes() -> None:
    """The same workload without any break."""
    assert list(run(jobs(TABLE), 4, "fcfs").attempt_start_s) == [0, 1, 10]


def test_nodes_handed_out_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    """The pool counts what it gave away and forgets which nodes they were."""

    def forget(pool: FreeNodes, nodes: int) -> list[tuple[int, int]]:
        pool.count -= nodes
        return [(0, nodes - 1)]

    monkeypatch.setattr(FreeNodes, "take_lowest", forget)
    expect("job b overlaps on 0-1")


def test_nodes_beyond_the_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    """The pool invents nodes."""
    monkeypatch.setattr(FreeNodes, "take_lowest", lambda self, nodes: [(99, 98 + nodes)])
    expect("got nodes 99-100, the machine has 4")


def test_fewer_nodes_than_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """The pool is mean."""
    monkeypatch.setattr(FreeNodes, "take_lowest", lambda self, nodes: [(0, 0)])
    expect("asked for 2 nodes and got another number")


def test_a_job_that_arrives_early(monkeypatch: pytest.MonkeyPatch) -> None:
    """Jobs are let in an hour before their submit times."""
    whole = JobLife.admit

    def early(life: JobLife, job: Job) -> None:
        whole(life, Job(job.row, job.job_id, job.submit_s + 3600, job.nodes, job.limit_s))

    monkeypatch.setattr(JobLife, "admit", early)
    expect("arrived before its submit time 3600")


def test_a_job_that_is_admitted_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every arrival is doubled."""
    whole = JobLife.admit
    monkeypatch.setattr(JobLife, "admit", lambda life, job: (whole(life, job), whole(life, job)))
    expect("job a was submitted twice")


def test_a_job_that_is_lost(monkeypatch: pytest.MonkeyPatch) -> None:
    """The queue drops what is appended third."""
    whole = QueueKeeper.append
    monkeypatch.setattr(QueueKeeper, "append", lambda keeper, job: None if job.row == 2 else whole(keeper, job))
    expect("the engine counts 0 free nodes and 0 waiting jobs, the checker 0 and 1")


def test_a_job_that_never_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its completion gives the nodes back and tells nobody: at the end of the pass the counts differ."""

    def forget(life: JobLife, held: Any) -> None:
        life.ledger.end(held.job.row)
        life.open_jobs -= 1
        life.has_news = True

    monkeypatch.setattr(JobLife, "_end", forget)
    expect("the engine counts 2 free nodes and 1 waiting jobs, the checker 0 and 1")


def test_a_job_that_ends_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    """The completion is told twice."""
    whole = InvariantChecker.ended

    def twice(checker: InvariantChecker, *what: Any) -> None:
        whole(checker, *what)
        whole(checker, *what)

    monkeypatch.setattr(InvariantChecker, "ended", twice)
    expect("job a|b ended without running")


def test_nodes_that_are_not_given_back(monkeypatch: pytest.MonkeyPatch) -> None:
    """The pool swallows nodes: its count drifts from the checker's."""
    monkeypatch.setattr(FreeNodes, "give_back", lambda self, intervals: None)
    expect("the engine counts 0 free nodes")


def test_other_nodes_given_back_than_held(monkeypatch: pytest.MonkeyPatch) -> None:
    """The allocation changes while the job runs."""
    whole = CountingLedger.end

    def swap(ledger: CountingLedger, row: int) -> Any:
        held = whole(ledger, row)
        held.intervals = [(0, 3)]
        return held

    monkeypatch.setattr(CountingLedger, "end", swap)
    expect("gave back other nodes than it held")


def test_nodes_given_back_while_free(monkeypatch: pytest.MonkeyPatch) -> None:
    """Giving back twice is found by the pool itself, checker or not."""
    whole = FreeNodes.give_back

    def twice(pool: FreeNodes, intervals: Any) -> None:
        whole(pool, intervals)
        whole(pool, intervals)

    monkeypatch.setattr(FreeNodes, "give_back", twice)
    with pytest.raises(InvariantViolation, match="were given back while free"):
        run(jobs(TABLE), 4, "fcfs", check=False)


def test_a_clock_that_goes_back(monkeypatch: pytest.MonkeyPatch) -> None:
    """Completions are put ten seconds too early, into the past."""

    whole = Happening.happen_at

    def early(event: Any, env: Any, time_s: float, priority: int, callback: Any) -> None:
        whole(event, env, time_s - 10 if priority == COMPLETION else time_s, priority, callback)

    monkeypatch.setattr(Happening, "happen_at", early)
    expect("The clock went back from 1 s to -4 s")


Event = Callable[[InvariantChecker], None]
JOB = Job(0, "a", 5, 2, 10)


def _submitted(checker: InvariantChecker) -> None:
    checker.submitted(JOB, 5)


def _started(checker: InvariantChecker) -> None:
    checker.started(JOB, 6, [(0, 1)])


def _ended(checker: InvariantChecker) -> None:
    checker.ended(JOB, 9, [(0, 1)])


@pytest.mark.parametrize(
    ("events", "last", "fault"),
    [
        ([], _started, "started without waiting"),
        ([_submitted], lambda c: c.started(JOB, 4, [(0, 1)]), "clock went back"),
        ([_submitted], _ended, "ended without running"),
        ([_submitted, _started], _started, "started without waiting"),
        ([_submitted, _started, _ended], _ended, "ended without running"),
        ([_submitted, _started, _ended], lambda c: c.submitted(JOB, 9), "was submitted twice"),
        ([_submitted, _started], lambda c: c.submitted(JOB, 9), "was submitted twice"),
        ([], lambda c: c.closed_unstarted(JOB, 9), "was closed without waiting"),
        ([_submitted, _started], lambda c: c.closed_unstarted(JOB, 9), "was closed without waiting"),
        ([_submitted], lambda c: c.finished(9), "1 waiting and 0 running jobs were lost"),
        ([_submitted, _started], lambda c: c.finished(9), "0 waiting and 1 running jobs were lost"),
        ([_submitted, _started], lambda c: c.counts(7, 3, 0), "counts 3 free nodes and 0 waiting jobs, the checker 2"),
        ([_submitted], lambda c: c.counts(7, 4, 0), "counts 4 free nodes and 0 waiting jobs, the checker 4 and 1"),
        ([_submitted], lambda c: c.started(JOB, 6, [(3, 4)]), "got nodes 3-4, the machine has 4"),
        ([_submitted], lambda c: c.started(JOB, 6, [(-1, 0)]), "got nodes -1-0"),
        ([_submitted], lambda c: c.started(JOB, 6, [(0, 0), (0, 0)]), "overlaps"),
    ],
)
def test_a_false_sequence_of_events(events: list[Event], last: Event, fault: str) -> None:
    """The checker alone, told of events that cannot be."""
    checker = InvariantChecker(4)
    for event in events:
        event(checker)
    with pytest.raises(InvariantViolation, match=fault):
        last(checker)


def test_leaked_node_seconds() -> None:
    """Node-seconds of the jobs and of the machine are two sums; one that is off by a node is seen."""
    checker = InvariantChecker(4)
    for event in (_submitted, _started):
        event(checker)
    checker._held += 1
    _ended(checker)
    checker._held = 0
    with pytest.raises(InvariantViolation, match=r"The jobs held 6 node-seconds, the machine 9\."):
        checker.finished(9)
