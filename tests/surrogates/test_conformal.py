"""Intervals: exact quantiles of held-out errors, by group, wider where less is known."""

from __future__ import annotations

import numpy as np
import pytest

from hpcsim.surrogates.conformal import GROUPS, Calibration


def test_quantiles_of_99_errors_are_the_5th_from_either_end() -> None:
    """(99 + 1) x 0.05 = 5: the fifth smallest and the fifth largest; between them lie 90 % of a further error."""
    errors = np.repeat((np.arange(1, 100) - 50.0)[:, None], 2, axis=1)
    found = Calibration.of(np.zeros(99, dtype=np.int64), errors)
    assert found.bounds[0, 0].tolist() == [-45.0, 45.0]


def test_further_errors_fall_within_as_often_as_promised() -> None:
    rng = np.random.default_rng(0)
    inside = []
    for _ in range(300):
        errors = rng.standard_t(3, size=(80, 2))
        bounds = Calibration.of(np.ones(80, dtype=np.int64), errors).bounds[1]
        further = rng.standard_t(3, size=(50, 2))
        inside.append(((further >= bounds[:, 0]) & (further <= bounds[:, 1])).mean())
    assert np.mean(inside) == pytest.approx(0.9, abs=0.02)


def test_groups_have_intervals_of_their_own_if_they_are_large_enough() -> None:
    rng = np.random.default_rng(0)
    group = np.repeat([1, 4], 200)
    errors = rng.normal(0, np.where(group == 1, 0.1, 1.0)[:, None], (400, 2))
    bounds = Calibration.of(group, errors).bounds
    assert bounds[4, 0, 1] > 5 * bounds[1, 0, 1]
    assert np.array_equal(bounds[0], bounds[1])  # none of its own: as others of known applications
    assert np.array_equal(bounds[3], bounds[4])


def test_intervals_contain_the_mean_and_widen() -> None:
    found = Calibration.of(np.zeros(100, dtype=np.int64), np.full((100, 2), 0.5))
    group = np.zeros((1, 2), dtype=np.int64)
    low, high = found.interval(group, np.zeros((1, 2, 2)), np.array([0.0, 0.3]).reshape(1, 2, 1))
    assert low[0, 0].tolist() == [1.0, 1.0]  # all errors were on one side
    assert high[0, 0] == pytest.approx(np.exp(0.5))
    assert np.log(high / low)[0, 1] == pytest.approx(0.5 + 0.6)


def test_nothing_held_out_means_a_factor_of_three() -> None:
    assert np.exp(Calibration.unknown().bounds[GROUPS - 1, 0]) == pytest.approx([1 / 3, 3])
