"""Policies that count nodes refuse machines on which that is not enough, and say what is."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from hpcsim.cluster import Cluster, NodeGroup, Partition
from hpcsim.errors import Unsupported
from hpcsim.policies import Backfill
from hpcsim.power import NodePower
from hpcsim.workload import Workload
from tests.schedules import jobs, simulation

TWO = (NodeGroup(name="a", nodes=1), NodeGroup(name="b", nodes=1))
JOBS = jobs("a 0 1 1 1")


@pytest.mark.parametrize(
    ("cluster", "words"),
    [
        (Cluster(groups=TWO), "has several groups of nodes"),
        (
            Cluster(
                groups=TWO[:1], partitions=(Partition(name="p", groups=("a",)), Partition(name="q", groups=("a",)))
            ),
            "has several partitions",
        ),
        (Cluster(groups=(NodeGroup(nodes=4, allocation_sizes=(2, 4)),)), "hands out nodes in allocation sizes"),
        (
            Cluster(groups=(NodeGroup(nodes=4, power=NodePower(busy_w=1)),), name="mine"),
            "cluster 'mine' describes power",
        ),
    ],
)
@pytest.mark.parametrize(
    "policy",
    ["lookahead", "selective", "slack-based", "easy-plus-plus"],
)
def test_named_policies(policy: str, cluster: Cluster, words: str) -> None:
    """By name, with the cause and what to choose."""
    with pytest.raises(Unsupported, match=words) as caught:
        simulation(JOBS, cluster, policy)
    assert "Choose easy, conservative or an order" in str(caught.value)


@pytest.mark.parametrize("protocol", ["rlscheduler", "cqsim"])
def test_protocols_and_shared_nodes(protocol: Any) -> None:
    """The protocols of other simulators; and sharing, which the workload brings."""
    shared = Workload(JOBS.columns | {"exclusive": np.zeros(1, dtype=bool)})
    with pytest.raises(Unsupported, match=f"Protocol '{protocol}' counts nodes.* where jobs may share nodes"):
        simulation(shared, Cluster.of_nodes(2, cores=2), Backfill(protocol=protocol))
