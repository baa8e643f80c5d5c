"""The waiting jobs, in order of (eligible, submit, position in the log)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import overload

from hpcsim.job import Job


class JobQueue(Sequence[Job]):
    """A sequence that lets jobs leave from anywhere, also while it is being iterated.

    Jobs that left leave holes, which are closed between passes; so leaving and taking the first are
    O(1).
    """

    __slots__ = ("_entries", "_first", "_place")

    def __init__(self) -> None:
        self._entries: list[Job | None] = []
        self._place: dict[int, int] = {}
        self._first = 0

    def __len__(self) -> int:
        return len(self._place)

    def __bool__(self) -> bool:
        return bool(self._place)

    def __iter__(self) -> Iterator[Job]:
        entries = self._entries
        place = self._first
        while place < len(entries):
            job = entries[place]
            place += 1
            if job is not None:
                yield job

    def __contains__(self, job: object) -> bool:
        return isinstance(job, Job) and self.get(job.row) == job

    @overload
    def __getitem__(self, index: int) -> Job: ...
    @overload
    def __getitem__(self, index: slice) -> list[Job]: ...
    def __getitem__(self, index: int | slice) -> Job | list[Job]:
        if index == 0 and self._place:
            return self._entries[self._first]  # type: ignore[return-value]
        return list(self)[index]

    def get(self, row: int) -> Job | None:
        """Return the waiting job of *row*, or None."""
        place = self._place.get(row)
        return None if place is None else self._entries[place]

    def append(self, job: Job) -> None:
        """Add an eligible job at the end."""
        self._place[job.row] = len(self._entries)
        self._entries.append(job)

    def remove(self, row: int) -> None:
        """Take out the job of *row*."""
        entries = self._entries
        entries[self._place.pop(row)] = None
        first = self._first
        while first < len(entries) and entries[first] is None:
            first += 1
        self._first = first

    def close_holes(self) -> None:
        """Forget jobs that left, if they are many. Not while somebody iterates."""
        if len(self._entries) > 2 * len(self._place) + 64:
            self._entries = [job for job in self._entries if job is not None]
            self._place = {job.row: place for place, job in enumerate(self._entries) if job is not None}
            self._first = 0


class QueueView(Sequence[Job]):
    """What a policy sees of the queue: a sequence that it cannot change."""

    __slots__ = ("__queue",)

    def __init__(self, queue: JobQueue) -> None:
        self.__queue = queue

    def __len__(self) -> int:
        return len(self.__queue)

    def __iter__(self) -> Iterator[Job]:
        return iter(self.__queue)

    def __contains__(self, job: object) -> bool:
        return job in self.__queue

    @overload
    def __getitem__(self, index: int) -> Job: ...
    @overload
    def __getitem__(self, index: slice) -> list[Job]: ...
    def __getitem__(self, index: int | slice) -> Job | list[Job]:
        return self.__queue[index]

    def __repr__(self) -> str:
        return f"<queue of {len(self)} jobs: {[job.job_id for job in self[:5]]}{' ...' if len(self) > 5 else ''}>"
