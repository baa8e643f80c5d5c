"""Which nodes a job gets: the lowest free ones, those its policy names, or those a placement picks."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from hpcsim.decision import Start
from hpcsim.errors import HpcsimError, InvalidDecision
from hpcsim.placement import Placement
from tests.schedules import gantt, jobs, policy_of

TABLE = "a 0 10 10 2\n b 1 10 10 1\n c 11 5 5 3"


def naming(*node_ids: Any) -> Any:
    """Return a policy that starts the head on *node_ids* (an iterable for each start in turn)."""
    left = list(node_ids)

    def schedule(system: Any) -> Iterator[Start]:
        for job in system.queue:
            if system.fits(job):
                yield Start(job, left.pop(0))

    return policy_of(schedule)


def test_lowest_free_nodes_by_default() -> None:
    """a 0-1, b 2; c finds 0-1 free at 11, and b's node is free at 11 too: 0-2."""
    assert gantt(jobs(TABLE), 4, "fcfs") == [("a", 0, "0-1"), ("b", 1, "2"), ("c", 11, "0-2")]


def test_nodes_named_by_the_policy() -> None:
    """In any order and from any iterable; c takes what was never used together."""
    policy = naming([3, 1], iter([0]), range(1, 4))
    assert gantt(jobs(TABLE), 4, policy) == [("a", 0, "1,3"), ("b", 1, "0"), ("c", 11, "1-3")]


def test_numpy_ids_are_whole_numbers() -> None:
    """What a learned policy yields."""
    import numpy as np

    assert gantt(jobs("a 0 1 1 2"), 4, naming(np.array([2, 3])))[0][2] == "2-3"


@pytest.mark.parametrize(
    ("node_ids", "fault"),
    [
        ([0], "named 1 node ids for the 2 nodes of job a"),
        ([0, 1, 2], "named 3 node ids for the 2 nodes"),
        ([], "named 0 node ids"),
        ([1, 1], "named 2 node ids for the 2 nodes"),
        ([0.0, 1.0], "named 2 node ids for the 2 nodes"),
        (["0", "1"], "named 2 node ids"),
        ([3, 4], "named the nodes 3-4, not all of them free, of job a"),
        ([-1, 0], "named the nodes -1-0, not all of them free"),
        ([10**30, 0], "not all of them free"),
    ],
)
def test_wrong_node_ids(node_ids: list[Any], fault: str) -> None:
    """Too few, too many, twice, no whole numbers, outside the machine."""
    with pytest.raises(InvalidDecision) as caught:
        gantt(jobs(TABLE), 4, naming(node_ids))
    assert fault in caught.value.cause
    assert "leave node_ids out" in caught.value.remedy
    assert caught.value.rule == "node-ids"


def test_busy_node_ids() -> None:
    """b is sent to node 1, which a holds."""
    with pytest.raises(InvalidDecision, match="named the nodes 1, not all of them free, of job b"):
        gantt(jobs(TABLE), 4, naming([0, 1], [1]))


def test_refused_node_ids_change_nothing() -> None:
    """The policy catches the refusal and lets the default choose."""

    def schedule(system: Any) -> Iterator[Start]:
        for job in system.queue:
            try:
                yield Start(job, [99] * job.nodes)
            except InvalidDecision:
                yield Start(job)

    assert gantt(jobs("a 0 10 10 2\n b 1 10 10 1"), 4, policy_of(schedule)) == [("a", 0, "0-1"), ("b", 1, "2")]


class Highest(Placement):
    """The highest free ids."""

    def place(self, job: Any, free: Any, cluster: Any) -> Any:
        """Take from the end."""
        chosen, wanted = [], job.nodes
        for low, high in reversed(free):
            count = min(wanted, high - low + 1)
            if count:
                chosen.append((high - count + 1, high))
            wanted -= count
        return sorted(chosen)


def test_a_placement_chooses() -> None:
    """From the top; the policy's own ids go before it."""
    assert gantt(jobs(TABLE), 4, "fcfs", placement=Highest()) == [("a", 0, "2-3"), ("b", 1, "1"), ("c", 11, "1-3")]
    assert gantt(jobs("a 0 1 1 1"), 4, naming([0]), placement=Highest())[0][2] == "0"


def test_a_placement_sees_what_is_free() -> None:
    """Sorted disjoint intervals: all but a's nodes for b, then all but b's."""
    seen = []

    class Watching(Highest):
        """Remembers what it was offered."""

        def place(self, job: Any, free: Any, cluster: Any) -> Any:
            """Note and choose."""
            seen.append(list(free))
            return super().place(job, free, cluster)

    gantt(jobs("a 0 10 10 2\n b 1 10 10 1\n d 10 2 2 2"), 4, "fcfs", placement=Watching())
    assert seen == [[(0, 3)], [(0, 1)], [(0, 0), (2, 3)]]


@pytest.mark.parametrize("answer", [[(0, 0)], [(0, 2)], [(0, 0), (0, 0)], [(7, 8)], []])
def test_a_placement_that_answers_nonsense(answer: Any) -> None:
    """Too few, too many, twice, outside: refused by name, with the checker off."""

    class Nonsense(Placement):
        """Answers what the test wants."""

        def place(self, job: Any, free: Any, cluster: Any) -> Any:
            """Answer."""
            return list(answer)

    with pytest.raises(HpcsimError, match="Nonsense"):
        gantt(jobs("a 0 10 10 2"), 4, "fcfs", placement=Nonsense(), check=False)
