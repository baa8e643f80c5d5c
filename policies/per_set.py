"""Backfilling where nodes differ: one order, and reservations for each set of nodes that jobs compete for.

A blocked job stops only jobs behind it that could want the same nodes, and those stop others in turn.
A job that nobody stops leads its set of nodes: it starts, or gets the set's first reservation. With one
reservation a later job starts if the earliest start of each reserved job, derived anew with it
running, is not later. With several, each reservation names its nodes, and a later job starts if
there is room beside them.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from hpcsim.decision import Decision, Reserve, Start
from hpcsim.job import Job
from hpcsim.listener import Listener
from hpcsim.node_plan import NodePlan
from hpcsim.policies.estimators import Requested
from hpcsim.policies.orders import FCFS
from hpcsim.system import System
from hpcsim.waiting import FEW_SLOTS, WaitingJobs

if TYPE_CHECKING:
    from hpcsim.policies.backfill import Backfill


class PerSetPass(Listener):
    """What the passes of one run share. A subclass says how it reserves and who starts beside that."""

    def __init__(self, policy: Backfill) -> None:
        self._policy = policy
        self._estimates = None if type(policy.estimates) is Requested else policy.estimates
        self._reserved: dict[int, Job] = {}

    def _withdraw_others(self, reserved: dict[int, Job], system: System) -> Iterator[Decision]:
        """Withdraw the promises of earlier passes to jobs that are not among *reserved*, and remember these."""
        for row, job in self._reserved.items():
            if row not in reserved and row in system.promised:
                yield Reserve(job, math.inf)
        self._reserved = reserved

    def _in_backfill_order(self, behind: list[Job], system: System) -> list[Job]:
        """Return jobs behind a reservation in the order in which they are tried, as many as are looked at."""
        policy = self._policy
        if policy.backfill_order is not None:
            key = policy.backfill_order.key
            behind.sort(key=lambda job: key(job, system))
        return behind if policy.depth is None else behind[: policy.depth]


class PerSetShadowPass(PerSetPass):
    """One reservation for each set of nodes, or none.

    When nothing but arrivals has happened since the last pass, nothing that was refused then can
    start now, and only the new arrivals are tried: see `hpcsim.policies.shadow`.
    """

    def __init__(self, policy: Backfill, may_boot: bool) -> None:
        """*may_boot* says that the machine describes power, so that nodes may have to boot and a cap may bind."""
        super().__init__(policy)
        self._may_boot = may_boot
        self._puts_off = policy.backfill_order is not None or policy.depth is not None
        self._can_skip = not (self._estimates or self._puts_off or policy.boundary == "<") and isinstance(
            policy.order, FCFS
        )
        self._arrived: list[Job] = []
        self._plan: NodePlan | None = None
        self._covered: set[str] = set()
        self._ends_seen = -1

    def on_submit(self, job: Job, system: System) -> None:
        """A job has arrived."""
        if self._can_skip:
            self._arrived.append(job)

    def schedule(self, system: System) -> Iterable[Decision]:
        """Start what leads, reserve for the first blocked job of each set, backfill behind them."""
        arrived, self._arrived = self._arrived, []
        plan = self._plan
        if plan is None or self._ends_seen != system.ends_seen or system.now_s + 1 > plan.next_promise_s:
            return self._whole_pass(system)
        plan.now_s = system.now_s
        return () if plan.is_full and self._is_all_covered(system) else self._arrivals_pass(arrived, plan, system)

    def _is_all_covered(self, system: System) -> bool:
        return len(self._covered) >= len(system.cluster.groups)

    def _arrivals_pass(self, arrived: list[Job], plan: NodePlan, system: System) -> Iterator[Decision]:
        """Try the new arrivals; all over again if one of them needs a reservation."""
        for job in arrived:
            wanted = system.competes_for(job)
            if not self._covered.isdisjoint(wanted):
                start = self._start_beside(job, plan, system)
                if start is not None:
                    yield start
                else:
                    self._covered |= wanted
            elif system.fits(job):
                yield plan.start(job, self._planned_end_s(job, system))
            else:
                yield from self._whole_pass(system)
                return

    def _whole_pass(self, system: System) -> Iterator[Decision]:
        plan = system.plan(self._estimates)
        waiting = self._policy.order.in_order(system)
        covered, reserved = set[str](), dict[int, Job]()
        behind: list[Job] = []
        rest = iter(waiting)
        for job in rest:
            wanted = system.competes_for(job)
            if not covered.isdisjoint(wanted):
                start = None if self._puts_off else self._start_beside(job, plan, system)
                if start is not None:
                    yield start
                    continue
                covered |= wanted
                if self._puts_off:
                    behind.append(job)
            elif system.fits(job):
                yield plan.start(job, self._planned_end_s(job, system))
            else:
                covered |= wanted
                reserved[job.row] = job
                yield from self._reserve(job, plan, system)
            if len(covered) >= len(system.cluster.groups):
                break
        yield from self._withdraw_others(reserved, system)
        self._covered, self._ends_seen = covered, system.ends_seen
        self._plan = plan if self._can_skip else None
        if self._puts_off:
            yield from self._beside(self._in_backfill_order([*behind, *rest], system), plan, system)
        elif not plan.is_full:
            if isinstance(waiting, WaitingJobs) and len(waiting) > FEW_SLOTS:
                rest = iter(waiting.no_wider(plan.most_nodes))
            yield from self._beside(rest, plan, system)

    def _reserve(self, job: Job, plan: NodePlan, system: System) -> Iterator[Decision]:
        policy = self._policy
        if policy.reservations == 0:
            return
        start_s = plan.promise(job, strictly=policy.boundary == "<", has_extra=policy.admit == "shadow+extra")
        if system.promised.get(job.row, math.inf) != start_s:
            yield Reserve(job, start_s)

    def _beside(self, jobs: Iterable[Job], plan: NodePlan, system: System) -> Iterator[Decision]:
        """Start those of *jobs* that fit and delay no promise."""
        for job in jobs:
            start = self._start_beside(job, plan, system)
            if start is not None:
                yield start
                if plan.is_full:
                    break

    def _start_beside(self, job: Job, plan: NodePlan, system: System) -> Start | None:
        """Return the decision that starts *job* and delays no promise; None: it does not fit, or would."""
        if self._may_boot and not system.fits(job):  # the plan knows no boots, and would book a job that cannot start
            return None
        return plan.beside(job, self._planned_end_s(job, system))

    def _planned_end_s(self, job: Job, system: System) -> float:
        return system.now_s + (self._estimates.limit_s(job, system) if self._estimates else job.limit_s)


class PerSetReservingPass(PerSetPass):
    """Several reservations for each set of nodes, each on nodes that it names."""

    def schedule(self, system: System) -> Iterator[Decision]:
        """Reserve for the first blocked jobs of each set, start what has room beside them."""
        plan, now_s, most = system.plan(self._estimates), system.now_s, int(self._policy.reservations)
        reserved, behind = dict[int, Job](), list[Job]()
        sets: list[frozenset[str]] = []
        stopped: set[str] = set()  # what those without a reservation wait for
        for job in self._policy.order.in_order(system):
            wanted = system.competes_for(job)
            ahead = sum([not wanted.isdisjoint(other) for other in sets])
            if ahead >= most or not stopped.isdisjoint(wanted):
                stopped |= wanted
                behind.append(job)
                continue
            length_s = self._length_s(job, system)
            start_s, nodes = plan.earliest(job, length_s)
            if start_s <= now_s and (boot_s := plan.boot_s(job, nodes)):
                length_s += boot_s
                start_s, nodes = plan.earliest(job, length_s)
            plan.take(nodes, start_s, start_s + length_s)
            start = plan.decide(job, nodes) if start_s <= now_s and system.fits(job) else None
            if start is not None:
                yield start
                continue
            sets.append(wanted)
            reserved[job.row] = job
            if system.promised.get(job.row, math.inf) != start_s:
                yield Reserve(job, start_s)
        yield from self._withdraw_others(reserved, system)
        for job in self._in_backfill_order(behind, system):
            start = self._beside(job, plan, system)
            if start is not None:
                yield start

    def _beside(self, job: Job, plan: NodePlan, system: System) -> Start | None:
        """Return the decision that starts *job* in room that no reservation needs; None: there is none."""
        end_s = system.now_s + self._length_s(job, system)
        nodes = plan.has_room(job, end_s) if system.fits(job) else None
        boot_s = 0.0 if nodes is None else plan.boot_s(job, nodes)
        if boot_s:
            end_s += boot_s
            nodes = plan.has_room(job, end_s)
        start = None if nodes is None else plan.decide(job, nodes)
        if nodes is not None and start is not None:
            plan.take(nodes, system.now_s, end_s)
        return start

    def _length_s(self, job: Job, system: System) -> float:
        """Return a job's planned run time, at least one second."""
        return max(self._policy.estimates.limit_s(job, system), 1)
