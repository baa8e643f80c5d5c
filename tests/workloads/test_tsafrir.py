"""The model of user estimates, at its check points and by its invariants."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hpcsim.errors import WorkloadError
from hpcsim.workloads.models.tsafrir import assign, distinct_estimates, estimate_bins, estimates_of
from hpcsim.workloads.models.tsafrir_heads import head_shares, head_times_s, popularity
from hpcsim.workloads.models.tsafrir_tail import tail_shares, tail_times_s

HOUR_S = 3600


@pytest.mark.parametrize(
    ("jobs", "distinct"),
    [(20, 10), (100, 14), (500, 26), (5000, 59), (30_000, 173), (100_000, 378), (250_000, 565), (1_000_000, 565)],
)
def test_number_of_distinct_estimates(jobs, distinct):
    assert distinct_estimates(jobs) == distinct


def test_shares_of_the_popular_ones():
    expected = [21.733, 10.313, 8.710, 7.369, 6.245, 5.305, 4.517, 3.858, 3.305, 2.843]
    assert np.round(head_shares()[:10], 3).tolist() == expected
    assert round(head_shares()[19], 3) == 0.866
    assert sum(head_shares()[1:]) == pytest.approx(67.267, abs=0.001)


def test_popular_times():
    """Below 18 h there are 14 round values; multiples of 1 h fill up, from the top: 17, 16, 15, 14, 13 h."""
    hours = [5 / 60, 10 / 60, 0.25, 20 / 60, 0.5, 1, 2, 3, 4, 5, 6, 8, 10, 12]
    hours += [17, 16, 15, 14, 13]
    longest, *others = head_times_s(18 * HOUR_S)
    assert longest == 18 * HOUR_S
    assert {round(hour * HOUR_S) for hour in hours} == set(others)
    assert len(others) == 19
    assert others == sorted(others)
    assert max(others) < longest
    assert 400 * HOUR_S in head_times_s(500 * HOUR_S)


def test_popularity_is_a_permutation_led_by_the_longest():
    for seed in range(200):
        ranks = popularity(np.random.default_rng(seed))
        assert sorted(ranks) == list(range(1, 21))
        assert ranks[0] == 1


def test_popularity_follows_the_four_logs():
    """Time rank 5 (30 minutes) has ranks 7, 9, 2, 2 in the logs: the model makes it popular more often than not."""
    ranks = [popularity(np.random.default_rng(seed))[5] for seed in range(300)]
    assert np.median(ranks) <= 7


def test_tail():
    """K = 59: a = 1 + 12.1039 x 59^-0.6026 = 2.0368; the first of 39 is at max (a-1) x/(a-x), x = 1/39."""
    times = tail_times_s(18 * HOUR_S, 39, 59, set())
    x = 1 / 39
    curvature = 1 + 12.1039 * 59**-0.6026
    assert times[0] == round(18 * HOUR_S * (curvature - 1) * x / (curvature - x) / 60) * 60
    assert len(set(times)) == len(times)
    assert max(times) < 18 * HOUR_S
    assert tail_shares(39).sum() == pytest.approx(11)
    assert tail_shares(39)[0] / tail_shares(39)[1] == pytest.approx((22 / 21) ** 2.267)


@given(jobs=st.integers(1, 3000), hours=st.integers(1, 200), seed=st.integers(0, 5))
def test_bins_sum_to_the_jobs(jobs, hours, seed):
    bins = estimate_bins(jobs, hours * HOUR_S, np.random.default_rng(seed))
    assert sum(count for _, count in bins) == jobs
    assert all(count >= 1 and 0 < time <= hours * HOUR_S for time, count in bins)
    assert [time for time, _ in bins] == sorted({time for time, _ in bins})


def test_the_longest_is_the_most_popular():
    bins = dict(estimate_bins(10_000, 18 * HOUR_S, np.random.default_rng(1)))
    assert max(bins, key=lambda time: bins[time]) == 18 * HOUR_S
    assert bins[18 * HOUR_S] == pytest.approx(2173, rel=0.02)
    assert len(bins) == pytest.approx(90, abs=3)


def test_known_bins_are_kept():
    known = [(1800, 1000), (7 * HOUR_S, 500)]
    bins = dict(estimate_bins(5000, 18 * HOUR_S, np.random.default_rng(1), known))
    assert (bins[1800], bins[7 * HOUR_S], sum(bins.values())) == (1000, 500, 5000)


@given(st.lists(st.integers(0, 50_000), min_size=1, max_size=300), st.integers(0, 3))
def test_no_estimate_is_below_its_run_time(runs, seed):
    run_s = np.array(runs)
    estimates = estimates_of(run_s, rng=np.random.default_rng(seed), may_lengthen=True)
    assert (estimates >= run_s).all()


@given(st.lists(st.tuples(st.integers(0, 99), st.integers(0, 99)), min_size=1, max_size=100), st.integers(0, 3))
def test_assignment_hands_out_each_estimate_once(pairs, seed):
    run_s = np.array([min(pair) for pair in pairs])
    estimates = np.array([max(pair) for pair in pairs])
    given_s = assign(run_s, estimates, np.random.default_rng(seed))
    assert sorted(given_s) == sorted(estimates)
    assert (given_s >= run_s).all()


def test_assignment_is_not_the_sorted_one():
    """With estimates far above all run times every job may get any of them."""
    run_s, estimates = np.arange(1000), np.arange(2000, 3000)
    given_s = assign(run_s, estimates, np.random.default_rng(1))
    assert abs(np.corrcoef(run_s, given_s)[0, 1]) < 0.1


def test_impossible_assignments_are_refused():
    with pytest.raises(WorkloadError, match="2 jobs run for 50 s or more"):
        assign(np.array([50, 60, 1]), np.array([60, 40, 40]), np.random.default_rng(0))
    with pytest.raises(WorkloadError, match="The longest estimate is 3000 s"):
        estimates_of(np.array([10]), rng=np.random.default_rng(0), longest_s=3000)
    with pytest.raises(WorkloadError, match="more than 10 jobs"):
        estimate_bins(10, HOUR_S, np.random.default_rng(0), [(60, 11)])
    with pytest.raises(WorkloadError, match="cannot be used"):
        estimate_bins(10, HOUR_S, np.random.default_rng(0), [(7200, 1)])
