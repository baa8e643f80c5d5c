"""Backfilling with k reservations: the first k blocked jobs, re-derived at each pass on the profile."""

from __future__ import annotations

import math
from collections.abc import Generator, Iterator
from typing import TYPE_CHECKING

from hpcsim.decision import Decision, Reserve, Start
from hpcsim.job import Job
from hpcsim.listener import Listener
from hpcsim.policies.estimators import Requested
from hpcsim.profile import Profile
from hpcsim.system import System

if TYPE_CHECKING:
    from hpcsim.policies.backfill import Backfill


class ReservingPass(Listener):
    """A job starts now if and only if the profile with the reservations has room for it."""

    def __init__(self, policy: Backfill) -> None:
        self._policy = policy
        self._estimates = None if type(policy.estimates) is Requested else policy.estimates
        self._reserved: dict[int, Job] = {}

    def schedule(self, system: System) -> Iterator[Decision]:
        """Reserve for the first blocked jobs, start what fits beside the reservations."""
        blocked = list(self._policy.order.in_order(system))
        while blocked and system.fits(blocked[0]):
            yield Start(blocked.pop(0))
        profile = system.profile(self._estimates)
        reserved, tried = yield from self._reserve(blocked, profile, system)
        for row in [row for row in self._reserved if row not in reserved]:
            if row in system.promised:
                yield Reserve(self._reserved[row], math.inf)
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
            if start_s <= now_s and system.fits(job):
                yield Start(job)
                continue
            reserved[job.row] = job
            if system.promised.get(job.row, math.inf) != start_s:
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
