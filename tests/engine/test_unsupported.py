"""What the engine cannot serve yet is a clear error, not a wrong answer."""

from __future__ import annotations

import math
from typing import Any

import pytest

from hpcsim.cluster import Cluster, NodeGroup, Partition
from hpcsim.errors import Unsupported
from hpcsim.workload import Workload
from tests.schedules import jobs, simulation, starts

PLAIN = NodeGroup(nodes=4)


@pytest.mark.parametrize(
    ("columns", "options", "what"),
    [
        ({"after": [(), (1,)]}, {}, "Dependencies and think times"),
        ({}, {"feedback": True}, "Dependencies and think times"),
    ],
)
def test_workloads_and_options(columns: dict[str, Any], options: dict[str, Any], what: str) -> None:
    """Dependencies and think times."""
    workload = Workload.of(submit_s=[0, 1], run_s=[1, 1], nodes=[1, 1], **columns)
    with pytest.raises(Unsupported, match=f"{what}.* cannot be simulated yet. Leave them out."):
        simulation(workload, 4, "fcfs", **options)


def test_columns_that_ask_for_nothing_are_served() -> None:
    """Power that is not known, and jobs that are rigid."""
    workload = Workload.of(
        submit_s=[0, 1],
        run_s=[1, 1],
        nodes=[1, 1],
        power_w=[math.nan, -1],
        allowed_nodes=[(), ()],
        gpus_per_node=[0, 0],
    )
    assert starts(workload, 4, "fcfs") == {1: 0, 2: 1}


def test_one_partition_is_served_with_its_limits() -> None:
    """Limits of the only partition reject at submission; the rest runs."""
    partition = Partition(name="short", groups=("nodes",), max_limit_s=100, max_nodes=3)
    cluster = Cluster(groups=(PLAIN,), partitions=(partition,))
    table = "a 0 10 10 3\n long 0 1 101 1\n wide 0 1 1 4"
    assert starts(jobs(table), cluster, "easy") == {"a": 0}


@pytest.mark.parametrize(
    ("columns", "reason"),
    [
        ({"gpus_per_node": [1]}, "no node of partition all has the cores, GPUs, memory or features"),
        ({"cores_per_node": [65]}, "no node of partition all"),
        ({"memory_bytes_per_node": [2**40]}, "no node of partition all"),
        ({"features": [frozenset({"nvme"})]}, "no node of partition all"),
    ],
)
def test_what_no_node_has_is_rejected(columns: dict[str, Any], reason: str) -> None:
    """A request for each node that none can meet."""
    workload = Workload.of(submit_s=[0], run_s=[1], nodes=[1], **columns)
    sim = simulation(workload, Cluster.of_nodes(4, cores=64, memory_bytes=2**38), "fcfs")
    sim.run()
    assert reason in sim.finish().reasons[0]
