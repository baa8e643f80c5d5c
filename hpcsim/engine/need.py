"""Which ledger does a run need? Chosen once, before it begins."""

from __future__ import annotations

from typing import Literal

import numpy as np

from hpcsim.cluster import Cluster
from hpcsim.engine.ledger import CountingLedger
from hpcsim.engine.node_ledger import NodeLedger
from hpcsim.engine.powered_ledger import PoweredLedger, PoweredSharedLedger
from hpcsim.engine.shared_ledger import SharedLedger
from hpcsim.errors import Unsupported
from hpcsim.node_layout import NodeLayout
from hpcsim.placement import Placement
from hpcsim.power_cap import PowerCap
from hpcsim.powered_nodes import PoweredNodes, PoweredSharedNodes
from hpcsim.shared_nodes import SharedNodes
from hpcsim.workload import Workload

MOST_NAMED = 2_000_000
"""No machine whose nodes are looked at one by one has more: shared ones, and those whose power is described."""

Books = Literal["counting", "nodes", "shared"]
"""Identical exclusive nodes, exclusive nodes that differ, nodes that jobs may share."""


def books_for(workload: Workload, cluster: Cluster) -> Books:
    """Return the cheapest books that serve *workload* on *cluster*."""
    exclusive = workload.columns.get("exclusive")
    if exclusive is not None and not bool(np.all(exclusive)):
        return "shared"
    differ = len(cluster.groups) > 1 or len(cluster.partitions) > 1 or cluster.has_power
    return "nodes" if differ or any(group.allocation_sizes for group in cluster.groups) else "counting"


def make_ledger(
    books: Books, cluster: Cluster, placement: Placement | None, *, limits_bind: bool
) -> CountingLedger | NodeLedger:
    """Return empty books of this kind; those of a machine whose power is described still need `connect`.

    Raises:
        Unsupported: they cannot serve this placement, or so many nodes.
    """
    if (books == "shared" or cluster.has_power) and cluster.nodes > MOST_NAMED:
        raise Unsupported(
            f"Cluster '{cluster.name}' has {cluster.nodes} nodes, too many to follow the power or the jobs of each.",
            f"Give at most {MOST_NAMED} nodes, or leave out power and sharing.",
        )
    if books == "counting" and not cluster.has_power:
        return CountingLedger(cluster, placement, limits_bind)
    if books == "shared" and placement is not None:
        raise Unsupported(
            f"{type(placement).__name__} cannot place jobs that share nodes.",
            "Leave the placement out: such a job gets the lowest nodes that have room.",
        )
    has_cap = PowerCap(cluster).is_there
    if books == "shared":
        shared = PoweredSharedNodes(cluster) if has_cap else SharedNodes(cluster)
        return (PoweredSharedLedger if cluster.has_power else SharedLedger)(cluster, None, limits_bind, shared)
    layout = PoweredNodes(cluster) if has_cap else NodeLayout(cluster)
    return (PoweredLedger if cluster.has_power else NodeLedger)(cluster, placement, limits_bind, layout)
