"""Differences to a baseline: hand calculations and published tables."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest

from hpcsim.errors import ExperimentError
from hpcsim.experiments.contrasts import contrasts, difference
from hpcsim.results.statistics.holm import holm
from hpcsim.results.statistics.student import t_quantile, two_sided_p


@pytest.mark.parametrize(
    ("freedom", "share", "value"),
    [
        (1, 0.975, 12.706),
        (2, 0.975, 4.303),
        (3, 0.95, 2.353),
        (4, 0.975, 2.776),
        (5, 0.995, 4.032),
        (10, 0.975, 2.228),
        (29, 0.975, 2.045),
        (30, 0.9995, 3.646),
        (120, 0.975, 1.980),
    ],
)
def test_student_quantiles_are_those_of_the_printed_tables(freedom: int, share: float, value: float) -> None:
    """Fisher and Yates, Statistical Tables, table III."""
    assert t_quantile(share, freedom) == pytest.approx(value, abs=6e-4)
    assert two_sided_p(value, freedom) == pytest.approx(2 * (1 - share), rel=2e-3)


def test_difference_by_hand() -> None:
    """Differences 1, 2, 3: mean 2, standard error 1/sqrt(3), t(2) = 4.3027, p of t = 3.4641 is 0.07418."""
    mean, low, high, p = difference(np.array([2.0, 4.0, 6.0]), np.array([1.0, 2.0, 3.0]))
    assert mean == 2
    assert (low, high) == pytest.approx((2 - 4.30265 / math.sqrt(3), 2 + 4.30265 / math.sqrt(3)), abs=1e-4)
    assert p == pytest.approx(0.0741799, abs=1e-6)


def test_difference_without_enough_to_say() -> None:
    assert all(math.isnan(value) for value in difference(np.array([]), np.array([])))
    mean, low, _, p = difference(np.array([3.0]), np.array([1.0]))
    assert mean == 2
    assert math.isnan(low)
    assert math.isnan(p)
    assert difference(np.array([3.0, 4.0]), np.array([1.0, 2.0])) == (2, 2, 2, 0)
    assert difference(np.array([1.0, 2.0]), np.array([1.0, 2.0])) == (0, 0, 0, 1)


def test_holm_by_hand() -> None:
    """0.01 x 4, 0.02 x 3, 0.03 x 2 and at least the one before, 0.04 x 1 likewise."""
    assert holm(np.array([0.04, 0.01, math.nan, 0.03, 0.02])) == pytest.approx(
        [0.06, 0.04, math.nan, 0.06, 0.06], nan_ok=True
    )
    assert holm(np.array([0.9, 0.8])).tolist() == [1, 1]
    assert np.isnan(holm(np.array([math.nan]))).all()
    assert len(holm(np.array([]))) == 0


def table(rows: list[tuple[str, float, int, str, float, float]]) -> pd.DataFrame:
    columns = ["policy", "load", "seed", "status", "mean_wait_s", "utilisation"]
    found = pd.DataFrame(rows, columns=columns)
    found.insert(0, "cell", [str(row) for row in range(len(rows))])
    return found


ROWS = [
    ("fcfs", 0.5, 1, "finished", 10.0, 0.5),
    ("easy", 0.5, 1, "finished", 5.0, 0.5),
    ("fcfs", 0.5, 2, "finished", 20.0, 0.5),
    ("easy", 0.5, 2, "finished", 15.1, 0.5),
    ("fcfs", 0.5, 3, "finished", 30.0, 0.5),
    ("easy", 0.5, 3, "failed", math.nan, math.nan),
    ("fcfs", 0.9, 1, "finished", 100.0, 0.8),
    ("easy", 0.9, 1, "finished", 40.0, 0.9),
]


def test_runs_are_paired_within_a_scenario() -> None:
    found = contrasts(table(ROWS), {"policy": "fcfs"}, ["mean_wait_s", "utilisation"]).set_index(["load", "metric"])
    low = found.loc[(0.5, "mean_wait_s")]
    assert low["pairs"] == 2, "the failed run's partner does not count"
    assert low["baseline"] == 15
    assert low["difference"] == pytest.approx(-4.95)
    assert low["verdict"] == "better"
    assert found.loc[(0.5, "utilisation")]["verdict"] == "no difference shown"
    assert found.loc[(0.9, "mean_wait_s")]["verdict"] == "one pair only"
    assert found.loc[(0.9, "mean_wait_s")]["difference"] == -60


def test_baseline_without_a_finished_run_is_an_error() -> None:
    with pytest.raises(ExperimentError, match="No run of the baseline"):
        contrasts(table(ROWS), {"policy": "sjf"}, ["mean_wait_s"])


def test_baseline_of_two_columns_makes_arms_of_both() -> None:
    rows = [
        (policy, load, seed, "finished", 10.0 * load * seed + (policy == "easy"), 0.5)
        for policy in ("fcfs", "easy")
        for load in (0.5, 0.9)
        for seed in (1, 2, 3)
    ]
    cluster = table(rows).rename(columns={"load": "cluster"})
    found = contrasts(cluster, {"policy": "fcfs", "cluster": 0.5}, ["mean_wait_s"])
    assert list(zip(found["policy"], found["cluster"], strict=True)) == [("fcfs", 0.9), ("easy", 0.5), ("easy", 0.9)]
    assert found["difference"].tolist() == pytest.approx([8, 1, 9])
