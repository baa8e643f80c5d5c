"""Jobs without a limit of their own get that of their partition."""

from __future__ import annotations

import numpy as np

from hpcsim import Cluster, NodeGroup, Partition, Workload, simulate
from hpcsim.partition_limits import with_partition_limits

CLUSTER = Cluster(
    groups=(NodeGroup(nodes=4),),
    partitions=(
        Partition(name="short", groups=("nodes",), max_limit_s=60),
        Partition(name="long", groups=("nodes",), max_limit_s=600),
        Partition(name="free", groups=("nodes",)),
    ),
)


def workload(*rows):
    """Each row is a limit and the partitions of a job of 100 s."""
    partitions = np.empty(len(rows), dtype=object)
    partitions[:] = [names for _, names in rows]
    return Workload.of(
        submit_s=[0.0] * len(rows),
        run_s=[100.0] * len(rows),
        nodes=[1] * len(rows),
        limit_s=[limit for limit, _ in rows],
        partitions=partitions,
    )


def test_each_gets_the_largest_of_its_partitions():
    rows = [
        (np.inf, ("short",)),
        (np.inf, ("short", "long")),
        (np.inf, ("free",)),
        (np.inf, ("none",)),
        (30.0, ("long",)),
    ]
    before = workload(*rows)
    after, given = with_partition_limits(before, CLUSTER)
    assert after.columns["limit_s"].tolist() == [60, 600, np.inf, np.inf, 30]
    assert given == 2
    assert np.isinf(before.columns["limit_s"][0])


def test_nothing_changes_without_partitions_or_unlimited_jobs():
    jobs = workload((np.inf, ("short",)))
    assert with_partition_limits(jobs, Cluster.of_nodes(4)) == (jobs, 0)
    jobs = workload((50.0, ("short",)))
    assert with_partition_limits(jobs, CLUSTER) == (jobs, 0)


def test_they_run_where_they_would_be_rejected():
    jobs = workload((np.inf, ("long",)))
    assert simulate(jobs, CLUSTER, "fcfs").summary()["jobs_rejected"] == 1
    limited, _ = with_partition_limits(jobs, CLUSTER)
    assert simulate(limited, CLUSTER, "fcfs").summary()["jobs_started"] == 1
