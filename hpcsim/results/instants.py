"""The machine over time, derived from when jobs became eligible, started and ended."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Column = NDArray[Any]


def instants(
    eligible_s: Column, left_s: Column, requested_node_s: Column, start_s: Column, end_s: Column, nodes: Column
) -> dict[str, Column]:
    """Return time, used nodes, queue length and queued node-seconds after each instant with a change.

    Args:
        eligible_s: when each job entered the queue. Shape [jobs].
        left_s: when it left the queue; NaN: it has not. Shape [jobs].
        requested_node_s: nodes x limit of each job, 0 for jobs without a limit. Shape [jobs].
        start_s: of each attempt. Shape [attempts].
        end_s: of each attempt; NaN: it has not ended. Shape [attempts].
        nodes: held by each attempt. Shape [attempts].
    """
    every = np.concatenate([eligible_s, left_s, start_s, end_s])
    times_s = np.unique(every[np.isfinite(every)])
    del every
    used = _level(times_s, start_s, end_s, nodes)
    length = _level(times_s, eligible_s, left_s, np.ones(len(eligible_s)))
    queued = _level(times_s, eligible_s, left_s, requested_node_s)
    is_news = np.ones(len(times_s), dtype=bool)
    is_news[1:] = (used[1:] != used[:-1]) | (length[1:] != length[:-1]) | (queued[1:] != queued[:-1])
    return {
        "time_s": times_s[is_news],
        "used_nodes": used[is_news].astype(np.int32),
        "queue_length": length[is_news].astype(np.int32),
        "queued_node_s": queued[is_news],
    }


def _level(times_s: Column, from_s: Column, to_s: Column, amount: Column) -> Column:
    """Return, at each of *times_s*, the sum of the amounts that are in [from, to)."""
    change = np.zeros(len(times_s))
    for bound_s, sign in ((from_s, 1), (to_s, -1)):
        known = np.isfinite(bound_s)
        at = np.searchsorted(times_s, bound_s[known])
        change += sign * np.bincount(at, weights=amount[known], minlength=len(times_s))
    return np.cumsum(change)
