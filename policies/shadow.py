"""Backfilling with one reservation, or none: the shadow pass of EASY.

The first blocked job gets the earliest instant at which it fits by planned ends (the shadow time)
and keeps its nodes free of later jobs then. What is left beside it are the extra nodes. A later job
starts now if it ends by the shadow time, or if it uses only extra nodes.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from hpcsim.decision import Decision, Reserve, Start
from hpcsim.job import Job
from hpcsim.listener import Listener
from hpcsim.policies.estimators import Requested
from hpcsim.system import System
from hpcsim.waiting import SortedQueue, choose_among

if TYPE_CHECKING:
    from hpcsim.policies.backfill import Backfill

_NEVER = sys.float_info.max  # a shadow time that every limit meets, except no limit


class ShadowPass(Listener):
    """The state of shadow passes over one run.

    When nothing but arrivals happened since the last pass and the first blocked job is the same,
    nothing that was refused then can start now: time has only gone on. Then only the new arrivals
    are tried.
    """

    def __init__(self, policy: Backfill) -> None:
        self._policy = policy
        self._order = policy.order
        self._estimates = None if type(policy.estimates) is Requested else policy.estimates
        self._can_skip = not (
            self._estimates
            or policy.order.is_dynamic
            or policy.backfill_order
            or policy.depth is not None
            or policy.boundary == "<"  # a job that ends at the shadow time used up extra nodes and gives them back
        )
        self._arrived: list[Job] = []
        self._head: Job | None = None
        self._free = -1
        self._ends_seen = -1
        self._latest_end_s: float = _NEVER
        self._extra = 0

    def on_submit(self, job: Job, system: System) -> None:
        """A job has arrived."""
        self._arrived.append(job)

    def schedule(self, system: System) -> Iterable[Decision]:
        """Start what leads, reserve for the first blocked job, backfill behind it."""
        waiting = self._order.in_order(system)
        arrived, self._arrived = self._arrived, []
        if not self._nothing_but_arrivals(waiting, system):
            return self._whole_pass(waiting, system)
        free = system.free
        if not free:
            return ()
        if len(arrived) > 1 and isinstance(waiting, SortedQueue):
            arrived.sort(key=waiting.position)
        chosen, self._extra = choose_among(arrived, free, system.now_s, self._latest_end_s, self._extra)
        return [Start(job) for job in chosen if system.fits(job)]

    def _whole_pass(self, waiting: Sequence[Job], system: System) -> Iterator[Decision]:
        at = 0
        for head in waiting:
            if not system.fits(head):
                break
            yield Start(head)
            at += 1
        else:
            self._head = None
            return
        last, self._head = self._head, head
        shadow_s = self._derive_shadow(head, system)
        if last is not head and last is not None and last.row in system.promised:
            yield Reserve(last, math.inf)
        if system.promised.get(head.row, math.inf) != shadow_s:
            yield Reserve(head, shadow_s)
        free = system.free
        if not free:
            return
        if self._can_skip:
            chosen, self._extra = waiting.choose(  # type: ignore[attr-defined]
                free, system.now_s, self._latest_end_s, self._extra
            )
        else:
            chosen = self._chosen(self._behind(waiting, at if self._order.is_dynamic else 0, system), system)
        for job in chosen:
            if system.fits(job):
                yield Start(job)

    def _chosen(self, candidates: Sequence[Job], system: System) -> list[Job]:
        """Return the candidates that start beside the reservation by the policy's estimates."""
        free, now_s, estimates = system.free, system.now_s, self._policy.estimates
        chosen = []
        for job in candidates:
            if job.nodes > free:
                continue
            if now_s + estimates.limit_s(job, system) > self._latest_end_s:
                if job.nodes > self._extra:
                    continue
                self._extra -= job.nodes
            free -= job.nodes
            chosen.append(job)
        return chosen

    def _nothing_but_arrivals(self, waiting: Sequence[Job], system: System) -> bool:
        """Whether all that was refused in the last pass is refused now: see the class.

        Near the shadow time itself a job that outlives its limit could move it.
        """
        return (
            self._ends_seen == system.ends_seen
            and self._can_skip
            and waiting[0] is self._head
            and system.now_s + 1 <= self._latest_end_s
        )

    def _derive_shadow(self, head: Job, system: System) -> float:
        """Set the latest end of later jobs and the extra nodes; return the head's shadow time, ``inf``: none."""
        policy = self._policy
        self._ends_seen = system.ends_seen
        if policy.reservations == 0:
            self._latest_end_s, self._extra = _NEVER, system.cluster.nodes
            return math.inf
        estimates = self._estimates
        shadow_s, extra = (system.profile(estimates) if estimates else system).shadow(head.nodes)
        self._extra = extra if policy.admit == "shadow+extra" else 0
        self._latest_end_s = min(shadow_s, _NEVER) if policy.boundary == "<=" else math.nextafter(shadow_s, -math.inf)
        return shadow_s

    def _behind(self, waiting: Sequence[Job], head_at: int, system: System) -> Sequence[Job]:
        """Return the jobs behind the head that may start, in the order in which they are tried."""
        policy = self._policy
        behind = waiting[head_at + 1 :]
        if policy.backfill_order is not None:
            key = policy.backfill_order.key
            behind = sorted(behind, key=lambda job: key(job, system))
        return behind if policy.depth is None else behind[: policy.depth]
