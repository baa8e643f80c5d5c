"""Who held which nodes when, by a result's tables: no two at once, none outside the machine, as the timeline says."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from hpcsim.node_ids import Interval, count_nodes, parse_intervals

if TYPE_CHECKING:
    import pandas as pd

    from hpcsim.results.result import Result

Column = NDArray[Any]


def occupancy_faults(result: Result, nodes: int) -> Iterator[str]:
    """Yield what is wrong with the nodes that jobs held on a machine of *nodes*."""
    yield from _overlaps(result, nodes)
    yield from _timeline_faults(result)


def _overlaps(result: Result, nodes: int) -> Iterator[str]:
    """Go through starts and ends in order of time, at one instant the ends first, with a mark on each held node."""
    attempts = result.attempts
    job_ids = attempts["job_id"].tolist()
    start_s, end_s = attempts["start_s"].to_numpy(dtype=float), attempts["end_s"].to_numpy(dtype=float)
    held: list[list[Interval]] = []
    for job_id, text, wanted in zip(job_ids, attempts["node_ids"].tolist(), attempts["nodes"].tolist(), strict=True):
        intervals = _read(text)
        if count_nodes(intervals) != wanted:
            yield f"job {job_id} wanted {wanted} nodes and held {text!r}"
        inside = all(0 <= low <= high < nodes for low, high in intervals)
        if not inside:
            yield f"job {job_id} held {text!r}, the machine has nodes 0-{nodes - 1}"
        held.append(intervals if inside else [])
    is_busy = bytearray(nodes)
    for place, is_start in _in_order(start_s, np.where(np.isnan(end_s), np.inf, end_s)):
        for low, high in held[place]:
            if is_start and any(is_busy[low : high + 1]):
                yield f"job {job_ids[place]} started at t = {start_s[place]:g} s on nodes that were held ({low}-{high})"
            is_busy[low : high + 1] = bytes([is_start]) * (high - low + 1)


def _read(text: str) -> list[Interval]:
    """Return the intervals of *text*; none where it is no list of intervals, which then does not count right."""
    try:
        return parse_intervals(text)
    except ValueError:
        return []


def _in_order(start_s: Column, end_s: Column) -> Iterator[tuple[int, bool]]:
    """Yield (attempt, is it the start); attempts that took no time hold nothing."""
    lasting = np.flatnonzero(end_s > start_s)
    times_s = np.concatenate([end_s[lasting], start_s[lasting]])
    is_start = np.repeat([False, True], len(lasting))
    order = np.lexsort((is_start, times_s))
    yield from zip(np.tile(lasting, 2)[order].tolist(), is_start[order].tolist(), strict=True)


def _timeline_faults(result: Result) -> Iterator[str]:
    """Compare the timeline, at each instant at which anything happens, with a count of the intervals around it."""
    jobs, attempts, timeline = result.jobs, result.attempts, result.timeline
    times_s = timeline["time_s"].to_numpy(dtype=float)
    if len(times_s) and not bool(np.all(np.diff(times_s) > 0)):
        yield "the timeline's instants are not in order"
        return
    start_s, end_s = attempts["start_s"].to_numpy(dtype=float), attempts["end_s"].to_numpy(dtype=float)
    eligible_s, left_s = _in_queue(jobs, attempts)
    every_s = np.concatenate([times_s, start_s, end_s, eligible_s, left_s])
    every_s = np.unique(every_s[np.isfinite(every_s)])
    counted = {
        "used_nodes": _held_at(every_s, start_s, end_s, attempts["nodes"].to_numpy()),
        "queue_length": _held_at(every_s, eligible_s, left_s, np.ones(len(eligible_s))),
    }
    step = np.searchsorted(times_s, every_s, side="right")
    for name, expected in counted.items():
        shown = np.concatenate([[0], timeline[name].to_numpy()])[step]
        for at in np.flatnonzero(shown != expected)[:1]:
            yield f"the timeline says {name} = {shown[at]:g} at t = {every_s[at]:g} s, the jobs {expected[at]:g}"


def _in_queue(jobs: pd.DataFrame, attempts: pd.DataFrame) -> tuple[Column, Column]:
    """Return when jobs entered the queue and left it: once more after each attempt that was not the last."""
    never = jobs["start_s"].isna().to_numpy()
    eligible_s = jobs["eligible_s"].to_numpy(dtype=float)
    left_s = np.where(never, jobs["end_s"].to_numpy(dtype=float), jobs["start_s"].to_numpy(dtype=float))
    repeated = attempts[attempts["row"].duplicated(keep=False)]
    firsts = repeated.groupby("row")["start_s"].first()
    is_repeated = jobs["row"].isin(firsts.index).to_numpy()
    left_s[is_repeated] = firsts.reindex(jobs["row"].to_numpy()[is_repeated]).to_numpy()
    next_start_s = repeated.groupby("row")["start_s"].shift(-1)
    again = next_start_s.notna().to_numpy()
    back_s = repeated["end_s"].to_numpy(dtype=float)[again]
    return np.append(eligible_s, back_s), np.append(left_s, next_start_s.to_numpy(dtype=float)[again])


def _held_at(times_s: Column, from_s: Column, to_s: Column, amount: Column) -> Column:
    """Return, at each of *times_s*, the sum of the amounts that are in [from, to); NaN ends never."""
    begun = _summed_until(times_s, from_s, amount)
    ended = _summed_until(times_s, np.where(np.isnan(to_s), np.inf, to_s), amount)
    return begun - ended


def _summed_until(times_s: Column, at_s: Column, amount: Column) -> Column:
    order = np.argsort(at_s, kind="stable")
    sums = np.concatenate([[0.0], np.cumsum(amount[order].astype(float))])
    return sums[np.searchsorted(at_s[order], times_s, side="right")]
