"""One small run that the tests of results share."""

from __future__ import annotations

import pytest

from hpcsim.cluster import Cluster
from hpcsim.policies import EASY, FCFS
from hpcsim.results.run import simulate
from hpcsim.workload import Workload


@pytest.fixture
def workload():
    """Five jobs for 4 nodes.

    Job 1 holds 3 nodes to 100. Job 2 (4 nodes) waits for it, to 150. Job 3 (1 node, 20 s) fits
    beside job 1: under EASY it starts at its submit, under FCFS after job 2. Job 4 wants 9 nodes.
    Job 5 (2 nodes) runs over its limit of 30 s.
    """
    return Workload.of(
        submit_s=[0, 10, 20, 25, 200],
        run_s=[100, 50, 20, 5, 60],
        limit_s=[100, 60, 40, 5, 30],
        nodes=[3, 4, 1, 9, 2],
        user_id=[7, 8, -1, 7, 8],
    )


@pytest.fixture
def cluster():
    return Cluster.of_nodes(4)


@pytest.fixture
def easy(workload, cluster):
    return simulate(workload, cluster, EASY(), check=True)


@pytest.fixture
def fcfs(workload, cluster):
    return simulate(workload, cluster, FCFS(), check=True)
