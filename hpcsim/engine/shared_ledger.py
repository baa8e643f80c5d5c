"""Who holds what of which nodes, where jobs may share them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from hpcsim.cluster import Cluster
from hpcsim.engine.node_ledger import NodeLedger, node_ids
from hpcsim.job import Job
from hpcsim.node_ids import Interval, count_nodes, intervals_of
from hpcsim.node_layout import Claim
from hpcsim.node_plan import PlannedEnd
from hpcsim.placement import Placement
from hpcsim.profile import Release
from hpcsim.shared_nodes import SharedNodes


class SharedLedger(NodeLedger):
    """Nodes whose cores, GPUs and memory several jobs may hold; an exclusive job holds all of a node.

    `free_nodes` are the nodes of which nobody holds anything.
    """

    layout: SharedNodes

    def __init__(
        self, cluster: Cluster, placement: Placement | None, limits_bind: bool, layout: SharedNodes | None = None
    ) -> None:
        """*limits_bind* says that no job outlives its limit, so that no planned end is ever past."""
        super().__init__(cluster, placement, limits_bind, layout or SharedNodes(cluster))
        self._jobs_on: dict[int, int] = {}

    def _occupy(self, intervals: Sequence[Interval]) -> None:
        fresh = []
        for node in node_ids(intervals):
            jobs = self._jobs_on.get(node, 0)
            if not jobs:
                fresh.append(node)
            self._jobs_on[node] = jobs + 1
        self.free_nodes.take(intervals_of(fresh))

    def _vacate(self, intervals: Sequence[Interval]) -> Sequence[Interval]:
        left = []
        for node in node_ids(intervals):
            self._jobs_on[node] -= 1
            if not self._jobs_on[node]:
                del self._jobs_on[node]
                left.append(node)
        idle = intervals_of(left)
        self.free_nodes.give_back(idle)
        return idle

    def _nodes_for(self, job: Job, claim: Claim) -> Sequence[Interval]:
        return intervals_of(self.layout.nodes_in(claim))

    def refusal_of(self, job: Job, intervals: Sequence[Interval]) -> str:
        """Return why *job* cannot have exactly these nodes now, or the empty string."""
        nodes = node_ids(intervals)
        classes = {self.layout.class_of(node) for node in nodes}
        choices = self.layout.eligible(job).choices
        if not any(count_nodes(intervals) == choice.nodes and classes <= set(choice.classes) for choice in choices):
            return "which are not so many nodes as it gets, of one partition that it may use"
        has_room = all(self.layout.has(job, self.state, node) for node in nodes)
        return "" if has_room else "which have not all the room it asks for"

    def releases_of(self, ends: Sequence[PlannedEnd]) -> list[Release]:
        """Return when how many nodes will be idle: a shared node when the last of its jobs ends."""
        idle_s: dict[int, tuple[float, int]] = {}
        for end_s, row, claim in ends:
            idle_s.update(dict.fromkeys(self.layout.nodes_in(claim), (end_s, row)))
        nodes = Counter(idle_s.values())
        return sorted((end_s, row, count) for (end_s, row), count in nodes.items())
