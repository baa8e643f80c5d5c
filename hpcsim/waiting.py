"""Waiting jobs in order, with their nodes and limits in NumPy columns beside them.

A pass over a deep queue can then test all its candidates at once. `System.queue` is a
`WaitingJobs` in order of arrival; a `SortedQueue` is one in the key order of a policy.
"""

from __future__ import annotations

from abc import abstractmethod
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, overload

import numpy as np
from numpy.typing import NDArray

from hpcsim.job import Job
from hpcsim.listener import Listener

if TYPE_CHECKING:
    from hpcsim.system import System

Key = tuple[Any, int]

NO_JOB = np.iinfo(np.int64).max
"""Nodes of a slot whose job has left: more than any machine has."""

FEW_SLOTS = 256
"""Queues up to this length are scanned one by one: NumPy pays only beyond."""

_FEW = 32  # candidates that are tried one by one before the columns are asked again


class QueueColumns(NamedTuple):
    """Waiting jobs by slot from *first* on (None: has left), with their nodes and limits beside them."""

    jobs: Sequence[Job | None]
    nodes: NDArray[np.int64]
    limits_s: NDArray[np.float64]
    first: int


class WaitingJobs(Sequence[Job]):
    """A sequence of waiting jobs that finds those which a reservation lets start."""

    __slots__ = ()

    @abstractmethod
    def choose(self, free: int, now_s: float, latest_end_s: float, extra: int) -> tuple[list[Job], int]:
        """Return, in order, the jobs that start now beside a reservation, and the extra nodes left.

        They may use *free* nodes, if they end by *latest_end_s* or take no more than *extra* nodes in
        all. Each job is planned to run its limit. The first waiting job is none of them if it does not
        fit into the free nodes.
        """

    def no_wider(self, nodes: int) -> list[Job]:
        """Return, in order, the jobs that ask for no more than *nodes* nodes."""
        return [job for job in self if job.nodes <= nodes]


def choose_among(
    jobs: Iterable[Job | None], free: int, now_s: float, latest_end_s: float, extra: int
) -> tuple[list[Job], int]:
    """Return `WaitingJobs.choose` of *jobs*, one by one; None stands for a job that has left."""
    chosen = []
    for job in jobs:
        if job is None or job.nodes > free:
            continue
        if now_s + job.limit_s > latest_end_s:
            if job.nodes > extra:
                continue
            extra -= job.nodes
        free -= job.nodes
        chosen.append(job)
        if not free:
            break
    return chosen, extra


def choose_by_columns(
    columns: QueueColumns, free: int, now_s: float, latest_end_s: float, extra: int
) -> tuple[list[Job], int]:
    """Return `WaitingJobs.choose` of many jobs, by their columns.

    Columns narrow the slots down to jobs that could start if they were alone; a few of these are
    then tried one by one, and what is left is narrowed down again.
    """
    jobs, nodes, limits_s, first = columns
    slots = (nodes[first:] <= free).nonzero()[0] + first
    chosen: list[Job] = []
    while len(slots) and free:
        slots = slots[(limits_s[slots] + now_s <= latest_end_s) | (nodes[slots] <= extra)]
        some, extra = choose_among([jobs[slot] for slot in slots[:_FEW].tolist()], free, now_s, latest_end_s, extra)
        chosen += some
        free -= sum(job.nodes for job in some)
        slots = slots[_FEW:]
        slots = slots[nodes[slots] <= free]
    return chosen, extra


class SortedQueue(WaitingJobs, Listener):
    """Waiting jobs by a key computed once, at arrival: smallest first, equal keys as they arrived.

    Columns are kept only while the queue is deep: `_has_columns` says that they are up to date.
    """

    def __init__(self, key: Callable[[Job, System], Any]) -> None:
        self._key = key
        self._jobs: list[Job] = []
        self._keys: list[Key] = []
        self._key_of: dict[int, Key] = {}
        self._arrivals = 0
        self._has_columns = False
        self._nodes = np.zeros(0, dtype=np.int64)
        self._limits_s = np.zeros(0, dtype=np.float64)

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

    def choose(self, free: int, now_s: float, latest_end_s: float, extra: int) -> tuple[list[Job], int]:
        """Return the jobs that start now beside a reservation; see `WaitingJobs`."""
        count = len(self._jobs)
        if count <= FEW_SLOTS:
            return choose_among(self._jobs, free, now_s, latest_end_s, extra)
        if not self._has_columns:
            self._make_columns()
        columns = QueueColumns(self._jobs, self._nodes[:count], self._limits_s[:count], 0)
        return choose_by_columns(columns, free, now_s, latest_end_s, extra)

    def position(self, job: Job) -> int:
        """Return the place of a waiting job, counted from 0."""
        return bisect_left(self._keys, self._key_of[job.row])

    def on_submit(self, job: Job, system: System) -> None:
        """Put the job in its place."""
        self._arrivals += 1
        entry = (self._key(job, system), self._arrivals)
        self._key_of[job.row] = entry
        at = bisect_left(self._keys, entry)
        self._keys.insert(at, entry)
        self._jobs.insert(at, job)
        if self._has_columns:
            self._open_slot(at, job)

    def on_leave(self, job: Job, system: System) -> None:
        """Take the job out."""
        self._remove(job)

    def on_change(self, old: Job, new: Job, system: System) -> None:
        """Put a changed job in its new place."""
        self._remove(old)
        self.on_submit(new, system)

    def _remove(self, job: Job) -> None:
        at = bisect_left(self._keys, self._key_of.pop(job.row))
        del self._keys[at]
        del self._jobs[at]
        if self._has_columns:
            count = len(self._jobs)
            self._has_columns = count > FEW_SLOTS // 2
            self._nodes[at:count] = self._nodes[at + 1 : count + 1]
            self._limits_s[at:count] = self._limits_s[at + 1 : count + 1]

    def _make_columns(self) -> None:
        room = np.zeros(len(self._jobs), dtype=np.int64)
        self._nodes = np.concatenate([np.array([job.nodes for job in self._jobs]), room])
        self._limits_s = np.concatenate([np.array([job.limit_s for job in self._jobs], dtype=np.float64), room])
        self._has_columns = True

    def _open_slot(self, at: int, job: Job) -> None:
        """Make room in the columns for *job*, which stands at place *at* now."""
        count = len(self._jobs)
        if count > len(self._nodes):
            self._make_columns()
            return
        self._nodes[at + 1 : count] = self._nodes[at : count - 1]
        self._limits_s[at + 1 : count] = self._limits_s[at : count - 1]
        self._nodes[at] = job.nodes
        self._limits_s[at] = job.limit_s
