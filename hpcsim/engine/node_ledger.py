"""Who holds which nodes where the nodes differ: groups, partitions, allocation sizes, jobs that share nodes.

Same interface as `CountingLedger`, and the state that plans of policies start from.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Iterable, Sequence
from dataclasses import replace

from hpcsim.cluster import Cluster
from hpcsim.decision import Start
from hpcsim.engine.free_nodes import FreeNodes
from hpcsim.engine.ledger import Allocation, placed
from hpcsim.errors import InvariantViolation
from hpcsim.job import Job
from hpcsim.node_ids import Interval, count_nodes
from hpcsim.node_layout import Claim, NodeLayout, State, add, subtract
from hpcsim.node_plan import NodePlan, PlannedEnd
from hpcsim.placement import Placement
from hpcsim.profile import Profile, Release, Shadow, first_fit


class NodeAllocation(Allocation):
    """An allocation that knows its claim on the state."""

    claim: Claim


class NodeLedger:
    """Nodes that differ, each held by one job at a time.

    Attributes:
        layout: which job may use which nodes.
        state: what is free now, by class of node.
        free_nodes: nodes that nobody holds.
    """

    def __init__(
        self, cluster: Cluster, placement: Placement | None, limits_bind: bool, layout: NodeLayout | None = None
    ) -> None:
        """*limits_bind* says that no job outlives its limit, so that no planned end is ever past."""
        self.cluster = cluster
        self.nodes = cluster.nodes
        self.running: dict[int, NodeAllocation] = {}
        self.free_nodes = FreeNodes(cluster.nodes)
        self.layout = layout or NodeLayout(cluster)
        self.state: State = self.layout.whole()
        self._placement = placement
        self._limits_bind = limits_bind
        self._ends: list[PlannedEnd] = []

    @property
    def free(self) -> int:
        """Nodes that nobody holds."""
        return self.free_nodes.count

    def fits(self, job: Job) -> bool:
        """Tell whether *job* could start now."""
        return self.layout.fits(job, self.state)

    def never_runs(self, job: Job) -> str:
        """Return why *job* can never run on this machine, or the empty string."""
        return "" if self.layout.eligible(job).choices else self.cluster.never_runs(job)

    def start(self, job: Job, now_s: float, intervals: Sequence[Interval] | None) -> NodeAllocation:
        """Give *job* its nodes: *intervals*, which it may use and which are free, or the default choice."""
        if intervals is None:
            claim = self.layout.claim(job, self._state_for(job))
            assert claim is not None
            intervals = self._nodes_for(job, claim)
        else:
            claim = self.layout.claim_of(job, node_ids(intervals))
        subtract(self.state, claim)
        allocation = NodeAllocation(job, self._ready_s(intervals, now_s), intervals)
        allocation.claim = claim
        self._occupy(intervals)
        self.running[job.row] = allocation
        insort(self._ends, (allocation.limit_end_s, job.row, claim))
        return allocation

    def end(self, row: int) -> NodeAllocation:
        """Take the nodes of a running job back."""
        allocation = self.running.pop(row)
        add(self.state, allocation.claim)
        self._vacate(allocation.intervals)
        ends = self._ends
        at = bisect_left(ends, (allocation.limit_end_s, row))
        if ends[at][1] != row:
            raise InvariantViolation(f"Job row {row} has no planned end.")
        del ends[at]
        return allocation

    def _occupy(self, intervals: Sequence[Interval]) -> None:
        self.free_nodes.take(intervals)

    def _vacate(self, intervals: Sequence[Interval]) -> Sequence[Interval]:
        """Take nodes back; return those that nobody holds any more."""
        self.free_nodes.give_back(intervals)
        return intervals

    def _ready_s(self, intervals: Sequence[Interval], now_s: float) -> float:
        """Return when a job that is given these nodes starts."""
        return now_s

    def _state_for(self, job: Job) -> State:
        """Return what *job* may take now."""
        return self.state

    def _nodes_for(self, job: Job, claim: Claim) -> Sequence[Interval]:
        """Return the nodes of a claim: of each class the lowest free ones, or what the placement chooses."""
        found: list[Interval] = []
        for at, nodes in self.layout.on_nodes(claim):
            kind = self.layout.classes[at]
            found += self._choose(job, int(nodes), kind.low, kind.high)
        return _joined(found) if len(claim) > 1 else found

    def _choose(self, job: Job, nodes: int, low: int, high: int) -> Sequence[Interval]:
        if self._placement is None:
            return self.free_nodes.lowest(nodes, low, high)
        asked = job if job.nodes == nodes else replace(job, nodes=nodes)
        return placed(self._placement, asked, self.free_nodes.within(low, high), self.cluster)

    def decide(self, job: Job, claim: Claim) -> Start | None:
        """Return the decision that starts *job* on the nodes of *claim*; None if they are not all free.

        It names them only where the default choice would be another.
        """
        if self.layout.claim(job, self._state_for(job)) == claim:
            return Start(job)
        if any(self.state[place] < amount for place, amount in self.layout.on_nodes(claim)):
            return None
        return Start(job, node_ids(self._nodes_for(job, claim)))

    def refusal_of(self, job: Job, intervals: Sequence[Interval]) -> str:
        """Return why *job* cannot have exactly these nodes now, or the empty string."""
        claim = self.layout.claim_of(job, node_ids(intervals))
        asked, nodes = {at for at, _ in self.layout.on_nodes(claim)}, count_nodes(intervals)
        choices = self.layout.eligible(job).choices
        if not any(nodes == choice.nodes and asked <= set(choice.classes) for choice in choices):
            return "which are not so many nodes as it gets, of one partition that it may use"
        return "" if self.free_nodes.has(intervals) else "not all of them free"

    def plan(self, now_s: float, ends: list[PlannedEnd] | None = None) -> NodePlan:
        """Return the future by the limits of what runs, or by *ends*; an overdue job ends one second from now."""
        if ends is None:
            ends = self._ends.copy() if self._limits_bind else self._ends_ahead(now_s)
        return NodePlan(self.layout, now_s, self.state.copy(), ends, self.decide)

    def profile(self, now_s: float) -> Profile:
        """Return free nodes over future time, whatever their kind, by the limits of what runs."""
        return Profile(now_s, self.free_nodes.count, self.releases(now_s))

    def shadow(self, now_s: float, nodes: int) -> Shadow:
        """Return what `profile` would say about *nodes*, without making one."""
        return first_fit(now_s, self.free_nodes.count, self.releases(now_s), nodes)

    def releases(self, now_s: float) -> list[Release]:
        """Return when how many nodes come free by the limits of what runs."""
        return self.releases_of(self._ends if self._limits_bind else self._ends_ahead(now_s))

    def releases_of(self, ends: Sequence[PlannedEnd]) -> list[Release]:
        """Return planned ends as numbers of nodes, whatever their kind."""
        return [(end_s, row, self.layout.nodes_of(claim)) for end_s, row, claim in ends]

    def _ends_ahead(self, now_s: float) -> list[PlannedEnd]:
        ends = self._ends
        if not ends or ends[0][0] > now_s:
            return ends.copy()
        return sorted((self._end_ahead(end_s, row, now_s), row, claim) for end_s, row, claim in ends)

    def _end_ahead(self, end_s: float, row: int, now_s: float) -> float:
        return now_s + 1 if end_s <= now_s and self.running[row].start_s < now_s else end_s


def node_ids(intervals: Iterable[Interval]) -> list[int]:
    """Return the ids of intervals, one by one."""
    return [node for low, high in intervals for node in range(low, high + 1)]


def _joined(intervals: list[Interval]) -> list[Interval]:
    """Return sorted intervals with neighbours made one."""
    joined: list[Interval] = []
    for low, high in sorted(intervals):
        if joined and joined[-1][1] + 1 == low:
            joined[-1] = (joined[-1][0], high)
        else:
            joined.append((low, high))
    return joined
