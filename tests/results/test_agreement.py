"""Agreement of two waits a job: worked by hand."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest

from hpcsim.results.agreement import agreement, by_class, size_classes, time_classes, user_classes


def test_four_jobs_by_hand() -> None:
    recorded, simulated = np.array([0.0, 60.0, 600.0, 100.0]), np.array([30.0, 60.0, 200.0, 140.0])
    found = agreement(recorded, simulated)
    # differences 30, 0, -400, 40; ratios 90/60, 1, 260/660, 200/160; ranks 1 2 4 3 and 1 2 4 3
    assert found == (4, 190.0, 107.5, 35.0, 15.0, 0.75, pytest.approx(1.0))


def test_ties_take_average_ranks() -> None:
    found = agreement(np.array([0.0, 0.0, 1.0]), np.array([0.0, 1.0, 2.0]))
    # ranks 1.5 1.5 3 and 1 2 3: covariance 1.5, variances 1.5 and 2
    assert found.rank_correlation == pytest.approx(1.5 / math.sqrt(1.5 * 2))


def test_no_job_and_constant_waits() -> None:
    assert agreement(np.array([]), np.array([])).jobs == 0
    assert math.isnan(agreement(np.array([1.0, 1.0]), np.array([1.0, 2.0])).rank_correlation)


def test_classes_by_width_grow_fourfold() -> None:
    classes = size_classes(pd.Series([1, 2, 4, 5, 16, 17, 300]))
    assert classes.astype(str).tolist() == ["1", "2-4", "2-4", "5-16", "5-16", "17-64", "257-1,024"]


def test_classes_by_time_are_windows_of_thirty_days() -> None:
    day = 86400
    classes = time_classes(pd.Series([5 * day, 34 * day, 35 * day, 95 * day]))
    assert classes.astype(str).tolist() == ["days 0-29", "days 0-29", "days 30-59", "days 90-119"]


def test_classes_by_user() -> None:
    """a uses 60 of 100, b 30, c 10; -1 is nobody."""
    users, areas = pd.Series(["a", "b", "c", "a", -1]), pd.Series([40.0, 30.0, 10.0, 20.0, 9.0])
    expected = ["heavy users", "middling users", "light users", "heavy users", "unknown user"]
    assert user_classes(users, areas).astype(str).tolist() == expected


def test_each_class_has_its_own_agreement_in_order() -> None:
    jobs = pd.DataFrame({"nodes": [8, 1, 1], "recorded_wait_s": [10.0, 0.0, 4.0], "wait_s": [10.0, 2.0, 4.0]})
    found = by_class(jobs, size_classes(jobs["nodes"]))
    assert list(found) == ["1", "5-16"]
    assert (found["1"].jobs, found["1"].median_error_s, found["5-16"].median_error_s) == (2, 1.0, 0.0)
