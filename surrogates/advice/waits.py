"""How long would a job wait at each node count, if the jobs before it were started in their order?"""

from __future__ import annotations

import math
from bisect import bisect_left
from itertools import islice

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hpcsim.job import Job
from hpcsim.system import System

Floats = NDArray[np.float64]

DEPTH = 40
"""Waiting jobs that are planned one by one; the node-seconds of those behind them are spread over the machine."""


class PlannedQueue:
    """The profile of free nodes with the waiting jobs planned in it, kept while nothing but arrivals happens."""

    def __init__(self, depth: int = DEPTH) -> None:
        self._depth = depth
        self._known: tuple[float, int, int, Job | None, Job | None] | None = None
        self._steps: Floats = np.zeros(0)
        self._free: NDArray[np.int64] = np.zeros(0, dtype=np.int64)
        self._behind_s = 0.0

    def waits_s(self, system: System, nodes: ArrayLike, limits_s: ArrayLike) -> Floats:
        """Return the wait in seconds of a job that arrives now, at each of *nodes* with that limit; ``inf``: never."""
        queue = system.queue
        first = queue[0] if len(queue) else None
        state = (system.now_s, system.ends_seen, len(queue), first, queue[len(queue) - 1] if len(queue) else None)
        if state != self._known:
            self._plan(system)
            self._known = state
        starts = _all_earliest_s(self._steps, self._free, np.asarray(nodes), np.asarray(limits_s, dtype=np.float64))
        return starts - system.now_s + self._behind_s

    def _plan(self, system: System) -> None:
        profile, queue = system.profile(), system.queue
        times, free = profile.times, profile.free
        for job in islice(queue, self._depth):
            _take(times, free, job.nodes, job.limit_s, system.now_s)
        self._steps, self._free = np.array(times, dtype=np.float64), np.array(free)
        behind = islice(queue, self._depth, None) if len(queue) > self._depth else ()
        self._behind_s = math.fsum(job.area_node_s for job in behind if job.limit_s < math.inf) / system.cluster.nodes


def _all_earliest_s(steps: Floats, free: NDArray[np.int64], nodes: NDArray[np.int64], lengths_s: Floats) -> Floats:
    """Return when each of N jobs could start, where the first of S steps begins now: shape [N]; ``inf``: never.

    A job may begin with a step if that and all that begin before it would end have enough free nodes.
    """
    is_short = free < nodes[:, None]
    next_short_s = np.minimum.accumulate(np.where(is_short, steps, math.inf)[:, ::-1], axis=1)[:, ::-1]
    fits = ~is_short & (next_short_s >= steps + lengths_s[:, None])
    first = fits.argmax(axis=1)
    found: Floats = np.where(fits[np.arange(len(nodes)), first], steps[first], math.inf)
    return found


def _earliest_s(times: list[float], free: list[int], nodes: int, length_s: float, now_s: float) -> float:
    """Return what `Profile.earliest_s` does, for steps that begin now: the same in a third of the time."""
    step, last = 0, len(times) - 1
    start_s, end_s = now_s, now_s + length_s
    while step <= last and times[step] < end_s:
        if free[step] < nodes:
            if step == last:
                return math.inf
            start_s = times[step + 1]
            end_s = start_s + length_s
        step += 1
    return start_s


def _take(times: list[float], free: list[int], nodes: int, length_s: float, now_s: float) -> None:
    """Claim *nodes* for *length_s* from their earliest fit on; nothing where they never fit."""
    start_s = _earliest_s(times, free, nodes, length_s, now_s)
    if start_s == math.inf:
        return
    first = _step_at(times, free, start_s)
    last = _step_at(times, free, start_s + length_s) if length_s < math.inf else len(times)
    for step in range(first, last):
        free[step] -= nodes


def _step_at(times: list[float], free: list[int], time_s: float) -> int:
    """Return the step that begins at *time_s*, made if need be; it is not before the first one."""
    step = bisect_left(times, time_s)
    if step == len(times) or times[step] != time_s:
        times.insert(step, time_s)
        free.insert(step, free[step - 1])
    return step
