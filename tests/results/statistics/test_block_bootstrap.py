"""The parts of the block bootstrap against definitions, closed forms and printed tables."""

from __future__ import annotations

import math

import numpy as np
import pytest

from hpcsim.errors import InvalidArgument
from hpcsim.results.statistics import Interval, Verdict, block_bootstrap, ratio_of_sums, windows_of
from hpcsim.results.statistics.blocks import block_length, multiplicities
from hpcsim.results.statistics.calibration import (
    block_variance,
    degrees_of_freedom,
    long_run_variance,
    neighbour_correlation,
    widening,
)
from hpcsim.results.statistics.sample import CLASSES, WindowedSample
from hpcsim.results.statistics.student import t_quantile_nearly

WEEK_S = 7 * 86400


def ar1(count, phi, seed=0):
    noise = np.random.default_rng(seed).normal(size=count)
    series = np.zeros(count)
    for place in range(1, count):
        series[place] = phi * series[place - 1] + noise[place]
    return series


def test_replicates_are_blocks_on_a_circle():
    """Of 5 windows in blocks of 3 the second block is cut to 2; a block as long as the circle is the circle."""
    drawn = multiplicities(5, 3, 200, np.random.default_rng(1))
    assert np.all(drawn.sum(axis=1) == 5)
    assert drawn.max() == 2
    assert np.all(multiplicities(5, 5, 10, np.random.default_rng(1)) == 1)
    assert multiplicities(7, 2, 30_000, np.random.default_rng(1)).mean(axis=0) == pytest.approx(np.ones(7), abs=0.02)


def test_blocks_grow_with_memory():
    """Without correlation n^(1/3) = 10; an AR(1) of 0.8 asks for 0.5-theory (6 phi^2 n / (1 - phi^2)^2)^(1/3) = 31."""
    assert block_length(np.random.default_rng(0).normal(size=1000)) == 10
    lengths = [block_length(ar1(1000, 0.8, seed)) for seed in range(30)]
    assert np.median(lengths) == pytest.approx((6 * 0.64 * 1000 / 0.36**2) ** (1 / 3), rel=0.2)
    assert block_length(np.ones(30)) == 3
    assert block_length(ar1(25, 0.99)) <= 5


def test_block_variance_is_that_of_all_blocks():
    """3, 1, 2 in circular blocks of 2: means 2, 1.5, 2.5 about 2: 2 x (0 + 0.25 + 0.25) / 3 = 1/3."""
    assert block_variance(np.array([3.0, 1.0, 2.0]), 2) == pytest.approx(1 / 3)
    series = np.random.default_rng(0).normal(size=50)
    assert block_variance(series, 1) == pytest.approx(series.var())


def test_long_run_variance_of_an_autoregression():
    """1 / (1 - phi)^2: 4 for phi = 0.5. Blocks of 10 see less; the larger of two corrections a little more."""
    found = [long_run_variance(ar1(2000, 0.5, seed), 10) for seed in range(20)]
    blocks = [block_variance(ar1(2000, 0.5, seed), 10) for seed in range(20)]
    assert 4 < np.mean(found) < 4.8
    assert np.mean(blocks) < 3.8


def test_neighbour_correlation():
    assert np.mean([neighbour_correlation(ar1(40, 0.5, seed)) for seed in range(300)]) == pytest.approx(0.5, abs=0.03)
    assert neighbour_correlation(np.array([1.0, -1.0] * 10)) == 0
    assert neighbour_correlation(np.ones(5)) == 0


@pytest.mark.parametrize(
    ("share", "degrees", "printed"),
    [(0.975, 2, 4.303), (0.975, 5, 2.571), (0.975, 10, 2.228), (0.975, 30, 2.042), (0.95, 8, 1.860), (0.995, 12, 3.06)],
)  # fmt: skip
def test_t_quantile_nearlys_are_those_of_printed_tables(share, degrees, printed):
    assert t_quantile_nearly(share, degrees) == pytest.approx(printed, rel=0.01)


def test_few_bad_weeks_are_few_degrees_of_freedom():
    """All spread in one of 60: kurtosis (59^3 + 1) / (60 x 59) = 58.02, 90 x 2 / 57.02 - 1; evenly spread, 90 - 1."""
    one = np.zeros(60)
    one[7] = 1
    assert degrees_of_freedom(one, 1) == pytest.approx(2.157, abs=0.001)
    assert degrees_of_freedom(np.tile([1.0, -1.0], 30), 1) == 1.5 * 60 - 1


def test_widening_is_small_where_there_is_much_data():
    assert 1 < widening(ar1(1000, 0.0), 10, 0.95) < 1.15
    assert widening(ar1(20, 0.0), 3, 0.95) > 1.2
    assert math.isnan(widening(np.ones(3), 3, 0.95))


def test_interval_of_independent_windows_is_the_textbook_one():
    """t x s / sqrt(n), over 40 samples of 200 normal values on average."""
    ratios = []
    for seed in range(40):
        values = np.random.default_rng(seed).normal(3, 2, 200)
        found = block_bootstrap(ratio_of_sums(values, np.ones(200), np.arange(200), 200), 200, seed=seed)[0]
        assert found.estimate == pytest.approx(values.mean())
        ratios.append((found.high - found.low) / 2 / (1.972 * values.std(ddof=1) / math.sqrt(200)))
    assert np.mean(ratios) == pytest.approx(1.05, abs=0.07)


def mean_of(values, **options):
    count = len(values)
    return block_bootstrap(ratio_of_sums(values, np.ones(count), np.arange(count), count), count, **options)[0]


def test_same_seed_same_interval():
    values = ar1(40, 0.3)
    assert mean_of(values, seed=1) == mean_of(values, seed=1)
    assert mean_of(values, seed=1) != mean_of(values, seed=2)


def test_interval_moves_and_scales_with_the_values():
    values = ar1(40, 0.3)
    found, moved = mean_of(values), mean_of(10 + 3 * values)
    assert (moved.low, moved.high) == pytest.approx((10 + 3 * found.low, 10 + 3 * found.high))


def test_blocks_are_as_long_as_the_memory_asks_for():
    assert mean_of(ar1(200, 0.8)).block == block_length(ar1(200, 0.8)) > 6
    assert mean_of(ar1(200, 0.8), length=2).block == 2


def test_higher_levels_are_wider():
    values = ar1(60, 0.3)
    widths = [found.high - found.low for found in (mean_of(values, level=level) for level in (0.8, 0.95, 0.99))]
    assert widths == sorted(widths)


def test_p_value_agrees_with_the_interval():
    for shift in np.linspace(-1, 1, 21):
        found = mean_of(ar1(50, 0.2) + shift)
        if abs(found.p_value - 0.05) > 0.01:
            assert (found.p_value < 0.05) == (not found.low <= 0 <= found.high)


def test_eleven_windows_are_too_few():
    found = mean_of(np.arange(11.0))
    assert found.estimate == 5
    assert math.isnan(found.low)
    assert found.verdict() is Verdict.NO_INTERVAL


def test_nothing_but_zeros_is_the_same():
    assert mean_of(np.zeros(20)).verdict() is Verdict.SAME
    assert mean_of(np.zeros(20)).p_value == 1


@pytest.mark.parametrize(
    ("low", "high", "lower_is_better", "verdict"),
    [
        (-2, -1, True, Verdict.BETTER),
        (-2, -1, False, Verdict.WORSE),
        (1, 2, True, Verdict.WORSE),
        (1, 2, False, Verdict.BETTER),
        (-1, 2, True, Verdict.NONE_SHOWN),
        (0, 2, True, Verdict.NONE_SHOWN),
    ],
)
def test_verdicts(low, high, lower_is_better, verdict):
    found = Interval((low + high) / 2, low, high, 0.5, 30, 3, 0.0)
    assert found.verdict(lower_is_better=lower_is_better) is verdict
    assert Verdict.NONE_SHOWN == "no difference shown"


def described(values, windows, weights):
    sample = WindowedSample(np.asarray(values, dtype=float), np.asarray(windows), int(max(windows)) + 1)
    return sample.describe(np.atleast_2d(np.asarray(weights, dtype=float)), (0.5, 0.95), 0.05, 0.25)


@pytest.mark.parametrize("seed", range(20))
def test_weights_count_values_as_often(seed):
    """Statistics of weighted windows are those of the values repeated so often, computed plainly."""
    rng = np.random.default_rng(seed)
    values, window = rng.integers(0, 30, 200) * 1.5, rng.integers(0, 6, 200)
    window[:6] = range(6)
    weights = rng.integers(0, 4, 6)
    weights[0] = 1
    plain = np.sort(np.repeat(values, weights[window]))
    count = len(plain)
    cut = int(count * 0.25)
    worst = 0.05 * count
    tail = plain[::-1]
    expected = [
        plain.mean(),
        plain[cut : count - cut].mean(),
        *np.percentile(plain, (50, 95), method="inverted_cdf"),
        (tail * np.clip(worst - np.arange(count), 0, 1)).sum() / worst,
    ]
    assert described(values, window, weights)[0] == pytest.approx(expected)


def test_many_values_are_put_into_classes():
    """With more values than classes means stay exact, and quantiles are right to a thousandth of the jobs."""
    values = np.random.default_rng(0).lognormal(3, 2, 50_000)
    window = np.arange(50_000) % 20
    mean, middle, median, p95, worst = described(values, window, np.ones(20))[0]
    ordered = np.sort(values)
    assert mean == pytest.approx(values.mean())
    assert middle == pytest.approx(ordered[12_500:37_500].mean(), rel=1e-4)
    assert worst == pytest.approx(ordered[-2_500:].mean(), rel=1e-4)
    assert abs(np.searchsorted(ordered, median) / 50_000 - 0.5) <= 1 / CLASSES
    assert abs(np.searchsorted(ordered, p95) / 50_000 - 0.95) <= 0.05 / CLASSES + 1e-4


def test_a_quantile_is_a_value_that_so_many_do_not_exceed():
    """Of 1, 2, 3, 4 half do not exceed 2, and 95 % need the 4."""
    assert described([4, 2, 1, 3], [0, 1, 2, 3], np.ones(4))[0, 2:4].tolist() == [2, 4]


def test_no_value_is_no_statistic():
    assert np.isnan(described([1.0, 2.0], [0, 1], [0, 0])).all()


def test_windows_are_weeks_where_there_are_enough():
    weeks = windows_of([100.0, 100 + 11 * WEEK_S])
    assert (weeks.name, weeks.count, weeks.width_s) == ("week", 12, WEEK_S)
    assert windows_of([100.0, 99 + 11 * WEEK_S]).name == "day"
    assert weeks.index([100, 99 + WEEK_S, 100 + WEEK_S, 100 + 11 * WEEK_S]).tolist() == [0, 0, 1, 11]
    assert weeks.starts_s()[:2].tolist() == [100, 100 + WEEK_S]
    assert windows_of([0.0, 7200.0], "hour").count == 3
    assert windows_of([]).count == 0
    with pytest.raises(InvalidArgument, match="spans 10,001 windows of one hour"):
        windows_of([0.0, 3600e4], "hour")
    assert windows_of([0.0, 1e12]).index([0, 1e12]).tolist() == [0, 4999]
    with pytest.raises(InvalidArgument, match="no window 'fortnight'"):
        windows_of([0.0], "fortnight")
