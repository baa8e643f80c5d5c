"""Ledgers of machines whose power is described: nodes that may be off, and jobs that the cap may hold back."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from hpcsim.engine.node_ledger import NodeAllocation, NodeLedger
from hpcsim.engine.power import PowerBook
from hpcsim.engine.shared_ledger import SharedLedger
from hpcsim.job import Job
from hpcsim.node_ids import Interval, intervals_of
from hpcsim.node_layout import Claim, State
from hpcsim.node_plan import NodePlan, PlannedEnd


class PoweredLedger(NodeLedger):
    """Nodes that differ, and their power.

    Attributes:
        power: states of nodes, watts, the cap.
        grace_s: how long a job may outlive its limit; ``inf`` where limits do not bind.
    """

    power: PowerBook
    grace_s: float

    def connect(self, power: PowerBook, grace_s: float) -> None:
        """Set what exists only after this object does."""
        self.power, self.grace_s = power, grace_s

    def fits(self, job: Job) -> bool:
        """Tell whether *job* could start now: nodes, and power until its last end."""
        if not self.power.cap.is_there:
            return super().fits(job)
        claim = self.layout.claim(job, self._state_for(job))
        if claim is None:
            return False
        nodes = self._nodes_for(job, claim)
        return self.power.admits(job, claim, nodes, job.limit_s + self.grace_s)

    def start(self, job: Job, now_s: float, intervals: Sequence[Interval] | None) -> NodeAllocation:
        """Give *job* its nodes; it starts when all of them are on."""
        held = super().start(job, now_s, intervals)
        self.power.started(held)
        return held

    def end(self, row: int) -> NodeAllocation:
        """Take the nodes of a running job back."""
        self.power.ended(self.running[row])
        return super().end(row)

    def never_runs(self, job: Job) -> str:
        """Return why *job* can never run on this machine, or exceeds its power cap; or the empty string."""
        reason = super().never_runs(job)
        if reason or not self.power.cap.is_there:
            return reason
        whole = self.layout.whole()
        whole[-1] = float("inf")
        claims = self.layout.claims(job, whole, frozenset())
        return self.power.never_admits(job, claims, job.limit_s + self.grace_s)

    def refusal_of(self, job: Job, intervals: Sequence[Interval]) -> str:
        """Return why *job* cannot have exactly these nodes now, or the empty string."""
        refusal = super().refusal_of(job, intervals)
        if refusal:
            return refusal
        claim = self.layout.claim_of(job, [node for low, high in intervals for node in range(low, high + 1)])
        admitted = self.power.admits(job, claim, intervals, job.limit_s + self.grace_s)
        return "" if admitted else "where it would exceed the power cap"

    def plan(self, now_s: float, ends: list[PlannedEnd] | None = None) -> NodePlan:
        """Return the future by the limits of what runs, or by *ends*, and by the announced steps of the cap."""
        plan = super().plan(now_s, ends)
        cap = self.power.cap
        if not cap.is_there:
            plan.boot_s = self._boot_s
            return plan
        plan.state[-1] = -self.power.committed_w
        steps: list[PlannedEnd] = [(time_s, -1, ()) for time_s in cap.times_s if time_s > now_s]
        planned = sorted([*plan.planned_ends, *steps], key=_when)
        plan = NodePlan(self.layout, now_s, plan.state, planned, self.decide, cap)
        plan.boot_s = self._boot_s
        return plan

    def _boot_s(self, job: Job, claim: Claim) -> float:
        """Return how long *job* waits for its nodes to boot if it is given those of *claim* now."""
        if self.power.states.all_are_on:
            return 0.0
        return self.power.states.ready_s(self._nodes_for(job, claim)) - self.power.now_s

    def _state_for(self, job: Job) -> State:
        if not self.power.cap.is_there:
            return self.state
        now_s = self.power.now_s
        state = self.state.copy()
        lowest_w = self.power.cap.lowest_w(now_s, now_s + job.limit_s + self.grace_s)
        state[-1] = lowest_w - self.power.committed_w
        return state

    def _choose(self, job: Job, nodes: int, low: int, high: int) -> Sequence[Interval]:
        states = self.power.states
        if states.all_are_on or self._placement is not None:
            return super()._choose(job, nodes, low, high)
        return intervals_of(states.on_first(self.free_nodes.within(low, high), nodes))

    def _vacate(self, intervals: Sequence[Interval]) -> Sequence[Interval]:
        idle = super()._vacate(intervals)
        self.power.states.vacated(idle)
        return idle

    def _ready_s(self, intervals: Sequence[Interval], now_s: float) -> float:
        return self.power.states.ready_s(intervals)


class PoweredSharedLedger(PoweredLedger, SharedLedger):
    """Nodes that jobs may share, and their power."""


def _when(end: PlannedEnd) -> Any:
    return end[:2]
