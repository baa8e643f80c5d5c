"""The protocol of RLScheduler (`Backfill(protocol="rlscheduler")`): event by event, with a committed head.

Three things differ from a textbook pass. Within one instant things happen one at a time, arrivals
before completions, and a decision follows each. A head, once chosen, stays the head until it starts,
whoever arrives. Its shadow time is computed once, when it is found to be blocked.

Source: Zhang, Dai, He, Bao and Xie, "RLScheduler", SC 2020, and its published simulator.
"""

from __future__ import annotations

import math
from collections.abc import Generator, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from hpcsim.decision import Decision, Reserve, Start
from hpcsim.job import Job, JobOutcome
from hpcsim.listener import Listener
from hpcsim.policies.estimators import Requested
from hpcsim.profile import first_fit
from hpcsim.system import System

if TYPE_CHECKING:
    from hpcsim.policies.backfill import Backfill


class CommittedPass(Listener):
    """Replays what happened at an instant one event at a time, with a decision after each.

    Jobs that have arrived and jobs that have ended are kept back until their turn: the former are
    not seen yet, the latter still hold their nodes.
    """

    def __init__(self, policy: Backfill) -> None:
        self._policy = policy
        self._order = policy.order
        self._plans_by_limits = type(policy.estimates) is Requested
        self._planned_ends: dict[int, tuple[float, int, int]] = {}
        self._arrived: dict[int, Job] = {}
        self._ended: dict[int, Job] = {}
        self._held_back = 0
        self._instant_s = -math.inf
        self._head: Job | None = None
        self._latest_end_s = math.inf
        self._extra = 0

    def on_submit(self, job: Job, system: System) -> None:
        """A job has arrived: it is seen when its turn comes."""
        self._turn_to(system.now_s)
        self._arrived[job.row] = job

    def on_start(self, job: Job, node_ids: str, system: System) -> None:
        """A job has started: plan its end."""
        end_s = system.now_s + self._policy.estimates.limit_s(job, system)
        self._planned_ends[job.row] = (end_s, job.row, job.nodes)

    def on_end(self, job: Job, outcome: JobOutcome, system: System) -> None:
        """A job has ended: its nodes come free when its turn comes. One that never ran is forgotten."""
        self._turn_to(system.now_s)
        if job.row in self._planned_ends:
            self._ended[job.row] = job
            self._held_back += job.nodes
            return
        self._arrived.pop(job.row, None)
        if self._head is not None and self._head.row == job.row:
            self._head = None

    def schedule(self, system: System) -> Iterator[Decision]:
        """Let arrivals, and then completions in the log's order, happen one by one; decide after each."""
        self._turn_to(system.now_s)
        if self._head is None:
            yield from self._decide(system)
        while self._arrived:
            del self._arrived[next(iter(self._arrived))]
            yield from self._decide(system)
        while self._ended:
            self._release(min(self._ended))
            yield from self._decide(system)

    def _turn_to(self, now_s: float) -> None:
        """Release what ended at earlier instants: with nobody waiting there was nothing to decide."""
        if now_s != self._instant_s:
            self._instant_s = now_s
            for row in list(self._ended):
                self._release(row)

    def _release(self, row: int) -> None:
        self._held_back -= self._ended.pop(row).nodes
        del self._planned_ends[row]

    def _free(self, system: System) -> int:
        return system.free - self._held_back

    def _decide(self, system: System) -> Iterator[Decision]:
        """Start heads while they fit; behind one that does not, backfill."""
        while True:
            head = self._head or (yield from self._first(system))
            if head is None:
                return
            if head.nodes > self._free(system):
                break
            self._head = None
            yield Start(head)
        if self._head is None:
            self._head = head
            shadow_s = self._fix_shadow(head, system)
            if system.now_s <= shadow_s < math.inf:
                yield Reserve(head, shadow_s)
        for job in self._beside_the_head(system):
            yield Start(job)

    def _first(self, system: System) -> Generator[Any, Any, Job | None]:
        """Return the job that comes first among those that have been seen, or None.

        A generator, so that a subclass can put the question to whoever drives the pass.
        """
        yield from ()
        if self._order.is_dynamic:
            key = self._order.key
            seen = (job for job in system.queue if job.row not in self._arrived)
            return min(seen, key=lambda job: key(job, system), default=None)
        return next((job for job in self._order.in_order(system) if job.row not in self._arrived), None)

    def _fix_shadow(self, head: Job, system: System) -> float:
        """Set until when later jobs may run and the extra nodes; return the head's shadow time."""
        policy = self._policy
        releases = sorted(release for release in self._planned_ends.values() if release[0] < math.inf)
        shadow_s, extra = first_fit(system.now_s, self._free(system), releases, head.nodes)
        self._extra = extra if policy.admit == "shadow+extra" else 0
        self._latest_end_s = shadow_s if policy.boundary == "<=" else math.nextafter(shadow_s, -math.inf)
        return shadow_s

    def _beside_the_head(self, system: System) -> Sequence[Job]:
        """Return the jobs that start now beside the reservation, in the order in which they are tried."""
        policy = self._policy
        free, now_s = self._free(system), system.now_s
        if policy.depth == 0 or not free:
            return ()
        if self._plans_by_limits and not self._arrived and policy.backfill_order is None and policy.depth is None:
            chosen, self._extra = system.queue.choose(free, now_s, self._latest_end_s, self._extra)
            return chosen
        chosen = []
        for job in self._candidates(system):
            if job.nodes > free:
                continue
            if now_s + policy.estimates.limit_s(job, system) > self._latest_end_s:
                if job.nodes > self._extra:
                    continue
                self._extra -= job.nodes
            free -= job.nodes
            chosen.append(job)
        return chosen

    def _candidates(self, system: System) -> list[Job]:
        """Return the jobs behind the head that have been seen: by backfill order, else as they arrived."""
        seen = [job for job in system.queue if job is not self._head and job.row not in self._arrived]
        order = self._policy.backfill_order
        if order is not None:
            seen.sort(key=lambda job: order.key(job, system))
        return seen[: self._policy.depth]
