"""The public strategies draw what they say, and what tests of schedulers need."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import find, given
from hypothesis import strategies as st

from hpcsim import Cluster, Job, Workload
from hpcsim.testing import clusters, jobs, scenarios, workloads
from hpcsim.testing.search import drawn_scenarios


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
    drawn = data.draw(workloads(2, min_jobs=least, max_jobs=most))
    assert least <= len(drawn) <= most
    assert not len(drawn) or drawn.nodes.max() <= 2


@given(scenarios(max_nodes=5))
def test_scenarios_fit_together(scenario: tuple[Workload, Cluster]) -> None:
    workload, cluster = scenario
    assert workload.nodes.max() <= cluster.nodes <= 5


@pytest.mark.parametrize(
    "wanted",
    [
        lambda drawn: bool(np.any(drawn.limit_s == math.inf)),
        lambda drawn: bool(np.any(drawn.run_s != np.floor(drawn.run_s))),
        lambda drawn: len(np.unique(drawn.submit_s)) < len(drawn),
        lambda drawn: bool(np.any(drawn.run_s > drawn.limit_s)),
    ],
    ids=["no-limit", "fractions", "equal-submits", "killed"],
)
def test_nasty_things_are_drawn(wanted: object) -> None:
    find(workloads(is_fractional=True, has_unlimited=True), wanted)  # type: ignore[arg-type]


def test_shrinks_to_one_small_job() -> None:
    least = find(workloads(), lambda drawn: True)
    assert [column.tolist() for column in least.columns.values()] == [[1], [0], [0], [1], [1], [1]]


def test_scenarios_of_the_checks_are_busy() -> None:
    """Half of them have more than ten jobs; in most of them some jobs have to wait."""
    drawn = drawn_scenarios(60)
    assert np.median([len(scenario.workload) for scenario in drawn]) >= 10
    assert len({scenario.cluster.nodes for scenario in drawn}) >= 6
