"""Attempts after which a job waited again: when they ended, what they cost, and how long the job queued in all."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hpcsim.engine.columns import RunColumns
from hpcsim.results.usage import held_nodes

Column = NDArray[Any]
NEVER = np.array([np.nan])


def attempt_ends_s(columns: RunColumns) -> Column:
    """Return when each attempt ended, NaN where it has not. Shape [attempts]."""
    ends_s = np.array(np.frombuffer(columns.ended_s)[np.frombuffer(columns.attempt_row, dtype=np.int64)])
    for attempt, lost in columns.lost.items():
        ends_s[attempt] = lost.end_s
    return ends_s


def attempt_codes(columns: RunColumns) -> Column:
    """Return how each attempt ended, an index into the engine's states. Shape [attempts]."""
    rows = np.frombuffer(columns.attempt_row, dtype=np.int64)
    codes = np.array(np.frombuffer(columns.state, dtype=np.uint8)[rows])
    for attempt, lost in columns.lost.items():
        codes[attempt] = lost.code
    return codes


def lost_node_s(columns: RunColumns, rows: int) -> Column:
    """Return the node-seconds of the lost attempts of each of *rows* jobs. Shape [rows]."""
    total = np.zeros(rows)
    if columns.lost:
        nodes = held_nodes(columns)
        for attempt, lost in columns.lost.items():
            length_s = lost.end_s - columns.attempt_start_s[attempt]
            total[columns.attempt_row[attempt]] += nodes[attempt] * length_s
    return total


def queue_spans(columns: RunColumns, rows: Column, area_node_s: Column) -> tuple[Column, Column, Column]:
    """Return when jobs entered the queue and left it, and their requested node-seconds meanwhile.

    One entry for each of *rows*, of which *area_node_s* is what its last attempt asked for, and one more
    for each lost attempt. NaN: it has not left.
    """
    last = columns.attempt_of()[rows]
    starts_s = np.concatenate([np.frombuffer(columns.attempt_start_s), NEVER])
    entered_s = np.array(np.frombuffer(columns.eligible_s)[rows])
    left_s = np.where(last < 0, np.frombuffer(columns.ended_s)[rows], starts_s[last])
    if not columns.lost:
        return entered_s, left_s, area_node_s
    area_node_s = np.array(area_node_s, dtype=np.float64)
    place = {row: at for at, row in enumerate(rows.tolist())}
    more: list[tuple[float, float, float]] = []
    for row, attempts in _attempts_of_lost(columns).items():
        at = place[row]
        final = left_s[at] if attempts[-1] not in columns.lost else np.frombuffer(columns.ended_s)[row]
        for one, two in pairwise(attempts):
            asked_node_s = columns.lost[two].area_node_s if two in columns.lost else area_node_s[at]
            more.append((columns.lost[one].end_s, starts_s[two], asked_node_s))
        if attempts[-1] in columns.lost:
            more.append((columns.lost[attempts[-1]].end_s, final, area_node_s[at]))
        left_s[at], area_node_s[at] = starts_s[attempts[0]], columns.lost[attempts[0]].area_node_s
    entered, left, area = (np.array(column, dtype=np.float64) for column in zip(*more, strict=True))
    return np.append(entered_s, entered), np.append(left_s, left), np.append(area_node_s, area)


def _attempts_of_lost(columns: RunColumns) -> dict[int, list[int]]:
    """Return the attempts, in order, of each job that lost one."""
    rows = {columns.attempt_row[attempt] for attempt in columns.lost}
    found: dict[int, list[int]] = {}
    for attempt, row in enumerate(columns.attempt_row):
        if row in rows:
            found.setdefault(row, []).append(attempt)
    return found
