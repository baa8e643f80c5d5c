"""Backfilling with k reservations: the first k blocked jobs, re-derived at each pass on the profile."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from typing import TYPE_CHECKING

from hpcsim.decision import Decision, Reserve, Start
from hpcsim.job import Job
from hpcsim.policies.estimators import Requested
from hpcsim.policies.ordered_queue import OrderedQueue
from hpcsim.profile import Profile
from hpcsim.system import System

if TYPE_CHECKING:
    from hpcsim.policies.backfill import Backfill


class ReservingPass:
    """A job starts now if and only if the profile with the reservations has room for it."""

    def __init__(self, policy: Backfill) -> None:
        self._policy = policy
        self._queue = OrderedQueue(policy.order)
        self._by_limits = type(policy.estimates) is Requested
        self._reserved: dict[int, Job] = {}

    def on_submit(self, job: Job, system: System) -> None:
        """A job has arrived."""
        self._queue.add(job, system)

    def on_start(self, job: Job) -> None:
        """A job has started."""
        self._queue.remove(job)
        self._reserved.pop(job.row, None)

    def on_end(self, job: Job, system: System) -> None:
        """A job has ended, or left the queue without a start."""
        self._queue.remove(job)
        self._reserved.pop(job.row, None)

    def schedule(self, system: System) -> Iterator[Decision]:
        """Reserve for the first blocked jobs, start what fits beside the reservations."""
        blocked = list((yield from self._queue.start_leading(system)))
        profile = system.profile(None if self._by_limits else self._policy.estimates)
        reserved, tried = yield from self._reserve(blocked, profile, system)
        for row in [row for row in self._reserved if row not in reserved]:
            yield Reserve(self._reserved.pop(row), float("inf"))
        self._reserved = reserved
        for job in self._behind(blocked[tried:], system):
            end_s = system.now_s + self._length_s(job, system)
            if job.nodes <= system.free and profile.least_free(system.now_s, end_s) >= job.nodes:
                yield Start(job)
                profile.take(system.now_s, end_s, job.nodes)

    def _reserve(
        self, blocked: list[Job], profile: Profile, system: System
    ) -> Generator[Decision, None, tuple[dict[int, Job], int]]:
        """Go through *blocked* until k reservations are made; return them and how many jobs were seen."""
        now_s = system.now_s
        reserved: dict[int, Job] = {}
        seen = 0
        for job in blocked:
            if len(reserved) == self._policy.reservations:
                break
            seen += 1
            length_s = self._length_s(job, system)
            start_s = profile.earliest_s(job.nodes, length_s)
            profile.take(start_s, start_s + length_s, job.nodes)
            if start_s <= now_s:
                yield Start(job)
                continue
            reserved[job.row] = job
            if system.promised.get(job.row, float("inf")) != start_s:
                yield Reserve(job, start_s)
        return reserved, seen

    def _behind(self, jobs: list[Job], system: System) -> list[Job]:
        """Return jobs without a reservation, in the order in which they are tried."""
        policy = self._policy
        if policy.backfill_order is not None:
            key = policy.backfill_order.key
            jobs.sort(key=lambda job: key(job, system))
        return jobs if policy.depth is None else jobs[: policy.depth]

    def _length_s(self, job: Job, system: System) -> float:
        """Return a job's planned run time, at least one second."""
        return max(self._policy.estimates.limit_s(job, system), 1)
