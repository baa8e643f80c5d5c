"""The waiting jobs, in order of (eligible, submit, position in the log)."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import overload

import numpy as np

from hpcsim.job import Job
from hpcsim.waiting import FEW_SLOTS, NO_JOB, QueueColumns, WaitingJobs, choose_among, choose_by_columns

_MOST_LEFT = 1024  # slots of jobs that left from the front, before they are given up


class JobQueue(WaitingJobs):
    """A sequence that policies can read and only a `QueueKeeper` can change.

    Jobs may leave from anywhere, also while it is iterated. Those that left leave holes, which are
    closed when they are many; so entering and leaving are O(1). NumPy columns are kept only while
    the queue is deep: the first `_known` slots are in them.
    """

    __slots__ = ("_first", "_jobs", "_known", "_limits_s", "_nodes", "_slot")

    def __init__(self) -> None:
        self._jobs: list[Job | None] = []
        self._slot: dict[int, int] = {}
        self._first = 0
        self._known = 0
        self._nodes = np.zeros(0, dtype=np.int64)
        self._limits_s = np.zeros(0, dtype=np.float64)

    def __len__(self) -> int:
        return len(self._slot)

    def __bool__(self) -> bool:
        return bool(self._slot)

    def __iter__(self) -> Iterator[Job]:
        jobs = self._jobs
        slot = self._first
        while slot < len(jobs):
            job = jobs[slot]
            slot += 1
            if job is not None:
                yield job

    def __contains__(self, job: object) -> bool:
        return isinstance(job, Job) and self.get(job.row) == job

    @overload
    def __getitem__(self, index: int) -> Job: ...
    @overload
    def __getitem__(self, index: slice) -> list[Job]: ...
    def __getitem__(self, index: int | slice) -> Job | list[Job]:
        if index == 0 and self._slot:
            return self._jobs[self._first]  # type: ignore[return-value]
        if isinstance(index, slice):
            start, stop, stride = index.indices(len(self._slot))
            return list(islice(self, start, stop)) if stride == 1 else list(self)[index]
        at = index + len(self._slot) if index < 0 else index
        if not 0 <= at < len(self._slot):
            raise IndexError(f"the queue holds {len(self._slot)} jobs, none at {index}")
        has_no_holes = len(self._jobs) - self._first == len(self._slot)
        return self._jobs[self._first + at] if has_no_holes else next(islice(self, at, None))  # type: ignore[return-value]

    def __repr__(self) -> str:
        return f"<queue of {len(self)} jobs: {[job.job_id for job in self[:5]]}{' ...' if len(self) > 5 else ''}>"

    def get(self, row: int) -> Job | None:
        """Return the waiting job of *row*, or None."""
        slot = self._slot.get(row)
        return None if slot is None else self._jobs[slot]

    def choose(self, free: int, now_s: float, latest_end_s: float, extra: int) -> tuple[list[Job], int]:
        """Return the jobs that start now beside a reservation; see `WaitingJobs`."""
        jobs, first = self._jobs, self._first
        if len(jobs) - first <= FEW_SLOTS:
            return choose_among(jobs[first:], free, now_s, latest_end_s, extra)
        self._learn()
        last = len(jobs)
        columns = QueueColumns(jobs, self._nodes[:last], self._limits_s[:last], first)
        return choose_by_columns(columns, free, now_s, latest_end_s, extra)

    def no_wider(self, nodes: int) -> list[Job]:
        """Return, in order, the jobs that ask for no more than *nodes* nodes."""
        self._learn()
        slots = (self._nodes[self._first : len(self._jobs)] <= nodes).nonzero()[0] + self._first
        return [self._jobs[slot] for slot in slots.tolist()]  # type: ignore[misc]

    def _learn(self) -> None:
        """Bring the columns up to date with the slots that were filled since the last time."""
        known, last = self._known, len(self._jobs)
        if last > len(self._nodes):
            self._nodes = np.concatenate([self._nodes[:known], np.zeros(2 * last - known, dtype=np.int64)])
            self._limits_s = np.concatenate([self._limits_s[:known], np.zeros(2 * last - known)])
        new = self._jobs[known:]
        self._nodes[known:last] = [NO_JOB if job is None else job.nodes for job in new]
        self._limits_s[known:last] = [0 if job is None else job.limit_s for job in new]
        self._known = last


class QueueKeeper:
    """Lets jobs into a queue and out of it."""

    __slots__ = ("queue",)

    def __init__(self, queue: JobQueue) -> None:
        self.queue = queue

    def append(self, job: Job) -> None:
        """Add an eligible job at the end."""
        queue = self.queue
        if len(queue._jobs) - queue._first > 2 * len(queue._slot) + 16 or queue._first > _MOST_LEFT:
            self._close_holes()
        queue._slot[job.row] = len(queue._jobs)
        queue._jobs.append(job)

    def replace(self, job: Job) -> None:
        """Put *job* into the place of the waiting job of its row."""
        queue = self.queue
        slot = queue._slot[job.row]
        queue._jobs[slot] = job
        if slot < queue._known:
            queue._nodes[slot], queue._limits_s[slot] = job.nodes, job.limit_s

    def remove(self, row: int) -> None:
        """Take out the job of *row*."""
        queue = self.queue
        slot = queue._slot.pop(row)
        jobs = queue._jobs
        jobs[slot] = None
        if slot < queue._known:
            queue._nodes[slot] = NO_JOB
        if slot == queue._first:
            slot += 1
            while slot < len(jobs) and jobs[slot] is None:
                slot += 1
            queue._first = slot

    def _close_holes(self) -> None:
        queue = self.queue
        queue._jobs = [job for job in queue._jobs if job is not None]
        queue._slot = {job.row: slot for slot, job in enumerate(queue._jobs) if job is not None}
        queue._first = queue._known = 0
