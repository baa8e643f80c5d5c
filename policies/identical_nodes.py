"""For policies that count nodes: they say so, instead of planning wrongly where nodes differ."""

from __future__ import annotations

from hpcsim.errors import Unsupported
from hpcsim.system import System


def need_identical_nodes(name: str, system: System) -> None:
    """Refuse a cluster whose nodes or partitions differ or have power, and jobs that share nodes.

    Raises:
        Unsupported: such a cluster, or such jobs.
    """
    if not system.nodes_are_alike:
        raise Unsupported(
            f"{name} counts nodes, which is not enough where {_cause(system)}.",
            "Choose easy, conservative or an order, or leave that out of the cluster and the workload.",
        )


def _cause(system: System) -> str:
    """Return what makes counting nodes too little."""
    cluster = system.cluster
    causes = {
        "has several groups of nodes": len(cluster.groups) > 1,
        "has several partitions": len(cluster.partitions) > 1,
        "hands out nodes in allocation sizes": any(group.allocation_sizes for group in cluster.groups),
        "describes power": cluster.has_power,
    }
    found = [cause for cause, holds in causes.items() if holds]
    return f"cluster '{cluster.name}' {' and '.join(found)}" if found else "jobs may share nodes"
