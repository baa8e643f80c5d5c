"""Free nodes over future time: when does a job fit, and what is left beside it? Pure, no engine.

A `Profile` starts from the nodes free now and the planned ends of running jobs. Backfilling asks it
for the head's shadow time; reserving policies claim capacity in it and ask for earliest fits.
"""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from typing import NamedTuple

Release = tuple[float, int, int]
"""A planned end: (time in seconds, row of the job, nodes that come free)."""


class Shadow(NamedTuple):
    """When a blocked job can start by planned ends, and how many nodes are left beside it then."""

    start_s: float
    extra: int


def first_fit(now_s: float, free: int, releases: Sequence[Release], nodes: int) -> Shadow:
    """Return when *nodes* are free, with *free* now and *releases* to come, sorted by time.

    Every job due to end by that instant counts as ended. Without such an instant: ``Shadow(inf, 0)``.
    """
    if free >= nodes:
        return Shadow(now_s, free - nodes)
    shadow_s = math.inf
    for end_s, _, released in releases:
        if free >= nodes and end_s > shadow_s:
            break
        free += released
        shadow_s = end_s
    return Shadow(shadow_s, free - nodes) if free >= nodes and shadow_s < math.inf else Shadow(math.inf, 0)


class Profile:
    """Free nodes as steps: `free[i]` nodes from `times[i]` until `times[i + 1]`, the last for ever.

    Steps are built when first needed; `shadow` alone needs none. Times before the first step belong
    to it.
    """

    __slots__ = ("_free", "_merge_at", "_releases", "_times", "free_now", "now_s")

    def __init__(self, now_s: float, free: int, releases: Sequence[Release] = ()) -> None:
        """Take *releases* sorted by time, none before *now_s*; those at ``inf`` never come free."""
        self.now_s = now_s
        self.free_now = free
        self._releases = releases
        self._times: list[float] = []
        self._free: list[int] = []
        self._merge_at = 32

    @property
    def releases(self) -> Sequence[Release]:
        """The planned ends that it was made of."""
        return self._releases

    @property
    def times(self) -> list[float]:
        """Instants at which the number of free nodes changes; the first is the profile's start."""
        self._build()
        return self._times

    @property
    def free(self) -> list[int]:
        """Free nodes from each instant of `times` on."""
        self._build()
        return self._free

    def shadow(self, nodes: int) -> Shadow:
        """Return when *nodes* come free by the releases alone: claims made by `take` are not seen."""
        return first_fit(self.now_s, self.free_now, self._releases, nodes)

    def earliest_s(self, nodes: int, length_s: float, from_s: float | None = None) -> float:
        """Return the first instant, *from_s* (default: now) or later, with *nodes* free for *length_s*.

        ``inf`` if there is none.
        """
        self._build()
        times, free = self._times, self._free
        start_s = self.now_s if from_s is None else from_s
        step = max(bisect_right(times, start_s) - 1, 0)
        end_s = start_s + length_s
        while step < len(times) and times[step] < end_s:
            if free[step] < nodes:
                if step + 1 == len(times):
                    return math.inf
                start_s = times[step + 1]
                end_s = start_s + length_s
            step += 1
        return start_s

    def earliest_before_s(self, nodes: int, length_s: float, before_s: float) -> float:
        """Return the first start before *before_s* for a job whose own claim begins there, else *before_s*.

        The claim itself is not in its way: only the steps up to *before_s* must have room. The
        profile must begin now: see `forget_before`.
        """
        if not self._times:
            self._build()
        heights = self._free[: bisect_left(self._times, before_s)]
        if not heights or max(heights) < nodes:
            return before_s
        start_s, fits = self.now_s, True
        end_s = start_s + length_s
        for time_s, height in zip(self._times, heights, strict=False):
            if fits:
                if time_s >= end_s:
                    return start_s
                if height < nodes:
                    fits = False
            elif height >= nodes:
                start_s, end_s, fits = time_s, time_s + length_s, True
        return start_s if fits else before_s

    def move(self, start_s: float, length_s: float, to_s: float, nodes: int) -> None:
        """Move a claim of *nodes* for *length_s* from *start_s* to an earlier start *to_s*; ``inf``: it had none."""
        end_s, to_end_s = start_s + length_s, to_s + length_s
        if end_s == math.inf:
            self.take(to_s, min(to_end_s, start_s), nodes)
            return
        if not self._times:
            self._build()
        free = self._free
        first, last = self._cut(to_s), self._cut(min(to_end_s, start_s))
        free[first:last] = [height - nodes for height in free[first:last]]
        first, last = self._cut(max(to_end_s, start_s)), self._cut(end_s)
        free[first:last] = [height + nodes for height in free[first:last]]

    def least_free(self, start_s: float, end_s: float) -> int:
        """Return the smallest number of free nodes in [*start_s*, *end_s*)."""
        self._build()
        first = max(bisect_right(self._times, start_s) - 1, 0)
        last = max(bisect_left(self._times, end_s), first + 1)
        return min(self._free[first:last])

    def take(self, start_s: float, end_s: float, nodes: int) -> None:
        """Claim *nodes* in [*start_s*, *end_s*); a negative number gives them back."""
        if start_s >= end_s:
            return
        if not self._times:
            self._build()
        first = self._cut(start_s)
        last = self._cut(end_s) if end_s < math.inf else len(self._times)
        free = self._free
        free[first:last] = [height - nodes for height in free[first:last]]

    def forget_before(self, now_s: float) -> None:
        """Drop the past: saves time, changes no answer from *now_s* on."""
        self._build()
        first = max(bisect_right(self._times, now_s) - 1, 0)
        del self._times[:first], self._free[:first]
        self.now_s, self.free_now = now_s, self._free[0]
        if len(self._times) > self._merge_at:
            self._merge()

    def _merge(self) -> None:
        """Join neighbouring steps of equal height."""
        times, free = self._times[:1], self._free[:1]
        for time_s, height in zip(self._times, self._free, strict=True):
            if height != free[-1]:
                times.append(time_s)
                free.append(height)
        self._times, self._free = times, free
        self._merge_at = len(times) + len(times) // 4 + 8

    def _cut(self, time_s: float) -> int:
        """Return the index of the step that begins at *time_s*, made if need be."""
        times = self._times
        step = bisect_left(times, time_s)
        if step == len(times) or times[step] != time_s:
            if step == 0:
                times.insert(0, time_s)
                self._free.insert(0, self._free[0])
            else:
                times.insert(step, time_s)
                self._free.insert(step, self._free[step - 1])
        return step

    def _build(self) -> None:
        """Turn the releases into steps, once."""
        if self._times:
            return
        free = self.free_now
        self._times, self._free = [self.now_s], [free]
        for end_s, _, released in self._releases:
            if end_s == math.inf:
                break
            free += released
            if end_s == self._times[-1]:
                self._free[-1] = free
            else:
                self._times.append(end_s)
                self._free.append(free)
