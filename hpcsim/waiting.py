"""Waiting jobs in order, with their nodes and limits in NumPy columns beside them.

A pass over a deep queue can then test all its candidates at once. `System.queue` is a
`WaitingJobs` in order of arrival; a `SortedQueue` is one in the key order of a policy.
"""

from __future__ import annotations

from abc import abstractmethod
from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, overload

import numpy as np
from numpy.typing import NDArray

from hpcsim.job import Job, JobOutcome
from hpcsim.listener import Listener

if TYPE_CHECKING:
    from hpcsim.system import System

Key = tuple[Any, int]

NO_JOB = np.iinfo(np.int64).max
"""Nodes of a slot whose job has left: more than any machine has."""

_FEW = 16  # candidates up to this number are judged one by one


class WaitingJobs(Sequence[Job]):
    """A sequence of waiting jobs that finds candidates for backfilling quickly."""

    __slots__ = ()

    @abstractmethod
    def candidates(self, free: int, now_s: float, latest_end_s: float, extra: int) -> list[Job]:
        """Return, in order, the jobs that a reservation lets start now.

        They want at most *free* nodes, and either end by *latest_end_s* by their limits or want at
        most *extra* nodes. Each is judged as if it were alone.
        """


def pick(
    jobs: Sequence[Job | None],
    nodes: NDArray[np.int64],
    limits_s: NDArray[np.float64],
    free: int,
    now_s: float,
    latest_end_s: float,
    extra: int,
) -> list[Job]:
    """Return `WaitingJobs.candidates` out of columns of one length; empty slots want `NO_JOB` nodes."""
    slots = (nodes <= free).nonzero()[0].tolist()
    if len(slots) > _FEW:
        slots = ((nodes <= free) & ((limits_s + now_s <= latest_end_s) | (nodes <= extra))).nonzero()[0].tolist()
    return [
        job
        for slot in slots
        if (job := jobs[slot]) is not None and (job.nodes <= extra or now_s + job.limit_s <= latest_end_s)
    ]


class SortedQueue(WaitingJobs, Listener):
    """Waiting jobs by a key computed once, at arrival: smallest first, equal keys as they arrived."""

    def __init__(self, key: Callable[[Job, System], Any]) -> None:
        self._key = key
        self._jobs: list[Job] = []
        self._keys: list[Key] = []
        self._key_of: dict[int, Key] = {}
        self._arrivals = 0
        self._nodes = np.zeros(64, dtype=np.int64)
        self._limits_s = np.zeros(64, dtype=np.float64)

    def __len__(self) -> int:
        return len(self._jobs)

    def __iter__(self) -> Iterator[Job]:
        jobs, at = self._jobs, 0
        while at < len(jobs):
            job = jobs[at]
            yield job
            if at < len(jobs) and jobs[at] is job:
                at += 1

    @overload
    def __getitem__(self, index: int) -> Job: ...
    @overload
    def __getitem__(self, index: slice) -> list[Job]: ...
    def __getitem__(self, index: int | slice) -> Job | list[Job]:
        return self._jobs[index]

    def candidates(self, free: int, now_s: float, latest_end_s: float, extra: int) -> list[Job]:
        """Return the jobs that a reservation lets start now; see `WaitingJobs`."""
        count = len(self._jobs)
        return pick(self._jobs, self._nodes[:count], self._limits_s[:count], free, now_s, latest_end_s, extra)

    def position(self, job: Job) -> int:
        """Return the place of a waiting job, counted from 0."""
        return bisect_left(self._keys, self._key_of[job.row])

    def on_submit(self, job: Job, system: System) -> None:
        """Put the job in its place."""
        self._arrivals += 1
        entry = (self._key(job, system), self._arrivals)
        self._key_of[job.row] = entry
        at = bisect_left(self._keys, entry)
        count = len(self._jobs)
        if count == len(self._nodes):
            self._nodes = np.concatenate([self._nodes, np.zeros_like(self._nodes)])
            self._limits_s = np.concatenate([self._limits_s, np.zeros_like(self._limits_s)])
        if at < count:
            self._nodes[at + 1 : count + 1] = self._nodes[at:count]
            self._limits_s[at + 1 : count + 1] = self._limits_s[at:count]
        self._keys.insert(at, entry)
        self._jobs.insert(at, job)
        self._nodes[at] = job.nodes
        self._limits_s[at] = job.limit_s

    def on_start(self, job: Job, node_ids: str, system: System) -> None:
        """Take the job out."""
        self._remove(job)

    def on_end(self, job: Job, outcome: JobOutcome, system: System) -> None:
        """Take out a job that was rejected or cancelled while it waited."""
        if job.row in self._key_of:
            self._remove(job)

    def on_change(self, old: Job, new: Job, system: System) -> None:
        """Put a changed job in its new place."""
        self._remove(old)
        self.on_submit(new, system)

    def _remove(self, job: Job) -> None:
        at = bisect_left(self._keys, self._key_of.pop(job.row))
        del self._keys[at]
        del self._jobs[at]
        count = len(self._jobs)
        if at < count:
            self._nodes[at:count] = self._nodes[at + 1 : count + 1]
            self._limits_s[at:count] = self._limits_s[at + 1 : count + 1]
