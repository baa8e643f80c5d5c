"""The invariants of machines whose nodes differ or are shared, watched by books of their own."""

from __future__ import annotations

from collections.abc import Sequence

from hpcsim.cluster import Cluster, NodeGroup, Partition
from hpcsim.engine.checker import InvariantChecker
from hpcsim.job import Job
from hpcsim.node_ids import Interval


class NodeChecker(InvariantChecker):
    """A second set of books: who is on each node, and whether it has what they all asked for."""

    def __init__(self, cluster: Cluster) -> None:
        super().__init__(cluster.nodes)
        self._cluster = cluster
        self._group_of = [group for group in cluster.groups for _ in range(group.nodes)]
        self._on_node: dict[int, list[Job]] = {}

    def _occupy(self, job: Job, intervals: Sequence[Interval]) -> None:
        nodes = [node for low, high in intervals for node in range(low, high + 1)]
        groups = {self._group_of[node].name: self._group_of[node] for node in nodes}
        self._demand(len(set(nodes)) == len(nodes), job, "got a node twice")
        partitions = self._cluster.partitions_of(job)
        is_served = any(self._serves(job, partition, groups, len(nodes)) for partition in partitions)
        self._demand(is_served, job, f"got {len(nodes)} nodes that no partition of it may give: {', '.join(groups)}")
        for node in nodes:
            together = self._on_node.setdefault(node, [])
            together.append(job)
            self._demand(_has_room(self._group_of[node], together), job, f"does not fit on node {node}")
        self._used = len(self._on_node)

    def _vacate(self, job: Job, intervals: Sequence[Interval]) -> None:
        for low, high in intervals:
            for node in range(low, high + 1):
                self._on_node[node] = [other for other in self._on_node[node] if other.row != job.row]
                if not self._on_node[node]:
                    del self._on_node[node]
        self._used = len(self._on_node)

    @staticmethod
    def _serves(job: Job, partition: Partition, groups: dict[str, NodeGroup], nodes: int) -> bool:
        sizes = [group.allocation_sizes for group in groups.values() if group.allocation_sizes]
        wanted = min((size for size in sizes[0] if size >= job.nodes), default=-1) if sizes else job.nodes
        within = set(groups) <= set(partition.groups) and (not sizes or len(groups) == 1)
        is_short = job.limit_s <= partition.max_limit_s and job.nodes <= (partition.max_nodes or job.nodes)
        has_features = all(job.features <= group.features for group in groups.values())
        return within and is_short and has_features and nodes == wanted


def _has_room(group: NodeGroup, jobs: Sequence[Job]) -> bool:
    """Tell whether a node of *group* has what these jobs want of it together."""
    is_alone = len(jobs) == 1 or not any(job.exclusive for job in jobs)
    return (
        is_alone
        and sum(job.cores_per_node for job in jobs) <= group.cores
        and sum(job.gpus_per_node for job in jobs) <= group.gpus
        and (not group.memory_bytes or sum(job.memory_bytes_per_node for job in jobs) <= group.memory_bytes)
    )
