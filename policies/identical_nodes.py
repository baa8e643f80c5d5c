"""For policies that count nodes: they say so, instead of planning wrongly where nodes differ."""

from __future__ import annotations

from hpcsim.errors import Unsupported
from hpcsim.system import System


def need_identical_nodes(name: str, system: System) -> None:
    """Refuse a cluster whose nodes differ, that has several partitions, or on which nodes are shared.

    Raises:
        Unsupported: such a cluster.
    """
    if not system.nodes_are_alike:
        raise Unsupported(
            f"{name} counts nodes, and those of cluster '{system.cluster.name}' are not all alike to every job.",
            "Choose easy, conservative or an order, or describe the cluster as one group of identical nodes.",
        )
