"""The public strategies draw what they say, and what tests of schedulers need."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import find, given
from hypothesis import strategies as st

from hpcsim import Cluster, Job, Workload
from hpcsim.testing import clusters, jobs, scenarios, workloads
from hpcsim.testing.search import drawn, drawn_scenarios


@given(jobs(3))
def test_jobs_fit(job: Job) -> None:
    assert 1 <= job.nodes <= 3
    assert 1 <= job.limit_s <= 12
    assert job.row == 0


@given(clusters(max_nodes=3))
def test_clusters_are_small(cluster: Cluster) -> None:
    assert 1 <= cluster.nodes <= 3


@given(st.data(), st.integers(0, 30), st.integers(0, 30))
def test_workloads_have_as_many_jobs_as_asked(data: st.DataObject, one: int, other: int) -> None:
    least, most = min(one, other), max(one, other)
    workload = data.draw(workloads(2, min_jobs=least, max_jobs=most))
    assert least <= len(workload) <= most
    assert not len(workload) or workload.nodes.max() <= 2


@given(scenarios(max_nodes=5))
def test_scenarios_fit_together(scenario: tuple[Workload, Cluster]) -> None:
    workload, cluster = scenario
    assert workload.nodes.max() <= cluster.nodes <= 5


@pytest.mark.parametrize(
    "wanted",
    [
        lambda w: bool(np.any(w.limit_s == math.inf)),
        lambda w: bool(np.any(w.run_s != np.floor(w.run_s))),
        lambda w: len(np.unique(w.submit_s)) < len(w),
        lambda w: bool(np.any(w.run_s > w.limit_s)),
    ],
    ids=["no-limit", "fractions", "equal-submits", "killed"],
)
def test_nasty_things_are_drawn(wanted: Callable[[Workload], bool]) -> None:
    assert any(map(wanted, drawn(workloads(is_fractional=True, has_unlimited=True), 50)))


def test_shrinks_to_one_small_job() -> None:
    least = find(workloads(), lambda _: True)
    assert [column.tolist() for column in least.columns.values()] == [[1], [0], [0], [1], [1], [1]]


def test_scenarios_of_the_checks_are_busy() -> None:
    """Half of them have eight jobs or more, on machines of several sizes."""
    ordinary = drawn_scenarios(60)
    assert np.median([len(scenario.workload) for scenario in ordinary]) >= 8
    assert len({scenario.cluster.nodes for scenario in ordinary}) >= 4
