"""Conservative backfilling: a plan that holds a promise for every waiting job.

A job is promised, at arrival, the earliest start that running and promised jobs allow. When a job
ends early, promises are remade one at a time in queue order, so that none moves later. Where a
running job outlives its planned end no promise can hold, and the plan is remade from nothing.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from heapq import heappop, heappush
from typing import TYPE_CHECKING

from hpcsim.decision import Decision, Reserve, Start, WakeAt
from hpcsim.job import Job, JobOutcome
from hpcsim.listener import Listener
from hpcsim.policies.estimators import Requested
from hpcsim.policies.orders import FCFS
from hpcsim.profile import Profile
from hpcsim.system import System

if TYPE_CHECKING:
    from hpcsim.policies.backfill import Backfill


class Claim:
    """Nodes promised to a waiting job, or held by a running one, in [*start_s*, *end_s*) of the plan."""

    __slots__ = ("end_s", "job", "length_s", "start_s")

    def __init__(self, job: Job, length_s: float) -> None:
        self.job = job
        self.length_s = length_s
        self.start_s: float = math.inf
        self.end_s: float = math.inf


class ConservativePlan(Listener):
    """The promises of one run, and the profile that they and the running jobs leave free."""

    _claims_of = Claim

    def __init__(self, policy: Backfill) -> None:
        self._order = policy.order
        self._estimates = policy.estimates
        self._compresses_always = policy.compress == "any"
        self._profile: Profile | None = None
        self._promised: dict[int, Claim] = {}
        self._running: dict[int, Claim] = {}
        self._planned_ends: list[tuple[float, int]] = []
        self._arrived: list[Job] = []
        self._must_compress = False
        self._is_broken = False
        self._has_changed = False
        self._next_s: float = math.inf
        self._wake_s: float = -math.inf

    def on_submit(self, job: Job, system: System) -> None:
        """A job has arrived; its promise is made in the pass of this instant."""
        self._arrived.append(job)

    def on_change(self, old: Job, new: Job, system: System) -> None:
        """A waiting job asks for something else: its promise is void, a new one is made in the pass of this instant."""
        claim = self._promised.pop(old.row, None)
        if claim is not None:
            self._give_back(claim, claim.start_s, system)
        self._must_compress |= claim is not None
        self._has_changed = True
        self._arrived = [*(job for job in self._arrived if job.row != old.row), new]

    def on_start(self, job: Job, node_ids: str, system: System) -> None:
        """A promise has been kept: its claim goes on as the running job's."""
        claim = self._promised.pop(job.row)
        self._running[job.row] = claim
        heappush(self._planned_ends, (claim.end_s, job.row))

    def on_end(self, job: Job, outcome: JobOutcome, system: System) -> None:
        """Give back what the job's claim still holds."""
        now_s = system.now_s
        claim = self._running.pop(job.row, None)
        if claim is not None:
            self._must_compress |= claim.end_s > now_s or self._compresses_always
            self._is_broken |= now_s > claim.start_s + self._estimates.limit_s(job, system)
            self._give_back(claim, now_s, system)
        elif job.row in self._promised:
            claim = self._promised.pop(job.row)
            self._give_back(claim, claim.start_s, system)
            self._must_compress = True
        else:
            self._arrived = [other for other in self._arrived if other.row != job.row]

    def schedule(self, system: System) -> Iterator[Decision]:
        """Remake promises where there is room, promise the new arrivals, start what is due."""
        now_s = system.now_s
        is_overdue = self._has_overdue(now_s)
        if is_overdue or self._is_broken:
            yield from self._remake(system)
        elif self._must_compress:
            yield from self._compress(system)
        self._must_compress = self._is_broken = False
        arrived, self._arrived = self._arrived, []
        for job in arrived:
            yield from self._promise(self._claim(job, system), system)
        if self._next_s <= now_s:
            yield from self._start_due(system)
        self._plan(system).forget_before(now_s)
        after_s = now_s + 1 if is_overdue else now_s  # a start behind an overdue job waits for its end
        if self._next_s <= after_s:
            starts_s = [claim.start_s for claim in self._promised.values() if claim.start_s > after_s]
            self._next_s = min(starts_s, default=math.inf)
        if self._next_s < math.inf and self._next_s != self._wake_s:
            self._wake_s = self._next_s
            yield WakeAt(self._wake_s)

    def _plan(self, system: System) -> Profile:
        if self._profile is None:
            self._profile = self._new_plan(system)
        return self._profile

    def _new_plan(self, system: System) -> Profile:
        """Return what the running jobs leave free."""
        return system.profile(None if type(self._estimates) is Requested else self._estimates)

    def _give_back(self, claim: Claim, from_s: float, system: System) -> None:
        self._plan(system).take(from_s, claim.end_s, -claim.job.nodes)

    def _claim(self, job: Job, system: System) -> Claim:
        claim = self._claims_of(job, max(self._estimates.limit_s(job, system), 1))
        self._promised[job.row] = claim
        return claim

    def _promise(self, claim: Claim, system: System) -> Iterator[Decision]:
        """Give *claim* its earliest place in the plan."""
        self._place(claim, system)
        self._next_s = min(self._next_s, claim.start_s)
        yield Reserve(claim.job, claim.start_s)

    def _place(self, claim: Claim, system: System) -> None:
        plan, nodes = self._plan(system), claim.job.nodes
        claim.start_s = plan.earliest_s(nodes, claim.length_s, system.now_s)
        claim.end_s = claim.start_s + claim.length_s
        plan.take(claim.start_s, claim.end_s, nodes)

    def _compress(self, system: System) -> Iterator[Decision]:
        """Move each promise, in queue order, to the first place before it that has room."""
        plan, now_s = self._plan(system), system.now_s
        plan.forget_before(now_s)
        for claim in self._in_order(system):
            start_s = claim.start_s
            if start_s <= now_s:
                continue
            nodes, length_s = claim.job.nodes, claim.length_s
            to_s = plan.earliest_before_s(nodes, length_s, start_s)
            if to_s < start_s:
                plan.move(start_s, length_s, to_s, nodes)
                claim.start_s, claim.end_s = to_s, to_s + length_s
                self._next_s = min(self._next_s, to_s)
                yield Reserve(claim.job, to_s)

    def _remake(self, system: System) -> Iterator[Decision]:
        """Make the whole plan anew from what runs."""
        self._next_s = math.inf
        self._profile = self._new_plan(system)
        for claim in self._in_order(system):
            yield from self._promise(claim, system)

    def _in_order(self, system: System) -> list[Claim]:
        claims = list(self._promised.values())
        if not isinstance(self._order, FCFS):
            key = self._order.key
            claims.sort(key=lambda claim: key(claim.job, system))
        elif self._has_changed:  # then promises are not in the order of arrival
            claims.sort(key=lambda claim: (claim.job.submit_s, claim.job.row))
        return claims

    def _start_due(self, system: System) -> Iterator[Decision]:
        now_s = system.now_s
        for claim in [claim for claim in self._promised.values() if claim.start_s <= now_s]:
            if system.fits(claim.job):
                yield Start(claim.job)

    def _has_overdue(self, now_s: float) -> bool:
        """Tell whether a running job has outlived its planned end."""
        ends = self._planned_ends
        while ends and ends[0][0] <= now_s:
            if ends[0][1] in self._running:
                return True
            heappop(ends)
        return False
