"""The waiting jobs, in order of (eligible, submit, position in the log)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import overload

import numpy as np

from hpcsim.job import Job
from hpcsim.waiting import NO_JOB, WaitingJobs, pick

_FEW_SLOTS = 16  # up to this number a plain loop is faster than NumPy


class JobQueue(WaitingJobs):
    """A sequence that policies can read and only a `QueueKeeper` can change.

    Jobs may leave from anywhere, also while it is iterated. Those that left leave holes, which are
    closed when the room is used up; so entering and leaving are O(1).
    """

    __slots__ = ("_first", "_jobs", "_limits_s", "_nodes", "_slot")

    def __init__(self) -> None:
        self._jobs: list[Job | None] = []
        self._slot: dict[int, int] = {}
        self._first = 0
        self._nodes = np.zeros(128, dtype=np.int64)
        self._limits_s = np.zeros(128, dtype=np.float64)

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
        return [job for job in self._jobs[self._first :] if job is not None][index]

    def __repr__(self) -> str:
        return f"<queue of {len(self)} jobs: {[job.job_id for job in self[:5]]}{' ...' if len(self) > 5 else ''}>"

    def get(self, row: int) -> Job | None:
        """Return the waiting job of *row*, or None."""
        slot = self._slot.get(row)
        return None if slot is None else self._jobs[slot]

    def candidates(self, free: int, now_s: float, latest_end_s: float, extra: int) -> list[Job]:
        """Return the jobs that a reservation lets start now; see `WaitingJobs`."""
        first, last = self._first, len(self._jobs)
        if last - first > _FEW_SLOTS:
            jobs = self._jobs[first:]
            nodes, limits_s = self._nodes[first:last], self._limits_s[first:last]
            return pick(jobs, nodes, limits_s, free, now_s, latest_end_s, extra)
        return [
            job
            for job in self._jobs[first:]
            if job is not None and job.nodes <= free and (job.nodes <= extra or now_s + job.limit_s <= latest_end_s)
        ]


class QueueKeeper:
    """Lets jobs into a queue and out of it."""

    __slots__ = ("queue",)

    def __init__(self, queue: JobQueue) -> None:
        self.queue = queue

    def append(self, job: Job) -> None:
        """Add an eligible job at the end."""
        queue = self.queue
        slot = len(queue._jobs)
        if slot == len(queue._nodes):
            self._make_room()
            slot = len(queue._jobs)
        queue._slot[job.row] = slot
        queue._jobs.append(job)
        queue._nodes[slot] = job.nodes
        queue._limits_s[slot] = job.limit_s

    def remove(self, row: int) -> None:
        """Take out the job of *row*."""
        queue = self.queue
        slot = queue._slot.pop(row)
        jobs = queue._jobs
        jobs[slot] = None
        queue._nodes[slot] = NO_JOB
        if slot == queue._first:
            slot += 1
            while slot < len(jobs) and jobs[slot] is None:
                slot += 1
            queue._first = slot

    def _make_room(self) -> None:
        """Close the holes if they are many, else double the columns."""
        queue = self.queue
        waiting = len(queue._slot)
        if waiting > len(queue._nodes) // 2:
            queue._nodes = np.concatenate([queue._nodes, np.zeros_like(queue._nodes)])
            queue._limits_s = np.concatenate([queue._limits_s, np.zeros_like(queue._limits_s)])
            return
        alive = np.flatnonzero(queue._nodes != NO_JOB)
        queue._nodes[:waiting] = queue._nodes[alive]
        queue._limits_s[:waiting] = queue._limits_s[alive]
        queue._jobs = [job for job in queue._jobs if job is not None]
        queue._slot = {job.row: slot for slot, job in enumerate(queue._jobs) if job is not None}
        queue._first = 0
