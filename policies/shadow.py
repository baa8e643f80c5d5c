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

import numpy as np

from hpcsim.decision import Decision, Reserve, Start
from hpcsim.job import Job
from hpcsim.listener import Listener
from hpcsim.policies.estimators import Requested
from hpcsim.system import System
from hpcsim.waiting import SortedQueue, WaitingJobs

if TYPE_CHECKING:
    from hpcsim.policies.backfill import Backfill

SHORT = 24
"""Queues up to this length are scanned one by one: NumPy pays only beyond."""

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
            self._estimates or policy.order.is_dynamic or policy.backfill_order or policy.depth is not None
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

    def schedule(self, system: System) -> Iterator[Decision]:
        """Start what leads, reserve for the first blocked job, backfill behind it."""
        waiting = self._order.in_order(system)
        arrived, self._arrived = self._arrived, []
        started = 0
        for head in waiting:
            if not system.fits(head):
                break
            yield Start(head)
            started += 1
        else:
            self._head = None
            return
        if not started and head is self._head and self._ends_seen == system.ends_seen and self._can_skip:
            candidates: Iterable[Job] = self._in_order(arrived, waiting)
        else:
            yield from self._derive_shadow(head, system)
            candidates = self._behind(waiting, started, system)
        free, now_s, latest_end_s, estimates = system.free, system.now_s, self._latest_end_s, self._estimates
        for job in candidates:
            nodes = job.nodes
            if nodes > free:
                continue
            if now_s + (estimates.limit_s(job, system) if estimates else job.limit_s) > latest_end_s:
                if nodes > self._extra:
                    continue
                self._extra -= nodes
            if system.fits(job):
                yield Start(job)
                free = system.free

    def _derive_shadow(self, head: Job, system: System) -> Iterator[Decision]:
        """Set the shadow time and the extra nodes of *head*; promise it that start if it is news."""
        policy = self._policy
        last, self._head = self._head, head
        self._ends_seen = system.ends_seen
        if policy.reservations == 0:
            self._latest_end_s, self._extra = _NEVER, system.cluster.nodes
            return
        shadow_s, extra = system.profile(self._estimates).shadow(head.nodes)
        self._extra = extra if policy.admit == "shadow+extra" else 0
        self._latest_end_s = min(shadow_s, _NEVER) if policy.boundary == "<=" else math.nextafter(shadow_s, -math.inf)
        if last is not None and last is not head and last.row in system.promised:
            yield Reserve(last, math.inf)
        if system.promised.get(head.row, math.inf) != shadow_s:
            yield Reserve(head, shadow_s)

    def _behind(self, waiting: Sequence[Job], started: int, system: System) -> Iterable[Job]:
        """Return the jobs behind the head that may start, in the order in which they are tried."""
        policy = self._policy
        if not system.free:
            return ()
        if self._can_skip and len(waiting) > SHORT and isinstance(waiting, WaitingJobs):
            return self._may_start(waiting, system)
        first = 1 + (started if self._order.is_dynamic else 0)
        behind = waiting[first:]
        if policy.backfill_order is not None:
            key = policy.backfill_order.key
            behind = sorted(behind, key=lambda job: key(job, system))
        return behind if policy.depth is None else behind[: policy.depth]

    def _may_start(self, waiting: WaitingJobs, system: System) -> list[Job]:
        """Return the jobs that could start as things stand; the head does not fit, so it is none of them."""
        jobs, nodes, limits_s = waiting.columns()
        may = nodes <= system.free
        if not may.any():
            return []
        may &= (limits_s + system.now_s <= self._latest_end_s) | (nodes <= self._extra)
        return [job for at in np.flatnonzero(may).tolist() if (job := jobs[at]) is not None]

    def _in_order(self, arrived: list[Job], waiting: Sequence[Job]) -> list[Job]:
        if len(arrived) > 1 and isinstance(waiting, SortedQueue):
            arrived.sort(key=waiting.position)
        return arrived
