"""Who was passed over? Backfilled jobs, and the seconds that others lost to later-submitted ones.

"Earlier" and "later" are by place in the queue: submit time, ties by row. Both measures take
O(n log n) whole-column steps.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    import pandas as pd

Values = NDArray[Any]


def is_backfilled(jobs: pd.DataFrame) -> Values:
    """Tell of each job whether it started while an earlier-submitted one waited, and went on waiting.

    Shape: one boolean a row of *jobs*.
    """
    order = _queue_order(jobs)
    start_s = jobs["start_s"].to_numpy()[order]
    left_s = _left_queue_s(jobs, np.inf)[order]
    waits_until_s = np.concatenate([[-np.inf], np.maximum.accumulate(left_s)[:-1]])[: len(order)]
    backfilled = np.empty(len(order), dtype=bool)
    backfilled[order] = waits_until_s > start_s
    return backfilled


def overtaken_s(jobs: pd.DataFrame, timeline: pd.DataFrame, nodes: int) -> Values:
    """Return the seconds for which each job waited after it could have started in place of later ones.

    They run from the first instant at which the job waited, later-submitted jobs started, and the
    job would have fit had those not started (its nodes <= the nodes free after that instant and
    those that they took), to its own start, or to its leaving the queue unstarted. 0 where there is
    no such instant. Shape: one value a row of *jobs*; *nodes* is the machine's size.
    """
    order = _queue_order(jobs)
    last_s = float(timeline["time_s"].iloc[-1]) if len(timeline) else 0.0
    start_s, left_s = jobs["start_s"].to_numpy()[order], _left_queue_s(jobs, last_s)[order]
    involved = np.flatnonzero(_is_passed(start_s, left_s) | is_backfilled(jobs)[order])
    order, start_s, left_s = order[involved], start_s[involved], left_s[involved]
    wanted = jobs["nodes"].to_numpy()[order].astype(np.int64)
    held = np.where(jobs["run_s"].to_numpy()[order] == 0, 0, wanted)
    passed_s = _first_passed_s(start_s, wanted, _room(start_s, held, timeline, nodes))
    overtaken = np.zeros(len(jobs))
    overtaken[order] = left_s - np.minimum(passed_s, left_s)
    return overtaken


def _is_passed(start_s: Values, left_s: Values) -> Values:
    """Tell of each place in the queue whether anything behind it started before it left."""
    starts_s = np.concatenate([np.where(np.isnan(start_s), np.inf, start_s)[1:], [np.inf]])[: len(start_s)]
    earliest_s: Values = np.minimum.accumulate(starts_s[::-1])[::-1]
    passed: Values = earliest_s < left_s
    return passed


def _queue_order(jobs: pd.DataFrame) -> Values:
    return np.argsort(jobs["submit_s"].to_numpy(), kind="stable")


def _left_queue_s(jobs: pd.DataFrame, open_s: float) -> Values:
    """Return when each job left the queue: its start, else its end, else *open_s*."""
    start_s, end_s = jobs["start_s"].to_numpy(), jobs["end_s"].to_numpy()
    return np.where(np.isnan(start_s), np.where(np.isnan(end_s), open_s, end_s), start_s)


def _room(start_s: Values, held: Values, timeline: pd.DataFrame, nodes: int) -> Values:
    """Return, for the start of each job, the nodes free had it and those behind it not started then.

    The arrays are in queue order; *held* are the nodes that a start takes beyond its own instant.
    """
    instant = np.searchsorted(timeline["time_s"].to_numpy(), start_s, side="right") - 1
    free = nodes - timeline["used_nodes"].to_numpy()[instant] if len(timeline) else np.zeros(len(start_s), dtype=int)
    by_start = np.lexsort((-np.arange(len(start_s)), start_s))
    taken = np.cumsum(held[by_start])
    is_first = np.concatenate([[True], np.diff(start_s[by_start]) != 0])[: len(by_start)]
    before = (taken - held[by_start])[is_first][np.cumsum(is_first) - 1]
    together = np.empty(len(start_s), dtype=np.int64)
    together[by_start] = taken - before
    return np.where(np.isnan(start_s), -1, free + together)


def _first_passed_s(start_s: Values, wanted: Values, room: Values) -> Values:
    """Return, for each place in the queue, the first start behind it that left room for it; ``inf`` without one.

    A minimum over the later places with ``room >= wanted``, for all places at once: the places are
    halved again and again, and at each level all left halves ask their right ones, in order of room.
    """
    count = len(start_s)
    levels = max(1, (count - 1).bit_length()) if count else 0
    size = 1 << levels
    instants, rank = np.unique(np.where(np.isnan(start_s), np.inf, start_s), return_inverse=True)
    never = len(instants)
    best = np.full(count, never, dtype=np.int64)
    # Offers (room of a start) come before demands (nodes wanted) of the same size: room >= wanted suffices.
    place = np.tile(np.arange(count), 2)
    is_offer = np.repeat([True, False], count)
    order = np.lexsort((~is_offer, -np.concatenate([room, wanted])))
    place, is_offer = place[order], is_offer[order]
    for level in range(levels):
        half = size >> (level + 1)
        block, is_right = place // (2 * half), (place // half) % 2 == 1
        offered = np.where(is_offer & is_right, rank[place], never)
        earliest = np.minimum.accumulate(offered - block * (never + 1)) + block * (never + 1)
        asks = ~is_offer & ~is_right
        best[place[asks]] = np.minimum(best[place[asks]], earliest[asks])
        order = _split(block, is_right, 2 * half)
        place, is_offer = place[order], is_offer[order]
    return np.concatenate([instants, [np.inf]])[best]


def _split(block: Values, is_right: Values, half: int) -> Values:
    """Return the order that puts the left half of each block before its right one, otherwise unchanged.

    Blocks stand in order and all but the last have *half* entries on either side.
    """
    rights = np.cumsum(is_right)
    lefts = np.arange(1, len(is_right) + 1) - rights
    target = np.where(is_right, half + rights, lefts) - 1 + block * half
    order = np.empty(len(target), dtype=np.int64)
    order[target] = np.arange(len(target))
    return order
