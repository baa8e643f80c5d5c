"""Which ledger does a run need? Chosen once, before it begins."""

from __future__ import annotations

from typing import Literal

import numpy as np

from hpcsim.cluster import Cluster
from hpcsim.engine.ledger import CountingLedger, Ledger
from hpcsim.engine.node_ledger import NodeLedger
from hpcsim.engine.shared_ledger import SharedLedger
from hpcsim.errors import Unsupported
from hpcsim.placement import Placement
from hpcsim.workload import Workload

Books = Literal["counting", "nodes", "shared"]
"""Identical exclusive nodes, exclusive nodes that differ, nodes that jobs may share."""


def books_for(workload: Workload, cluster: Cluster) -> Books:
    """Return the cheapest books that serve *workload* on *cluster*."""
    exclusive = workload.columns.get("exclusive")
    if exclusive is not None and not bool(np.all(exclusive)):
        return "shared"
    differ = len(cluster.groups) > 1 or len(cluster.partitions) > 1
    return "nodes" if differ or any(group.allocation_sizes for group in cluster.groups) else "counting"


def make_ledger(books: Books, cluster: Cluster, placement: Placement | None, *, limits_bind: bool) -> Ledger:
    """Return empty books of this kind.

    Raises:
        Unsupported: they cannot serve this cluster or placement.
    """
    _refuse_power(cluster)
    if books == "counting":
        return CountingLedger(cluster, placement, limits_bind)
    if books == "nodes":
        return NodeLedger(cluster, placement, limits_bind)
    if placement is not None:
        raise Unsupported(
            f"{type(placement).__name__} cannot place jobs that share nodes.",
            "Leave the placement out: such a job gets the lowest nodes that have room.",
        )
    return SharedLedger(cluster, None, limits_bind)


def _refuse_power(cluster: Cluster) -> None:
    faults = {
        "node power": any(group.power for group in cluster.groups),
        "a power cap": cluster.power_cap_w != float("inf"),
    }
    for what, is_there in faults.items():
        if is_there:
            raise Unsupported(
                f"Cluster '{cluster.name}' has {what}, which this version cannot simulate yet.",
                "Describe it as one group of identical nodes.",
            )
