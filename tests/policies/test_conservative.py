"""Conservative backfilling on schedules worked out by hand."""

from __future__ import annotations

from typing import Any

import pytest

from hpcsim.policies import Conservative
from tests.policies.test_fcfs_and_easy import Promises
from tests.schedules import gantt, jobs, outcomes_of, run, simulation, starts

QUEUE = "a 0 {run} 10 3\n b 1 10 10 2\n c 2 10 10 4\n d 3 20 20 1"


def test_every_job_is_promised_a_start_at_arrival_and_nobody_delays_it() -> None:
    """a holds 3 of 4 nodes until 10; b is promised 10, c 20. d for 20 s would overlap c: promised 30."""
    promises = Promises()
    columns = run(jobs(QUEUE.format(run=10)), 4, "conservative", recorders=[promises])
    assert promises.made == [(0, "a", 0), (1, "b", 10), (2, "c", 20), (3, "d", 30)]
    assert [columns.attempt_start_s[attempt] for attempt in columns.attempt_of()] == [0, 10, 20, 30]


def test_an_early_end_moves_promises_forward_in_queue_order() -> None:
    """a ends at 6 instead of 10: b moves to 6 (till 16), c to 16 (till 26), d to 26."""
    promises = Promises()
    run(jobs(QUEUE.format(run=6)), 4, "conservative", recorders=[promises])
    assert promises.made[4:7] == [(6, "b", 6), (6, "c", 16), (6, "d", 26)]
    assert gantt(jobs(QUEUE.format(run=6)), 4, "conservative") == [
        ("a", 0, "0-2"),
        ("b", 6, "0-1"),
        ("c", 16, "0-3"),
        ("d", 26, "0"),
    ]


def test_a_short_job_fills_the_hole_in_front_of_the_promises() -> None:
    """e (1 node, 7 s) fits on the free node from 3 to 10 and delays nobody."""
    table = "a 0 10 10 3\n b 1 10 10 4\n e 3 7 7 1\n f 4 7 7 1"
    assert starts(jobs(table), 4, "conservative") == {"a": 0, "b": 10, "e": 3, "f": 20}


@pytest.mark.parametrize("compress", ["early", "any"])
def test_both_ways_to_compress_agree_where_nothing_ends_early(compress: Any) -> None:
    """All run to their limits: the promises of arrival are kept as they are."""
    policy = Conservative(compress=compress)
    assert starts(jobs(QUEUE.format(run=10)), 4, policy) == {"a": 0, "b": 10, "c": 20, "d": 30}


@pytest.mark.parametrize(("compress", "q"), [("early", 10), ("any", 9)])
def test_remaking_promises_at_any_end_finds_the_holes_that_the_last_remake_left(compress: Any, q: float) -> None:
    """Three nodes. At 1, q (all three) is promised 10-15 and r the hole 9-10 between b's end and a's limit.

    a ends at 4: q cannot move, for r stands at 9; then r moves to 4-5 and frees 9-10. r's end at 5 is
    no early one: only "any" moves q to 9, when b ends.
    """
    table = "a 0 4 10 2\n b 0 9 9 1\n q 1 5 5 3\n r 1 1 1 1"
    assert starts(jobs(table), 3, Conservative(compress=compress)) == {"a": 0, "b": 0, "q": q, "r": 4}


def test_jobs_without_limits() -> None:
    """a never ends by plan, so b (2 of 3 nodes, 1 free) has no promise; c fits beside a; b starts when a ends."""
    table = "a 0 50 inf 2\n b 1 10 10 2\n c 2 5 5 1"
    assert starts(jobs(table), 3, "conservative") == {"a": 0, "b": 50, "c": 2}


def test_a_waiting_job_that_is_cancelled_gives_its_place_to_those_behind() -> None:
    """b is promised 10-20 and c 20-30; b is cancelled at 5, so that c moves to 10."""
    workload = jobs("a 0 10 10 2\n b 1 10 10 2\n c 2 10 10 2")
    sim = simulation(workload, 2, "conservative")
    sim.run(until=5)
    sim.cancel(sim.queue[0])
    sim.run()
    outcomes = outcomes_of(sim.finish(), workload)
    assert (outcomes["b"].state, outcomes["c"].start_s) == ("CANCELLED", 10)


@pytest.mark.parametrize("policy", ["conservative", "easy"])
def test_an_overdue_job_counts_as_ending_one_second_later(policy: str) -> None:
    """Limits do not kill. a (limit 10) runs 100; b is blocked, first promised 10, and starts at 100."""
    assert starts(jobs("a 0 100 10 3\n b 1 10 10 4"), 4, policy, kill_at_limit=False) == {"a": 0, "b": 100}


@pytest.mark.parametrize("policy", ["conservative", "easy"])
def test_one_second_fits_before_an_overdue_job_ends(policy: str) -> None:
    """At 50 a is overdue and planned to end at 51: c, of one second on the free node, ends by then and starts."""
    table = "a 0 100 10 3\n b 1 10 10 4\n c 50 1 1 1"
    assert starts(jobs(table), 4, policy, kill_at_limit=False) == {"a": 0, "b": 100, "c": 50}
