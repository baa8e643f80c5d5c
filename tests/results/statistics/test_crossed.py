"""Means over runs and tasks at once: by hand, and whether the interval keeps its promise."""

from __future__ import annotations

import math

import numpy as np
import pytest

from hpcsim.errors import InvalidArgument
from hpcsim.results.statistics import crossed_interval
from hpcsim.results.statistics.student import mean_interval, t_quantile


def test_interval_by_hand() -> None:
    """Runs' means 2, 4 (variance 2, over 2: 1), tasks' means 1, 3, 5 (variance 4, over 3: 4/3).

    Degrees of freedom: (7/3)^2 / (1/1 + (16/9)/2) = 2.88, so 2; t = 4.3027.
    """
    found = crossed_interval([[0, 2, 4], [2, 4, 6]])
    assert found.mean == 3
    assert found.high - 3 == pytest.approx(3 - found.low) == pytest.approx(4.3027 * math.sqrt(7 / 3), rel=1e-4)


def test_p_value_and_interval_agree() -> None:
    values = np.random.default_rng(3).normal(0.5, 1, (4, 6))
    found = crossed_interval(values)
    edge = crossed_interval(values - found.low)
    assert edge.low == pytest.approx(0, abs=1e-12)
    assert edge.p_value == pytest.approx(0.05, abs=1e-9)


@pytest.mark.parametrize("values", [[[1.0, 2.0, 4.0]], [[1.0], [2.0], [4.0]]])
def test_one_run_or_one_task_leaves_students_interval(values: list[list[float]]) -> None:
    assert crossed_interval(values) == mean_interval([1.0, 2.0, 4.0])


def test_values_without_spread_have_no_length() -> None:
    assert crossed_interval(np.zeros((3, 5))) == (0, 0, 0, 1)
    assert crossed_interval(np.full((3, 5), 0.25)) == (0.25, 0.25, 0.25, 0)
    assert math.isnan(crossed_interval([[1.0]]).low)


@pytest.mark.parametrize("values", [[1.0, 2.0], [[]], np.zeros((2, 2, 2))])
def test_what_is_no_table_is_refused(values: object) -> None:
    with pytest.raises(InvalidArgument, match="no runs on tasks"):
        crossed_interval(values)  # type: ignore[arg-type]


def shares_that_hold_zero(of_run: float, of_task: float, of_both: float, repeats: int = 400) -> tuple[float, float]:
    """Return how often the interval of 5 runs on 15 tasks holds the true mean, and how often one of 75 values does."""
    held = np.zeros(2)
    for seed in range(repeats):
        rng = np.random.default_rng([17, seed])
        parts = [rng.normal(0, sd, size) for sd, size in ((of_run, (5, 1)), (of_task, (1, 15)), (of_both, (5, 15)))]
        values = sum(parts)
        error = values.std(ddof=1) / math.sqrt(values.size)
        held += (
            crossed_interval(values).low <= 0 <= crossed_interval(values).high,
            abs(values.mean()) <= t_quantile(0.975, 74) * error,
        )
    return float(held[0] / repeats), float(held[1] / repeats)


@pytest.mark.parametrize("spread", [(1, 0, 1), (0, 1, 1), (1, 1, 1), (0.1, 0.5, 0.2)])
def test_truth_is_held_as_often_as_promised(spread: tuple[float, float, float]) -> None:
    """By the crossed interval it is; as if all values were independent it would be far less often."""
    crossed, naive = shares_that_hold_zero(*spread)
    assert 0.925 <= crossed <= 0.99
    assert naive < 0.85
