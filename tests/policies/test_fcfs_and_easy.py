"""FCFS and EASY on schedules small enough to work out by hand."""

from __future__ import annotations

import math

from hpcsim.decision import Reserve
from hpcsim.recorder import Recorder
from hpcsim.registry import make
from tests.schedules import gantt, jobs, run, starts

BLOCKED_HEAD = """
    # id submit run limit nodes
    a  0  10  10  3
    b  1   5   5  4
    c  2   3   3  1
"""


class Promises(Recorder):
    """Collects (time, job id, promised start)."""

    def __init__(self) -> None:
        self.made: list[tuple[float, object, float]] = []

    def on_decision(self, decision, system):  # type: ignore[no-untyped-def]
        """Keep each `Reserve`."""
        if isinstance(decision, Reserve):
            self.made.append((system.now_s, decision.job.job_id, decision.start_s))


def test_fcfs_stops_at_the_first_that_does_not_fit() -> None:
    """a holds 0-2 until 10; b needs all four; c would fit on node 3 but stands behind b, which ends at 15."""
    assert gantt(jobs(BLOCKED_HEAD), 4, "fcfs") == [("a", 0, "0-2"), ("b", 10, "0-3"), ("c", 15, "0")]


def test_easy_backfills_what_ends_by_the_shadow_time() -> None:
    """b is blocked until the shadow time 10; c would end at 5 and starts at once on node 3."""
    assert gantt(jobs(BLOCKED_HEAD), 4, "easy") == [("a", 0, "0-2"), ("c", 2, "3"), ("b", 10, "0-3")]


def test_easy_counts_a_job_that_ends_exactly_at_the_shadow_time() -> None:
    """Shadow time 10, no extra nodes: limit 8 at t = 2 ends at 10 and starts, limit 9 ends at 11 and does not."""
    table = "a 0 10 10 3\n b 1 5 5 4\n c 2 {0} {0} 1"
    assert starts(jobs(table.format(8)), 4, "easy")["c"] == 2
    assert starts(jobs(table.format(9)), 4, "easy")["c"] == 15


def test_easy_uses_up_extra_nodes() -> None:
    """Six nodes. At the shadow time 10 all are free and b takes 4: 2 extra.

    c (2 nodes, long) takes both extra nodes at 2; d (long) finds none left and waits for b's end at
    15; e ends at 9 and starts on the last free node. At 10 nodes 0-2 and 5 are free: b.
    """
    table = "a 0 10 10 3\n b 1 5 5 4\n c 2 100 100 2\n d 3 100 100 1\n e 4 5 5 1"
    assert gantt(jobs(table), 6, "easy") == [
        ("a", 0, "0-2"),
        ("c", 2, "3-4"),
        ("e", 4, "5"),
        ("b", 10, "0-2,5"),
        ("d", 15, "0"),
    ]


def test_easy_counts_every_job_due_by_the_shadow_time_as_ended() -> None:
    """Two jobs are due at 10. b needs 3 nodes: one end would do (1 free + 2), both leave 5 - 3 = 2 extra: c starts."""
    table = "a1 0 10 10 2\n a2 0 10 10 2\n b 1 5 5 3\n c 2 100 100 1"
    assert starts(jobs(table), 5, "easy") == {"a1": 0, "a2": 0, "b": 10, "c": 2}


def test_easy_plans_by_limits_and_starts_the_head_when_jobs_end_early() -> None:
    """a asks for 20 and ends at 6. By limits the shadow time is 20, so c (ends by 20) starts; b starts at c's end."""
    table = "a 0 6 20 3\n b 1 5 5 4\n c 2 12 15 1"
    assert starts(jobs(table), 4, "easy") == {"a": 0, "b": 14, "c": 2}


def test_easy_promises_the_head_its_shadow_time() -> None:
    """b is promised 10 at its arrival and c, head after b, b's planned end 15; each is told once."""
    promises = Promises()
    columns = run(jobs("a 0 10 10 3\n b 1 5 5 4\n c 2 5 5 4"), 4, "easy", recorders=[promises])
    assert promises.made == [(1, "b", 10), (10, "c", 15)]
    assert list(columns.attempt_start_s) == [0, 10, 15]


def test_easy_moves_a_promise_forward_when_a_job_ends_early() -> None:
    """a1 (limit 10) ends at 4: b still waits for a2's limit, 12 -> the promise stays 12 until a2 ends at 8."""
    promises = Promises()
    columns = run(jobs("a1 0 4 10 1\n a2 0 8 12 1\n b 1 5 5 2"), 2, "easy", recorders=[promises])
    assert promises.made == [(1, "b", 12)]
    assert list(columns.attempt_start_s) == [0, 0, 8]


def test_fewest_nodes_first_is_no_part_of_fcfs() -> None:
    """All at 0 on 4 nodes: a (2) and b (2) fill the machine, c and d follow at 10 in the log's order."""
    table = "a 0 10 10 2\n b 0 10 10 2\n c 0 5 5 3\n d 0 5 5 1"
    assert gantt(jobs(table), 4, "fcfs") == [("a", 0, "0-1"), ("b", 0, "2-3"), ("c", 10, "0-2"), ("d", 10, "3")]


def test_jobs_without_a_limit_never_count_as_ended() -> None:
    """a has no limit, so b's shadow time never comes and nothing is extra.

    c has a limit and may pass; d has none and may not: it starts with b when a ends, at 50.
    """
    table = "a 0 50 inf 3\n b 1 10 10 2\n c 2 5 5 1\n d 8 5 inf 1"
    assert gantt(jobs(table), 4, "easy") == [("a", 0, "0-2"), ("c", 2, "3"), ("b", 50, "0-1"), ("d", 50, "2")]


def test_a_job_without_a_limit_may_use_extra_nodes() -> None:
    """Six nodes, b takes 4 of the 6 at the shadow time 10: c (no limit, 2 nodes) fits into the 2 extra ones."""
    assert starts(jobs("a 0 10 10 3\n b 1 5 5 4\n c 2 99 inf 2"), 6, "easy") == {"a": 0, "b": 10, "c": 2}


def test_promise_to_a_head_that_cannot_be_planned_is_infinite_and_not_recorded() -> None:
    """Behind a job without a limit the shadow time is infinite; an infinite promise is none."""
    promises = Promises()
    run(jobs("a 0 50 inf 3\n b 1 10 10 2"), 4, "easy", recorders=[promises])
    assert [made for made in promises.made if made[2] < math.inf] == []


def test_easy_is_backfill_with_one_reservation() -> None:
    """The name is a member of the family, with its defaults."""
    easy, family = make("policies", "easy").parameters(), make("policies", "backfill", reservations=1).parameters()
    assert easy == family
