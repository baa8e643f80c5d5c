"""Advice judged by the truth, and predictions by what happened: figures worked out by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest

from hpcsim.surrogates.accuracy import MEASURES, accuracy, accuracy_by_group
from hpcsim.surrogates.grading import MOST_COUNTS, front_grades, named_counts, regret, regrets
from hpcsim.surrogates.selection import Candidates

NODES = np.arange(1, 33)
TRUTH = np.stack([1000 * NODES**-0.8, 500.0 * NODES], axis=1)


def job(run_s: list[float], power_w: list[float]) -> Candidates:
    return Candidates(np.array([1, 2, 4]), np.array(run_s), np.array(power_w))


def test_truth_names_the_best_counts() -> None:
    named = named_counts(TRUTH)
    assert len(named) == MOST_COUNTS
    grades = front_grades(named, TRUTH)
    assert grades["hv_ratio"] == pytest.approx(1)
    assert grades["front_size"] == 5


def test_naming_many_counts_wins_nothing() -> None:
    """A model that thinks all counts alike names one; one that sees the front names five."""
    flat = np.full_like(TRUTH, 7.0)
    assert len(named_counts(flat)) == 1
    assert front_grades(named_counts(flat), TRUTH)["hv_ratio"] < 0.6


def test_optimism_wins_nothing() -> None:
    """Halving every prediction changes neither the counts named nor the grade: self-graded it would."""
    assert named_counts(TRUTH / 2).tolist() == named_counts(TRUTH).tolist()


def test_worst_advice_has_the_grade_of_its_truth() -> None:
    """Naming one node alone: (1, 0) on the scale of the front; within 1.1 that is 0.1 x 1.1."""
    grades = front_grades(np.array([0]), TRUTH)
    best = front_grades(named_counts(TRUTH), TRUTH)
    assert grades["hv_ratio"] < 0.5 * best["hv_ratio"]
    assert grades["epsilon_plus"] == pytest.approx(1)
    assert math.isnan(grades["deb_delta"])


def test_predictions_that_are_no_numbers_name_nothing() -> None:
    broken = TRUTH.copy()
    broken[::2, 0] = math.nan
    assert (named_counts(broken) % 2 == 1).all()
    assert len(named_counts(np.full_like(TRUTH, math.nan))) == 0
    assert front_grades(np.empty(0, dtype=np.int64), TRUTH)["hv_ratio"] == 0


def test_regret_by_hand() -> None:
    """True energy 100, 96, 160 J: naming 4 costs 160 / 96 - 1; EDP 1000, 576, 640: naming 4 costs 640 / 576 - 1."""
    truth = job([10, 6, 4], [10, 16, 40])
    assert regret("energy", 4, truth) == pytest.approx(160 / 96 - 1)
    assert regret("edp", 4, truth) == pytest.approx(640 / 576 - 1)
    assert regret("edp", 2, truth) == 0
    assert math.isnan(regret("edp", None, truth))


def test_regret_of_the_knee_is_the_sum_on_the_scale_of_the_front() -> None:
    """Ends of the front sum to 1; 2 nodes to ln(6/4)/ln(10/4) + ln(1.6)/ln(4) = 0.4425 + 0.3390."""
    truth = job([10, 6, 4], [10, 16, 40])
    assert regret("knee", 1, truth) == pytest.approx(1 - 0.78154, abs=1e-4)
    assert regret("knee", 2, truth) == 0


def test_regrets_of_model_and_user() -> None:
    truth, wrong = job([10, 6, 4], [10, 16, 40]), job([10, 6, 1], [10, 16, 10])
    found = regrets(wrong, truth, user_nodes=1)
    assert found["edp_regret"] == pytest.approx(640 / 576 - 1)
    assert found["user_edp_regret"] == pytest.approx(1000 / 576 - 1)
    assert found["user_energy_regret"] == pytest.approx(100 / 96 - 1)


def test_accuracy_by_hand() -> None:
    """Predicted / true: 1.1, 0.5, 2, 1: errors of 10, 50, 100 and 0 %."""
    true = np.array([100.0, 100, 100, 400])
    mean = np.array([110.0, 50, 200, 400])
    found = accuracy(true, mean, mean / 1.5, mean * 1.5)
    assert found["mape_percent"] == pytest.approx(40)
    assert found["median_ape_percent"] == pytest.approx(30)
    assert found["under_estimation_rate"] == 0.25
    logs = np.log([1.1, 0.5, 2, 1])
    assert found["rmse_log"] == pytest.approx(math.sqrt(np.mean(logs**2)))
    assert found["coverage"] == 0.5
    assert found["width_factor"] == pytest.approx(2.25)
    assert found["under_tail"] == pytest.approx(np.exp(np.percentile(-logs, 95)))
    assert (found["jobs"], found["missing"]) == (4, 0)


def test_r2_and_pinball_by_hand() -> None:
    """Logs of truth 0 and 2, predicted 0 and 1: squares 1 of 2, R2 = 0.5.

    Interval [-1, 1] and [0, 2] at 90 %: excess over the lower end 1 and 2, over the upper -1 and 0; losses
    0.05 x 1.5 and 0.05 x 0.5.
    """
    found = accuracy(np.exp([0.0, 2]), np.exp([0.0, 1]), np.exp([-1.0, 0]), np.exp([1.0, 2]))
    assert found["r2_log"] == pytest.approx(0.5)
    assert found["pinball_log"] == pytest.approx((0.075 + 0.025) / 2)


def test_unknown_predictions_are_counted_and_left_out() -> None:
    true = np.array([1.0, 1.0])
    found = accuracy(true, [math.nan, 2.0], [0.5, 0.5], [3.0, 3.0])
    assert (found["jobs"], found["missing"], found["mape_percent"]) == (1, 1, 100)
    nothing = accuracy(true, [math.nan] * 2, true, true)
    assert nothing["jobs"] == 0
    assert all(math.isnan(nothing[name]) for name in MEASURES)


def test_groups_are_bands_of_counts_and_seen_applications() -> None:
    true = np.ones(5)
    mean = np.array([1.0, 1.1, 1.2, 1.3, 1.4])
    nodes, is_seen = [1, 2, 3, 4, 7], [True, True, True, True, False]
    table = accuracy_by_group(true, mean, mean, mean, nodes=nodes, is_seen=is_seen).set_index("group")
    assert table["jobs"].to_dict() == {
        "all": 5,
        "1 node": 1,
        "2-3 nodes": 2,
        "4-7 nodes": 2,
        "application seen": 4,
        "application unseen": 1,
    }
    assert table["mape_percent"].loc[["2-3 nodes", "application unseen"]].tolist() == pytest.approx([15, 40])
