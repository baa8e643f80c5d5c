"""The profile of free nodes against a table of one entry a second."""

from __future__ import annotations

import math
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from hpcsim.profile import Profile, Shadow

HORIZON = 120
"""Seconds that the table covers; all that is drawn is over long before."""

NODES = 10


class Table:
    """Free nodes in each second, and for ever after the last."""

    def __init__(self, now: int, free: int, releases: Any) -> None:
        self.now = now
        self.free = [free + sum(n for end, _, n in releases if end <= second) for second in range(HORIZON)]

    def take(self, start: int, end: float, nodes: int) -> None:
        """Claim."""
        for second in range(start, int(min(end, HORIZON))):
            self.free[second] -= nodes

    def has_room(self, start: int, length: float, nodes: int) -> bool:
        """Tell whether the nodes are free for *length* seconds; the last second stands for ever."""
        return all(free >= nodes for free in self.free[start : int(min(start + length, HORIZON))])

    def earliest(self, nodes: int, length: float, start: int) -> float:
        """Try second by second."""
        return next((s for s in range(start, HORIZON - 1) if self.has_room(s, length, nodes)), math.inf)


@st.composite
def situations(draw: Any) -> tuple[Profile, Table]:
    """Draw running jobs that fill part of the machine, some without an end, and a few claims that fit."""
    now, left, releases = draw(st.integers(0, 5)), NODES, []
    for row in range(draw(st.integers(0, 6))):
        nodes = draw(st.integers(1, 3))
        if nodes <= left:
            left -= nodes
            releases.append((draw(st.one_of(st.integers(now, 30), st.just(math.inf))), row, nodes))
    releases.sort()
    profile, table = Profile(now, left, releases), Table(now, left, releases)
    for _ in range(draw(st.integers(0, 5))):
        nodes, length = draw(st.integers(1, NODES)), draw(st.integers(1, 12))
        start = profile.earliest_s(nodes, length, now + draw(st.integers(0, 9)))
        if start < math.inf:
            profile.take(start, start + length, nodes)
            table.take(int(start), start + length, nodes)
    return profile, table


lengths = st.one_of(st.integers(1, 15), st.just(math.inf))


@given(situations(), st.integers(1, NODES + 1), lengths, st.integers(0, 20))
def test_earliest_fit(situation: Any, nodes: int, length: float, delay: int) -> None:
    """The first second at which there is room for the whole length."""
    profile, table = situation
    start = table.now + delay
    assert profile.earliest_s(nodes, length, start) == table.earliest(nodes, length, start)
    assert profile.earliest_s(nodes, length) == table.earliest(nodes, length, table.now)


@given(situations(), st.integers(0, 40), st.integers(1, 20))
def test_least_free(situation: Any, delay: int, length: int) -> None:
    """The smallest entry of the seconds asked for."""
    profile, table = situation
    start = table.now + delay
    assert profile.least_free(start, start + length) == min(table.free[start : start + length])


@given(situations(), st.integers(0, 30))
def test_forgetting_the_past_changes_no_answer(situation: Any, delay: int) -> None:
    """From then on."""
    profile, table = situation
    now = table.now + delay
    profile.forget_before(now)
    assert profile.free_now == table.free[now]
    for nodes in range(1, NODES + 1):
        assert profile.earliest_s(nodes, 4) == table.earliest(nodes, 4, now)


def test_steps_of_equal_height_are_joined_when_they_are_many() -> None:
    """Fifty claims given back leave a hundred steps of height 8, which say no more than one."""
    profile = Profile(0, 8)
    for second in range(0, 200, 4):
        profile.take(second, second + 2, 3)
        profile.take(second, second + 2, -3)
    assert len(profile.times) == 100
    profile.forget_before(1)
    assert (profile.times, profile.free) == ([0], [8])


@given(situations(), st.integers(1, NODES), st.integers(1, 12), st.integers(1, 25))
def test_moving_a_claim_forward(situation: Any, nodes: int, length: int, delay: int) -> None:
    """A claim is taken, then asked for its first earlier start as if it were lifted."""
    profile, table = situation
    claimed = profile.earliest_s(nodes, length, table.now + delay)
    if claimed == math.inf:
        return
    expected = min(table.earliest(nodes, length, table.now), claimed)
    profile.take(claimed, claimed + length, nodes)
    assert profile.earliest_before_s(nodes, length, claimed) == expected


@given(situations())
def test_giving_back_undoes_taking(situation: Any) -> None:
    """In every second."""
    profile, table = situation
    profile.take(table.now + 3, table.now + 9, 2)
    profile.take(table.now + 3, table.now + 9, -2)
    assert [profile.least_free(second, second + 1) for second in range(table.now, 60)] == table.free[table.now : 60]


@given(st.lists(st.tuples(st.one_of(st.integers(5, 15), st.just(math.inf)), st.integers(1, 3)), max_size=6))
def test_shadow(running: Any) -> None:
    """By definition: the first planned end by which enough is free, all that are due by then counted."""
    running = [(end, row, nodes) for row, (end, nodes) in enumerate(running)]
    releases, free = sorted(running), 2
    for wanted in range(1, 22):
        expected = Shadow(math.inf, 0) if wanted > free else Shadow(3, free - wanted)
        for end in sorted({end for end, _, _ in releases if end < math.inf}):
            then = free + sum(nodes for other, _, nodes in releases if other <= end)
            if wanted > free and then >= wanted:
                expected = Shadow(end, then - wanted)
                break
        assert Profile(3, free, releases).shadow(wanted) == expected


def test_steps_are_as_documented() -> None:
    """From now on, merged at one instant; what has no end never comes free."""
    profile = Profile(10, 1, [(15, 0, 2), (15, 1, 1), (20, 2, 3), (math.inf, 3, 1)])
    assert (profile.times, profile.free) == ([10, 15, 20], [1, 4, 7])
