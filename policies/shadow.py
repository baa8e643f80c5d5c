"""Backfilling with one reservation, or none: the shadow pass of EASY.

The first blocked job gets the earliest instant at which it fits by planned ends (the shadow time)
and keeps its nodes free of later jobs then. What is left beside it are the extra nodes. A later job
starts now if it ends by the shadow time, or if it uses only extra nodes.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np

from hpcsim.decision import Decision, Reserve, Start
from hpcsim.job import Job
from hpcsim.policies.estimators import Requested
from hpcsim.policies.ordered_queue import OrderedQueue
from hpcsim.system import System

if TYPE_CHECKING:
    from hpcsim.policies.backfill import Backfill

SHORT = 24
"""Queues up to this length are scanned one by one: NumPy pays only beyond."""

_NEVER = sys.float_info.max  # a shadow time that every limit meets, except no limit


class ShadowPass:
    """The state of shadow passes over one run.

    When nothing but arrivals happened since the last pass and the first blocked job is the same,
    nothing that was refused then can start now: time has only gone on. Then only the new arrivals
    are tried.
    """

    def __init__(self, policy: Backfill) -> None:
        self._policy = policy
        self._queue = OrderedQueue(policy.order)
        self._by_limits = type(policy.estimates) is Requested
        self._can_skip = (
            self._queue.is_static and self._by_limits and policy.depth is None and policy.backfill_order is None
        )
        self._arrived: list[Job] = []
        self._head: Job | None = None
        self._is_stale = True
        self._latest_end_s: float = _NEVER
        self._extra = 0

    def on_submit(self, job: Job, system: System) -> None:
        """A job has arrived."""
        self._queue.add(job, system)
        self._arrived.append(job)

    def on_start(self, job: Job) -> None:
        """A job has started."""
        self._queue.remove(job)

    def on_end(self, job: Job, system: System) -> None:
        """A job has ended, or left the queue without a start."""
        self._queue.remove(job)
        self._is_stale = True

    def schedule(self, system: System) -> Iterator[Decision]:
        """Start what leads, reserve for the first blocked job, backfill behind it."""
        arrived, self._arrived = self._arrived, []
        free = system.free
        blocked = yield from self._queue.start_leading(system)
        if not blocked:
            self._head = None
            return
        head = blocked[0]
        if self._is_stale or head is not self._head or free != system.free or not self._can_skip:
            yield from self._derive_shadow(head, system)
            candidates = self._behind(blocked, system)
        else:
            candidates = sorted(arrived, key=self._queue.table.position) if len(arrived) > 1 else arrived
        yield from self._backfill(candidates, system)

    def _derive_shadow(self, head: Job, system: System) -> Iterator[Decision]:
        """Set the shadow time and the extra nodes of *head*; promise it that start if it is news."""
        policy = self._policy
        self._is_stale = False
        last, self._head = self._head, head
        if policy.reservations == 0:
            self._latest_end_s, self._extra = _NEVER, system.cluster.nodes
            return
        shadow_s, extra = system.profile(None if self._by_limits else policy.estimates).shadow(head.nodes)
        self._extra = extra if policy.admit == "shadow+extra" else 0
        self._latest_end_s = min(shadow_s, _NEVER) if policy.boundary == "<=" else math.nextafter(shadow_s, -math.inf)
        if last is not None and last is not head and last.row in system.promised:
            yield Reserve(last, math.inf)
        if system.promised.get(head.row, math.inf) != shadow_s:
            yield Reserve(head, shadow_s)

    def _behind(self, blocked: list[Job], system: System) -> Sequence[Job]:
        """Return the jobs behind the head, in the order in which they are tried."""
        policy = self._policy
        if not system.free:
            return ()
        if self._can_skip and len(blocked) > SHORT:
            return self._may_start(blocked, system)
        behind = blocked[1:]
        if policy.backfill_order is not None:
            key = policy.backfill_order.key
            behind.sort(key=lambda job: key(job, system))
        return behind if policy.depth is None else behind[: policy.depth]

    def _may_start(self, jobs: list[Job], system: System) -> list[Job]:
        """Return the jobs of the whole table that could start as things stand; the head is none of them."""
        table = self._queue.table
        ends_s = table.limits_s + system.now_s
        may = (table.nodes <= system.free) & ((ends_s <= self._latest_end_s) | (table.nodes <= self._extra))
        may[0] = False
        return [jobs[at] for at in np.flatnonzero(may).tolist()]

    def _backfill(self, candidates: Sequence[Job], system: System) -> Iterator[Decision]:
        """Start each candidate that fits beside the reservation; extra nodes are used up."""
        estimates = self._policy.estimates
        now_s, free, latest_end_s = system.now_s, system.free, self._latest_end_s
        for job in candidates:
            nodes = job.nodes
            if nodes > free:
                continue
            if now_s + (job.limit_s if self._by_limits else estimates.limit_s(job, system)) > latest_end_s:
                if nodes > self._extra:
                    continue
                self._extra -= nodes
            free -= nodes
            yield Start(job)
