"""Each option of `Backfill`, on schedules worked out by hand."""

from __future__ import annotations

from typing import Any

import pytest

from hpcsim.errors import HpcsimError
from hpcsim.policies import LJF, SAF, SJF, Backfill
from tests.schedules import gantt, jobs, starts


def backfilled(table: str, nodes: int, **parameters: Any) -> dict[Any, float]:
    """Return the starts under `Backfill(**parameters)`."""
    return starts(jobs(table), nodes, Backfill(**parameters))


def test_no_reservation_lets_anything_pass() -> None:
    """c (limit 100) fits beside a and starts at 2; b waits for its end at 102."""
    assert backfilled("a 0 10 10 3\n b 1 5 5 4\n c 2 100 100 1", 4, reservations=0) == {"a": 0, "b": 102, "c": 2}


SECOND_IN_LINE = "a 0 10 10 3\n b 1 10 10 2\n c 2 10 10 4\n d 3 20 20 1"


def test_one_reservation_may_delay_the_second_in_line() -> None:
    """b is promised 10, with 2 extra nodes then: d starts at 3 and ends at 23. c needs all four: 23, not 20."""
    assert backfilled(SECOND_IN_LINE, 4) == {"a": 0, "b": 10, "c": 23, "d": 3}


def test_two_reservations_protect_the_second_in_line() -> None:
    """c is promised 20 (after b) and d, running [3, 23), would delay it: d waits for c's end at 30."""
    assert backfilled(SECOND_IN_LINE, 4, reservations=2) == {"a": 0, "b": 10, "c": 20, "d": 30}


@pytest.mark.parametrize(("reservations", "x", "d"), [(1, 23, 3), (2, 23, 3), (3, 20, 30)])
def test_the_third_in_line_needs_three_reservations(reservations: int, x: float, d: float) -> None:
    """Five nodes. b and c (2 each) are promised 10 and leave one node; d fits there for [3, 23).

    x needs all five, at 20 by plan: only the third reservation is its own and keeps d out until 30.
    """
    table = "a 0 10 10 4\n b 1 10 10 2\n c 1 10 10 2\n x 2 10 10 5\n d 3 20 20 1"
    assert backfilled(table, 5, reservations=reservations) == {"a": 0, "b": 10, "c": 10, "x": x, "d": d}


def test_admit_shadow_ignores_extra_nodes() -> None:
    """b's shadow time is 10, with 2 extra nodes; c (limit 100) could use them, but starts with b at 10."""
    table = "a 0 10 10 3\n b 1 5 5 4\n c 2 100 100 2"
    assert backfilled(table, 6)["c"] == 2
    assert backfilled(table, 6, admit="shadow") == {"a": 0, "b": 10, "c": 10}


def test_strict_boundary_excludes_an_end_at_the_shadow_time() -> None:
    """c ends exactly at the shadow time 10; by "<" it must wait for b's end at 15, with limit 7 it need not."""
    table = "a 0 10 10 3\n b 1 5 5 4\n c 2 {0} {0} 1"
    assert backfilled(table.format(8), 4)["c"] == 2
    assert backfilled(table.format(8), 4, boundary="<")["c"] == 15
    assert backfilled(table.format(7), 4, boundary="<")["c"] == 2


def test_strict_boundary_rederives_extra_nodes_at_every_pass() -> None:
    """Eight nodes; b takes 7 of the 8 free at the shadow time 10: 1 extra.

    c would end at 10 exactly and by "<" takes the extra node. One pass later c counts among the jobs
    due by 10, so that 1 node is extra again, and d starts on it at 3.
    """
    table = "a 0 10 10 4\n b 1 10 10 7\n c 2 8 8 1\n d 3 100 100 1"
    assert backfilled(table, 8, boundary="<") == {"a": 0, "b": 10, "c": 2, "d": 3}


@pytest.mark.parametrize(("depth", "d"), [(0, 15), (1, 15), (2, 2), (None, 2)])
def test_depth_counts_jobs_behind_the_head(depth: int | None, d: float) -> None:
    """c (first behind b) is too long; d (second) would end at 7. It is tried only from depth 2 on."""
    table = "a 0 10 10 3\n b 1 5 5 4\n c 2 100 100 1\n d 2 5 5 1"
    assert backfilled(table, 4, depth=depth) == {"a": 0, "b": 10, "c": 15, "d": d}


def test_backfill_order_sorts_the_candidates() -> None:
    """b (all four) is promised 10; c (limit 6) and d (limit 4) want the same two nodes at 2.

    In queue order c goes, ends at 8, and d would end at 12 > 10. Shortest first, d goes and c waits.
    """
    table = "a 0 10 10 2\n b 1 5 5 4\n c 2 6 6 2\n d 2 4 4 2"
    assert backfilled(table, 4) == {"a": 0, "b": 10, "c": 2, "d": 15}
    assert backfilled(table, 4, backfill_order=SJF()) == {"a": 0, "b": 10, "c": 15, "d": 2}


def test_backfill_order_sorts_the_candidates_behind_all_reservations() -> None:
    """As above with b and b2 promised 10 and 15: the candidate that stays behind starts at 20."""
    table = "a 0 10 10 2\n b 1 5 5 4\n b2 1 5 5 4\n c 2 6 6 2\n d 2 4 4 2"
    assert backfilled(table, 4, reservations=2) == {"a": 0, "b": 10, "b2": 15, "c": 2, "d": 20}
    shortest = backfilled(table, 4, reservations=2, backfill_order=SJF())
    assert shortest == {"a": 0, "b": 10, "b2": 15, "c": 20, "d": 2}


def test_backfill_order_leaves_the_order_of_heads_alone() -> None:
    """p arrived first and stays the head though q is shorter."""
    assert backfilled("a 0 10 10 2\n p 1 4 4 2\n q 1 2 2 2", 2, backfill_order=SJF()) == {"a": 0, "p": 10, "q": 14}


def test_order_decides_who_holds_the_reservation() -> None:
    """Shortest first, q is the head: promised 10, it ends at 12, then p. r ends at 10 and passes at 2."""
    table = "a 0 10 10 1\n p 1 4 4 2\n q 1 2 2 2\n r 2 8 8 1"
    assert backfilled(table, 2) == {"a": 0, "p": 10, "q": 14, "r": 2}
    assert backfilled(table, 2, order=SJF()) == {"a": 0, "p": 12, "q": 10, "r": 2}
    assert backfilled(table, 2, order=LJF()) == {"a": 0, "p": 10, "q": 14, "r": 2}
    assert backfilled(table, 2, order=SAF()) == {"a": 0, "p": 12, "q": 10, "r": 2}


@pytest.mark.parametrize("reservations", [2, "all"])
def test_order_with_more_reservations(reservations: Any) -> None:
    """Promises are made in key order (all jobs are there at 1): q 10-12, p 12-16; conservative by arrival."""
    table = "a 0 10 10 2\n p 1 4 4 2\n q 1 2 2 2"
    expected = {"a": 0, "p": 12, "q": 10} if reservations == 2 else {"a": 0, "p": 10, "q": 14}
    assert backfilled(table, 2, order=SJF(), reservations=reservations) == expected


ORDERS = "a 0 10 10 2\n p 1 8 8 1\n q 1 5 5 2\n r 1 6 6 1\n s 1 6 6 1"


@pytest.mark.parametrize(
    ("policy", "expected"),
    [
        ("sjf", [("q", 10, "0-1"), ("r", 15, "0"), ("s", 15, "1"), ("p", 21, "0")]),
        ("ljf", [("p", 10, "0"), ("r", 10, "1"), ("s", 16, "1"), ("q", 22, "0-1")]),
        ("saf", [("r", 10, "0"), ("s", 10, "1"), ("p", 16, "0"), ("q", 24, "0-1")]),
        ("fcfs", [("p", 10, "0"), ("q", 18, "0-1"), ("r", 23, "0"), ("s", 23, "1")]),
    ],
)
def test_orders_alone(policy: str, expected: list[Any]) -> None:
    """Two nodes, busy until 10. Limits p 8, q 5, r 6, s 6; areas p 8, q 10, r 6, s 6; r and s tie: queue order.

    SJF: q 10-15, then r and s, p at 21. LJF: p and r at 10, s at 16 beside p, q when both are done, 22.
    SAF: r and s at 10, p at 16 and q, which needs both nodes, behind it at 24. No order backfills.
    """
    assert gantt(jobs(ORDERS), 2, policy)[1:] == expected


@pytest.mark.parametrize(
    ("parameters", "cause", "remedy"),
    [
        ({"reservations": -1}, "reservations is -1", "whole number from 0"),
        ({"reservations": "some"}, "reservations is 'some'", "'all'"),
        ({"reservations": 1.5}, "reservations is 1.5", "whole number"),
        ({"admit": "any"}, "admit is 'any'", "shadow+extra"),
        ({"boundary": "=="}, "boundary is '=='", "<="),
        ({"compress": "never"}, "compress is 'never'", "early"),
        ({"depth": -1}, "depth is -1", "leave it out"),
    ],
)
def test_options_out_of_range(parameters: dict[str, Any], cause: str, remedy: str) -> None:
    """Each refused option is named, with what may stand there."""
    with pytest.raises(HpcsimError) as caught:
        Backfill(**parameters)
    assert cause in caught.value.cause
    assert remedy in caught.value.remedy


def test_parameters_show_in_the_repr() -> None:
    """What a run was made with can be read off the policy."""
    assert "depth=3" in repr(Backfill(depth=3))
    assert Backfill(order=SJF()).parameters()["order"] == {"class": "SJF"}
