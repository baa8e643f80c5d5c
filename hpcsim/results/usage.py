"""Which nodes were held when, where that is more than a job's own node count: rounded up, or shared."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from hpcsim.engine.columns import RunColumns

Column = NDArray[Any]


def held_nodes(columns: RunColumns) -> Column:
    """Return how many nodes each attempt held. Shape [attempts]."""
    lows, highs = np.frombuffer(columns.lows, dtype=np.int64), np.frombuffer(columns.highs, dtype=np.int64)
    sizes = highs - np.where(lows < 0, -1 - lows, lows) + 1
    firsts = np.flatnonzero(lows >= 0)
    return np.add.reduceat(sizes, firsts) if len(firsts) else np.zeros(0, dtype=np.int64)


def busy_spans(columns: RunColumns, start_s: Column, end_s: Column) -> tuple[Column, Column, Column]:
    """Return spans in which nodes were held, each node once however many jobs share it.

    Args:
        columns: of the run.
        start_s: of each attempt. Shape [attempts].
        end_s: of each attempt; NaN: it has not ended. Shape [attempts].

    Returns:
        From, to and node count of each span, as `hpcsim.results.instants.instants` takes them.
    """
    lows, highs = np.frombuffer(columns.lows, dtype=np.int64), np.frombuffer(columns.highs, dtype=np.int64)
    attempt_of = np.cumsum(lows >= 0) - 1
    sizes = highs - np.where(lows < 0, -1 - lows, lows) + 1
    attempt = np.repeat(attempt_of, sizes)
    offsets = np.arange(sizes.sum()) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    node = np.repeat(np.where(lows < 0, -1 - lows, lows), sizes) + offsets
    order = np.lexsort((start_s[attempt], node))
    node, from_s, to_s = node[order], start_s[attempt][order], np.nan_to_num(end_s[attempt][order], nan=np.inf)
    merged_from, merged_to = list[float](), list[float]()
    last_node, last_s = -1, -np.inf
    for at, begin_s, finish_s in zip(node.tolist(), from_s.tolist(), to_s.tolist(), strict=True):
        if at == last_node and begin_s <= last_s:
            last_s = merged_to[-1] = max(last_s, finish_s)
        else:
            merged_from.append(begin_s)
            merged_to.append(finish_s)
            last_node, last_s = at, finish_s
    ends = np.array(merged_to, dtype=np.float64)
    ends[np.isinf(ends)] = np.nan
    return np.array(merged_from, dtype=np.float64), ends, np.ones(len(ends))
