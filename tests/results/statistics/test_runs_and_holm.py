"""Scores of several runs, and p-values of several comparisons, worked out by hand."""

from __future__ import annotations

import numpy as np
import pytest

from hpcsim.errors import InvalidArgument
from hpcsim.results.statistics import (
    conditional_value_at_risk,
    holm,
    interquartile_mean,
    probability_of_improvement,
    stratified_interval,
)


def test_interquartile_mean_leaves_a_quarter_out_at_either_end():
    """1..8: floor(8 / 4) = 2 at either end; (3 + 4 + 5 + 6) / 4 = 4.5. Of 1..7 one: (2 + ... + 6) / 5 = 4."""
    assert interquartile_mean([[1, 8], [2, 7], [3, 6], [4, 5]]) == 4.5
    assert interquartile_mean(np.arange(1, 8)[:, None]) == 4
    assert interquartile_mean(np.arange(8).reshape(1, 4, 2).repeat(3, axis=0)).tolist() == [3.5, 3.5, 3.5]


def test_probability_of_improvement_counts_ties_half():
    """Task 1: (1>0) 1, (1>2) 0, (2>0) 1, (2=2) 1/2: 2.5 / 4; task 2: all ties: 1/2; mean 0.5625."""
    assert probability_of_improvement([[1, 5], [2, 5]], [[0, 5], [2, 5]]) == 0.5625
    assert probability_of_improvement([[3.0]], [[1.0], [2.0], [4.0]]) == pytest.approx(2 / 3)


def test_probabilities_of_the_two_sides_add_up_to_one():
    scores = np.random.default_rng(1).integers(0, 4, (2, 7, 3))
    assert probability_of_improvement(*scores) + probability_of_improvement(*scores[::-1]) == pytest.approx(1)


def test_tasks_must_match():
    with pytest.raises(InvalidArgument, match="2 tasks and of 1"):
        probability_of_improvement([[1, 2]], [[1]])
    with pytest.raises(InvalidArgument, match="no runs and tasks"):
        interquartile_mean([1, 2, 3])


def test_strata_are_drawn_separately():
    """Runs of one task are alike and those of the tasks differ: drawn within tasks, the mean never moves."""
    scores = np.tile([1.0, 100.0, 3.0], (5, 1))
    assert stratified_interval(lambda s: s.mean(axis=(-2, -1)), scores) == pytest.approx((104 / 3, 104 / 3))


def test_stratified_interval_of_a_mean_is_the_textbook_one():
    """1.96 x sqrt(sum over tasks of the variance of a task's mean) / tasks, with variances over n."""
    scores = np.random.default_rng(5).normal(0, [1, 5], (40, 2))
    half = 1.96 * np.sqrt((scores.var(axis=0) / 40).sum()) / 2
    low, high = stratified_interval(lambda s: s.mean(axis=(-2, -1)), scores, replicates=20_000)
    assert (high - low) / 2 == pytest.approx(half, rel=0.04)
    assert stratified_interval(interquartile_mean, scores, seed=3) == stratified_interval(
        interquartile_mean, scores, seed=3
    )
    assert stratified_interval(interquartile_mean, scores, seed=3) != stratified_interval(
        interquartile_mean, scores, seed=4
    )


def test_two_sides_are_drawn_independently():
    """A side against itself: the chance to improve is 1/2, and the interval holds it with room on both sides."""
    scores = np.random.default_rng(2).normal(size=(10, 3))
    low, high = stratified_interval(probability_of_improvement, scores, scores)
    assert low < 0.4
    assert high > 0.6


def test_holm_by_hand():
    """0.01 x 3 = 0.03; 0.03 x 2 = 0.06; 0.04 x 1 = 0.04, raised to the 0.06 before it."""
    assert holm([0.01, 0.04, 0.03]).tolist() == pytest.approx([0.03, 0.06, 0.06])
    assert holm([0.6, 0.5]).tolist() == [1, 1]


def test_holm_leaves_out_what_is_missing():
    assert holm([np.nan, 0.02, 0.5]).tolist() == pytest.approx([np.nan, 0.04, 0.5], nan_ok=True)
    assert holm([]).tolist() == []
    with pytest.raises(InvalidArgument, match="outside 0 to 1"):
        holm([1.2])


def test_holm_keeps_false_calls_rare():
    """Of 2,000 families of 10 true nulls about 5 % have any adjusted value below 0.05."""
    families = np.random.default_rng(3).random((2_000, 10))
    assert np.mean([holm(family).min() < 0.05 for family in families]) == pytest.approx(0.05, abs=0.015)


def test_worst_share_counts_the_last_one_in_part():
    """The largest 30 % of five values are 1.5 of them: (9 + 0.5 x 7) / 1.5; the largest 40 %: (9 + 7) / 2."""
    assert conditional_value_at_risk([1, 9, 3, 7, 5], 0.3) == pytest.approx(12.5 / 1.5)
    assert conditional_value_at_risk([1, 9, 3, 7, 5], 0.4) == 8
    assert conditional_value_at_risk([1, 9], 1.0) == 5
    assert np.isnan(conditional_value_at_risk([]))
