"""Recorders hear everything, in order, after it happened, and the policy before them."""

from __future__ import annotations

from typing import Any

import pytest

from hpcsim.decision import Reject, Reserve, Start
from hpcsim.policies import EASY
from hpcsim.recorder import Recorder
from tests.schedules import gantt, jobs, policy_of, run, simulation

TABLE = "a 0 10 10 2\n b 1 5 5 2"


class Diary(Recorder):
    """Writes down what it hears, with the free nodes and queue length that it sees then."""

    def __init__(self, log: list[Any], name: str = "") -> None:
        self.log, self.name = log, name

    def _note(self, what: str, system: Any) -> None:
        self.log.append((f"{self.name}{what}", system.now_s, system.free, len(system.queue)))

    def on_submit(self, job: Any, system: Any) -> None:
        """Note."""
        self._note(f"submit {job.job_id}", system)

    def on_start(self, job: Any, node_ids: str, system: Any) -> None:
        """Note."""
        self._note(f"start {job.job_id} on {node_ids}", system)

    def on_end(self, job: Any, outcome: Any, system: Any) -> None:
        """Note."""
        self._note(f"end {job.job_id} {outcome.state}", system)

    def on_decision(self, decision: Any, system: Any) -> None:
        """Note."""
        self._note(f"decision {type(decision).__name__}", system)

    def on_pass(self, system: Any) -> None:
        """Note."""
        self._note("pass", system)


def test_every_hook_in_order_after_the_change() -> None:
    """Each line has the free nodes and the queue as they are after what it tells."""
    log: list[Any] = []
    run(jobs(TABLE), 2, "easy", recorders=[Diary(log)])
    assert log == [
        ("submit a", 0, 2, 1),
        ("start a on 0-1", 0, 0, 0),
        ("decision Start", 0, 0, 0),
        ("pass", 0, 0, 0),
        ("submit b", 1, 0, 1),
        ("decision Reserve", 1, 0, 1),
        ("pass", 1, 0, 1),
        ("end a COMPLETED", 10, 2, 1),
        ("start b on 0-1", 10, 0, 0),
        ("decision Start", 10, 0, 0),
        ("pass", 10, 0, 0),
        ("end b COMPLETED", 15, 2, 0),
        ("pass", 15, 2, 0),
    ]


def test_ends_come_before_arrivals_at_one_instant() -> None:
    """c arrives when a and b end, and finds both ended; one pass follows."""
    log: list[Any] = []
    run(jobs("a 0 10 10 1\n b 0 10 10 1\n c 10 1 1 1\n d 10 1 1 1"), 2, "fcfs", recorders=[Diary(log)])
    told = [what for what, now_s, *_ in log if now_s == 10 and not what.startswith(("start", "decision"))]
    assert told == ["end a COMPLETED", "end b COMPLETED", "submit c", "submit d", "pass"]


def test_the_policy_hears_first_and_recorders_in_their_order() -> None:
    """One submission, three listeners."""
    log: list[Any] = []

    def heard(self: Any, job: Any, system: Any) -> None:
        log.append(("policy",))

    def schedule(system: Any) -> Any:
        yield from map(Start, list(system.queue))

    run(jobs("a 0 1 1 1"), 1, policy_of(schedule, on_submit=heard), recorders=[Diary(log, "1 "), Diary(log, "2 ")])
    assert [entry[0] for entry in log[:3]] == ["policy", "1 submit a", "2 submit a"]


def test_outcomes_say_everything() -> None:
    """The outcome handed to `on_end`: times, nodes, reasons, and what follows from them."""
    ended: dict[Any, Any] = {}

    class Ends(Recorder):
        """Keeps outcomes."""

        def on_end(self, job: Any, outcome: Any, system: Any) -> None:
            """Keep."""
            ended[job.job_id] = outcome

    run(jobs("a 0 30 10 2\n b 1 5 5 2\n wide 2 1 1 3"), 2, "fcfs", recorders=[Ends()])
    a, b, wide = ended["a"], ended["b"], ended["wide"]
    assert (a.state, a.run_s, a.wait_s, a.attempts, a.node_ids) == ("TIMEOUT", 10, 0, 1, "0-1")
    assert (b.wait_s, b.turnaround_s, b.eligible_s, b.nodes) == (9, 14, 1, 2)
    assert (wide.state, wide.attempts, wide.node_ids, wide.end_s) == ("REJECTED", 0, "", 2)
    assert wide.state_reason


def test_a_recorder_changes_nothing() -> None:
    """The same schedule with and without one."""
    assert gantt(jobs(TABLE), 2, "easy", recorders=[Diary([])]) == gantt(jobs(TABLE), 2, "easy")


def test_recorders_cannot_change_the_machine() -> None:
    """They get the read-only view."""

    class Meddler(Recorder):
        """Tries to."""

        def on_submit(self, job: Any, system: Any) -> None:
            """Change the queue."""
            system.queue.append(job)

    with pytest.raises(Exception, match="append"):
        run(jobs(TABLE), 2, "easy", recorders=[Meddler()])


def test_cancelled_and_rejected_jobs_are_told() -> None:
    """`on_end` comes for jobs that never started, to the policy too, which must forget them."""
    log: list[Any] = []
    sim = simulation(jobs(TABLE), 2, EASY(), recorders=[Diary(log)])
    sim.run(until=5)
    sim.cancel(sim.queue[0])
    sim.run()
    assert [entry[0] for entry in log if entry[0].startswith("end")] == ["end b CANCELLED", "end a COMPLETED"]


def test_decisions_are_told_as_they_were_made() -> None:
    """Also those that start nothing."""
    kinds: list[Any] = []

    class Kinds(Recorder):
        """Keeps decisions."""

        def on_decision(self, decision: Any, system: Any) -> None:
            """Keep."""
            kinds.append(decision)

    def schedule(system: Any) -> Any:
        job = system.queue[0]
        yield Reserve(job, 9)
        yield Reject(job, "no")

    run(jobs("a 0 1 1 1"), 1, policy_of(schedule), recorders=[Kinds()])
    assert [type(kind) for kind in kinds] == [Reserve, Reject]
    assert kinds[0].start_s == 9


def test_whoever_leaves_the_queue_is_told_once() -> None:
    """By a start, a cancellation, a rejection by the policy; a job that never got into the queue leaves none."""
    left: list[Any] = []

    class Leaving(Recorder):
        """Keeps who left, and whether the queue still had the job then."""

        def on_leave(self, job: Any, system: Any) -> None:
            """Keep."""
            left.append((job.job_id, system.now_s, job in system.queue))

    def schedule(system: Any) -> Any:
        for job in system.queue:
            if job.job_id == "no":
                yield Reject(job, "no")
            elif system.fits(job):
                yield Start(job)

    workload = jobs("a 0 9 9 2\n b 0 9 9 2\n no 1 9 9 2\n wide 1 9 9 3\n c 2 9 9 2")
    sim = simulation(workload, 2, policy_of(schedule), recorders=[Leaving()])
    sim.run(until=5)
    sim.cancel(next(job for job in sim.queue if job.job_id == "b"))
    sim.run()
    assert left == [("a", 0, False), ("no", 1, False), ("b", 5, False), ("c", 9, False)]
