"""Waiting jobs kept in key order, with their nodes and planned limits in NumPy columns.

A pass over a deep queue then tests all its candidates at once. An arrival costs one binary search.
"""

from __future__ import annotations

from bisect import bisect_left
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hpcsim.job import Job

Key = tuple[Any, int]


class WaitingTable:
    """A sorted table of waiting jobs; equal keys stand in order of arrival."""

    def __init__(self) -> None:
        self.jobs: list[Job] = []
        self._keys: list[Key] = []
        self._key_of: dict[int, Key] = {}
        self._arrivals = 0
        self._nodes = np.zeros(64, dtype=np.int64)
        self._limits_s = np.zeros(64, dtype=np.float64)

    def __len__(self) -> int:
        return len(self.jobs)

    @property
    def nodes(self) -> NDArray[np.int64]:
        """Nodes of each waiting job, in key order. Shape [len]. Valid until the next change."""
        return self._nodes[: len(self.jobs)]

    @property
    def limits_s(self) -> NDArray[np.float64]:
        """Planned run time of each waiting job, in key order. Shape [len]. Valid until the next change."""
        return self._limits_s[: len(self.jobs)]

    def add(self, job: Job, key: Any, limit_s: float) -> int:
        """Insert *job*; return its position."""
        self._arrivals += 1
        entry = (key, self._arrivals)
        count = len(self.jobs)
        if count == len(self._nodes):
            self._grow()
        if count and entry < self._keys[-1]:
            at = bisect_left(self._keys, entry)
            self._nodes[at + 1 : count + 1] = self._nodes[at:count]
            self._limits_s[at + 1 : count + 1] = self._limits_s[at:count]
        else:
            at = count
        self._keys.insert(at, entry)
        self.jobs.insert(at, job)
        self._key_of[job.row] = entry
        self._nodes[at] = job.nodes
        self._limits_s[at] = limit_s
        return at

    def remove(self, job: Job) -> bool:
        """Take *job* out; return whether it was there."""
        entry = self._key_of.pop(job.row, None)
        if entry is None:
            return False
        at = bisect_left(self._keys, entry)
        del self._keys[at]
        del self.jobs[at]
        count = len(self.jobs)
        if at < count:
            self._nodes[at:count] = self._nodes[at + 1 : count + 1]
            self._limits_s[at:count] = self._limits_s[at + 1 : count + 1]
        return True

    def leading(self, free: int) -> list[Job]:
        """Return the longest run of jobs, from the first on, whose nodes together are within *free*."""
        count = 0
        for job in self.jobs:
            free -= job.nodes
            if free < 0:
                break
            count += 1
        return self.jobs[:count]

    def position(self, job: Job) -> int:
        """Return the position of a waiting job."""
        return bisect_left(self._keys, self._key_of[job.row])

    def _grow(self) -> None:
        self._nodes = np.concatenate([self._nodes, np.zeros_like(self._nodes)])
        self._limits_s = np.concatenate([self._limits_s, np.zeros_like(self._limits_s)])
