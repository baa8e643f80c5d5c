"""Limits of jobs that have none of their own: those of their partitions, as batch systems apply them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from hpcsim.cluster import Cluster
from hpcsim.workload import Workload


def with_partition_limits(workload: Workload, cluster: Cluster) -> tuple[Workload, int]:
    """Return *workload* with a partition's largest limit for each job without one, and how many jobs got one.

    A job that may use several partitions gets the largest of their limits. Without this a job with no
    limit, such as `sacct`'s ``Partition_Limit``, could run in no partition that has one.
    """
    limits_s = workload.columns["limit_s"]
    rows = np.flatnonzero(np.isinf(limits_s))
    if not len(rows) or all(np.isinf(partition.max_limit_s) for partition in cluster.partitions):
        return workload, 0
    found_s = np.array(
        [
            max((partition.max_limit_s for partition in cluster.partitions_of(job)), default=np.inf)
            for job in workload.jobs(rows)
        ]
    )
    limited_s = limits_s.copy()
    limited_s[rows] = found_s
    given = int(np.count_nonzero(np.isfinite(found_s)))
    provenance = workload.provenance | {"limits_of_partitions": given}
    return replace(workload, columns=workload.columns | {"limit_s": limited_s}, provenance=provenance), given
