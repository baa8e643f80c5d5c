"""Sets of node ids as intervals: ``[(0, 127), (130, 130)]`` in code, ``"0-127,130"`` in tables.

Both ends are included. A set is never an object a node: a machine of 100,000 costs what its
intervals cost.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

Interval = tuple[int, int]

MOST_NODES = 2**31 - 1
"""No machine and no job has more nodes: tables hold node counts and ids in 32 bits."""


def format_intervals(intervals: Iterable[Interval]) -> str:
    """Write intervals as ``"0-127,130"``."""
    return ",".join([f"{low}-{high}" if low != high else str(low) for low, high in intervals])


def parse_intervals(text: str) -> list[Interval]:
    """Read ``"0-127,130"`` back; the empty text is the empty set.

    Raises:
        ValueError: the text is not a list of intervals.
    """
    intervals = []
    for part in text.split(",") if text else []:
        low, dash, high = part.partition("-")
        intervals.append((int(low), int(high) if dash else int(low)))
    return intervals


def intervals_of(node_ids: Iterable[int]) -> list[Interval]:
    """Collapse node ids, in any order, to sorted intervals; a repeated id is counted once."""
    intervals: list[Interval] = []
    for node in sorted(node_ids):
        if intervals and node <= intervals[-1][1] + 1:
            intervals[-1] = (intervals[-1][0], max(node, intervals[-1][1]))
        else:
            intervals.append((node, node))
    return intervals


def count_nodes(intervals: Sequence[Interval]) -> int:
    """Return how many nodes the intervals hold."""
    return sum(high - low + 1 for low, high in intervals)
