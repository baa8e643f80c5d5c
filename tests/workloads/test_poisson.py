"""The plain generated workload of the demo."""

from __future__ import annotations

import numpy as np
import pytest

from hpcsim.errors import WorkloadError
from hpcsim.workloads.models.poisson import GREATEST_OVERESTIMATE, LONGEST_S, MINUTE_S, SHORTEST_S, poisson


@pytest.mark.parametrize("load", [0.3, 0.8, 1.5])
@pytest.mark.parametrize("nodes", [1, 64, 10_000])
def test_offered_load_is_met(nodes, load):
    workload = poisson(jobs=2000, nodes=nodes, load=load, seed=1)
    assert workload.offered_load(nodes) == pytest.approx(load, rel=1e-3)


def test_ranges_and_types():
    w = poisson(jobs=5000, nodes=100, seed=2)
    assert len(w) == 5000
    assert SHORTEST_S <= w.run_s.min() < 40
    assert 20_000 < w.run_s.max() <= LONGEST_S
    assert (w.nodes.min(), w.nodes.max()) == (1, 100)
    assert (w.limit_s >= w.run_s).all()
    assert (w.limit_s < w.run_s * GREATEST_OVERESTIMATE + MINUTE_S).all()
    assert {w.columns[name].dtype for name in ("submit_s", "run_s", "limit_s")} == {np.dtype(np.int64)}
    assert (w.counted, w.machine_nodes) == ("nodes", 100)
    assert w.submit_s[0] == 0


def test_distributions():
    """Log-uniform: the median run time is the geometric mean of the ends; gaps are exponential."""
    w = poisson(jobs=20_000, nodes=1000, seed=5)
    assert np.median(w.run_s) == pytest.approx(np.sqrt(SHORTEST_S * LONGEST_S), rel=0.05)
    gaps = np.diff(w.submit_s)
    assert gaps.min() >= 0
    assert gaps.std() == pytest.approx(gaps.mean(), rel=0.05)
    users, counts = np.unique(w.user_id, return_counts=True)
    assert len(users) == 12
    assert counts[0] / counts[1] == pytest.approx(2, rel=0.1)


def test_same_seed_same_bytes():
    assert poisson(seed=7).sha256() == poisson(seed=7).sha256() != poisson(seed=8).sha256()


def test_one_job():
    w = poisson(jobs=1)
    assert w.submit_s.tolist() == [0]


@pytest.mark.parametrize("wrong", [{"jobs": 0}, {"nodes": 0}, {"load": 0}, {"load": float("nan")}, {"seed": -1}])
def test_arguments_out_of_range(wrong):
    with pytest.raises(WorkloadError):
        poisson(**wrong)
