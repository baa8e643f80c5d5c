"""Node ids as intervals, and the pool of free ones against a plain set."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hpcsim.engine.free_nodes import FreeNodes
from hpcsim.errors import InvariantViolation
from hpcsim.node_ids import count_nodes, format_intervals, intervals_of, parse_intervals

sets = st.sets(st.integers(0, 60))


def members(intervals: object) -> set[int]:
    """Return the ids of intervals."""
    return {node for low, high in intervals for node in range(low, high + 1)}  # type: ignore[attr-defined]


def test_the_written_form() -> None:
    """Both ends included, single ids alone, nothing for the empty set."""
    assert format_intervals([(0, 127), (130, 130)]) == "0-127,130"
    assert parse_intervals("0-127,130") == [(0, 127), (130, 130)]
    assert (format_intervals([]), parse_intervals("")) == ("", [])


@pytest.mark.parametrize("text", ["a", "1-", "1,,2", "1-2-3", "-"])
def test_text_that_is_no_list(text: str) -> None:
    """A `ValueError`, as documented."""
    with pytest.raises(ValueError, match="invalid literal"):
        parse_intervals(text)


@given(sets)
def test_intervals_round_trip(nodes: set[int]) -> None:
    """Collapse, write, read back; sorted, disjoint, and with a gap between any two."""
    intervals = intervals_of(nodes)
    assert parse_intervals(format_intervals(intervals)) == intervals
    assert members(intervals) == nodes
    assert count_nodes(intervals) == len(nodes)
    assert all(high + 1 < low for (_, high), (low, _) in pairwise(intervals))


@given(st.data())
def test_free_nodes_are_a_set(data: st.DataObject) -> None:
    """Take the lowest, take by name, give back in any order: the pool equals a set of ids at each step."""
    pool, free, held = FreeNodes(40), set(range(40)), []
    for _ in range(data.draw(st.integers(1, 25))):
        step = data.draw(st.sampled_from(["lowest", "named", "back"]))
        if step == "lowest" and free:
            count = data.draw(st.integers(1, len(free)))
            taken = pool.take_lowest(count)
            assert members(taken) == set(sorted(free)[:count])
            held.append(taken)
            free -= members(taken)
        elif step == "named":
            wanted = intervals_of(data.draw(st.sets(st.integers(-1, 41), min_size=1, max_size=12)))
            assert pool.has(wanted) == (members(wanted) <= free)
            if pool.has(wanted):
                pool.take(wanted)
                held.append(wanted)
                free -= members(wanted)
        elif step == "back" and held:
            given_back = held.pop(data.draw(st.integers(0, len(held) - 1)))
            pool.give_back(given_back)
            free |= members(given_back)
        assert pool.count == len(free)
        assert pool.intervals() == intervals_of(free)


@pytest.mark.parametrize("again", [(2, 3), (0, 2), (3, 9), (5, 5)])
def test_giving_back_what_is_free(again: tuple[int, int]) -> None:
    """Any overlap with free nodes is a defect, and named."""
    pool = FreeNodes(10)
    pool.take([(0, 1), (6, 9)])
    with pytest.raises(InvariantViolation, match=r"were given back while free\."):
        pool.give_back([again])
