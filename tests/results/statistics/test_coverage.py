"""Do 95 % intervals hold the truth 95 times in 100, where there is no true difference and queues remember?"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from hpcsim import Cluster, Order, registry, simulate
from hpcsim.results.statistics import Interval, block_bootstrap, ratio_of_sums, winners_and_losers
from hpcsim.results.statistics.blocks import multiplicities
from hpcsim.results.statistics.runs import TRIMMED
from hpcsim.results.statistics.sample import WindowedSample
from tests.results.statistics.nulls import Null, autoregression, lindley_wait_s, queue

REPLICATES = 400
NULLS = {
    "queue at load 0.7, 26 weeks": queue(26, 0.7, 200),
    "queue at load 0.9, 52 weeks": queue(52, 0.9, 200),
    "AR(1) 0.3, 52 weeks": autoregression(52, 0.3),
    "AR(1) 0.5, 104 weeks": autoregression(104, 0.5),
}


def mean_interval(null: Null, seed: int) -> Interval:
    old, new, week = null(np.random.default_rng([11, seed]))
    windows = int(week.max()) + 1
    statistic = ratio_of_sums(new - old, np.ones(len(old)), week, windows)
    return block_bootstrap(statistic, windows, replicates=REPLICATES, seed=seed)[0]


def share_that_holds_zero(interval: Callable[[int], Interval], repeats: int) -> float:
    held = [found.low <= 0 <= found.high for found in map(interval, range(repeats))]
    return sum(held) / repeats


@pytest.mark.parametrize("name", NULLS)
def test_mean_difference_is_covered(name: str) -> None:
    assert 0.91 <= share_that_holds_zero(lambda seed: mean_interval(NULLS[name], seed), 200) <= 0.98


@pytest.mark.nightly
@pytest.mark.parametrize("name", NULLS)
def test_mean_difference_is_covered_closely(name: str) -> None:
    assert 0.93 <= share_that_holds_zero(lambda seed: mean_interval(NULLS[name], seed), 1_000) <= 0.97


def plain_interval(null: Null, seed: int) -> Interval:
    """Return the percentile interval of single weeks drawn anew: what everybody's first bootstrap does."""
    old, new, week = null(np.random.default_rng([11, seed]))
    windows = int(week.max()) + 1
    statistic = ratio_of_sums(new - old, np.ones(len(old)), week, windows)
    drawn = statistic(multiplicities(windows, 1, REPLICATES, np.random.default_rng(seed)))
    low, high = np.percentile(drawn, [2.5, 97.5])
    return Interval(0.0, float(low), float(high), 1.0, windows, 1, 0.0)


def test_the_null_is_hard() -> None:
    """Without blocks and calibration an interval of the same data misses the truth far more often than promised."""
    assert share_that_holds_zero(lambda seed: plain_interval(NULLS["queue at load 0.9, 52 weeks"], seed), 200) < 0.85


def tail_intervals(seed: int) -> list[Interval]:
    old, new, week = queue(26, 0.7, 100)(np.random.default_rng([13, seed]))
    windows = int(week.max()) + 1
    before, after = WindowedSample(old, week, windows), WindowedSample(new, week, windows)

    def statistic(weights):
        options = ((0.5, 0.95, 0.99), 0.05, TRIMMED)
        return after.describe(weights, *options) - before.describe(weights, *options)

    return block_bootstrap(statistic, windows, replicates=200, seed=seed)


def test_tails_are_covered() -> None:
    """Mean, mean of the middle half, median, 95 %, 99 % and the worst 5 %, each on its own."""
    held = [[found.low <= 0 <= found.high for found in tail_intervals(seed)] for seed in range(200)]
    shares = np.mean(held, axis=0)
    assert np.all((shares >= 0.91) & (shares <= 0.985))


class Lottery(Order):
    """A random place in the queue, drawn at arrival: two seeds differ, and neither is better."""

    def reset(self, cluster, rng):
        super().reset(cluster, rng)
        self._rng = rng

    def key(self, job, system):
        return self._rng.random()


def paired_runs(workload_seed: int, seeds: int):
    workload = registry.make("models", "poisson", jobs=700, nodes=16, load=0.4, seed=workload_seed)
    first = seeds * workload_seed
    return [simulate(workload, Cluster.of_nodes(16), Lottery(), seed=seed) for seed in range(first, first + seeds)]


@pytest.mark.parametrize(
    ("workloads", "low", "high"),
    [
        pytest.param(20, 0.91, 0.98, id="200 pairs", marks=pytest.mark.slow),
        pytest.param(100, 0.93, 0.97, id="1,000 pairs", marks=pytest.mark.nightly),
    ],
)
def test_runs_that_differ_by_luck_alone(workloads: int, low: float, high: float) -> None:
    """Five runs each of a lottery on generated workloads, every pair of them compared."""
    held = []
    for seed in range(workloads):
        runs = paired_runs(seed, 5)
        for first, old in enumerate(runs):
            for new in runs[first + 1 :]:
                row = winners_and_losers(old, new, width="day", replicates=200, seed=seed).iloc[0]
                held.append(row["low"] <= 0 <= row["high"])
    assert len(held) == 10 * workloads
    assert low <= np.mean(held) <= high


def test_a_true_difference_is_found() -> None:
    """Waits twice as long are called worse nearly every time."""
    verdicts = []
    for seed in range(20):
        old, new, week = queue(52, 0.7, 200)(np.random.default_rng(seed))
        statistic = ratio_of_sums(2 * new - old, np.ones(len(old)), week, int(week.max()) + 1)
        verdicts.append(block_bootstrap(statistic, int(week.max()) + 1, replicates=200)[0].verdict())
    assert verdicts.count("worse") >= 18


def test_known_mean_of_a_queue_is_covered() -> None:
    """M/M/1 at load 0.6 with service 1: the mean wait is 0.6 / (1 - 0.6) = 1.5; 60 windows of 150 jobs."""
    hits = 0
    for seed in range(100):
        rng = np.random.default_rng([17, seed])
        gap_s, service_s = rng.exponential(1 / 0.6, 11_000), rng.exponential(1.0, 11_000)
        wait_s = lindley_wait_s(gap_s, service_s)[2_000:]
        week = np.arange(len(wait_s)) // 150
        interval = block_bootstrap(ratio_of_sums(wait_s, np.ones(len(wait_s)), week, 60), 60, replicates=200)[0]
        hits += interval.low <= 1.5 <= interval.high
    assert 88 <= hits <= 99
