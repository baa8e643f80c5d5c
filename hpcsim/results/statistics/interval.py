"""An interval for any statistic of weekly data, and what it lets one say."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hpcsim.results.statistics.blocks import block_length, multiplicities
from hpcsim.results.statistics.calibration import neighbour_correlation, widening
from hpcsim.results.statistics.windows import FEWEST

Values = NDArray[Any]
Statistic = Callable[[Values], Values]
"""From how often each window counts, shape [replicates, windows], to values, shape [replicates, statistics]."""

LEVEL = 0.95
REPLICATES = 2_000
AT_ONCE = 500
"""Windows that are left out in one evaluation."""


class Verdict(StrEnum):
    """What a comparison shows."""

    BETTER = "better"
    WORSE = "worse"
    NONE_SHOWN = "no difference shown"
    SAME = "the same"
    NO_INTERVAL = "no interval"


@dataclass(frozen=True, slots=True)
class Interval:
    """Where the truth lies, with so much confidence; in the unit of *estimate*.

    Attributes:
        estimate: the value in the sample.
        low, high: ends of the interval; NaN where there is none.
        p_value: two-sided, of "the truth is 0"; at least 1 / (replicates + 1); NaN without an interval.
        windows: how many windows the sample has.
        block: windows a block.
        correlation: of the influence of each window with that of the next, 0 to 0.9.
    """

    estimate: float
    low: float
    high: float
    p_value: float
    windows: int
    block: int
    correlation: float

    def moved_to(self, estimate: float) -> Interval:
        """Return the interval about the exact *estimate*, where the statistic only came close to it."""
        shift = estimate - self.estimate
        return replace(self, estimate=estimate, low=self.low + shift, high=self.high + shift)

    def verdict(self, *, lower_is_better: bool = True) -> Verdict:
        """Return what an interval of a difference (new - old) shows about the new one."""
        if math.isnan(self.low) or math.isnan(self.estimate):
            return Verdict.NO_INTERVAL
        if self.low == self.high == 0:
            return Verdict.SAME
        if self.low <= 0 <= self.high:
            return Verdict.NONE_SHOWN
        return Verdict.BETTER if (self.high < 0) == lower_is_better else Verdict.WORSE


def block_bootstrap(
    statistic: Statistic,
    windows: int,
    *,
    level: float = LEVEL,
    replicates: int = REPLICATES,
    seed: int = 0,
    length: int | None = None,
) -> list[Interval]:
    """Return an interval for each value of *statistic*, by the calibrated circular block bootstrap.

    All statistics are computed on the same draws, in blocks that suit the first one, or of *length*
    windows. Replicates' deviations from the estimate are stretched by
    `hpcsim.results.statistics.calibration.widening`; the interval holds the middle *level* of them.
    The influence of a window, which blocks and widening are judged by, is (n - 1) x (estimate -
    estimate without it): the jackknife's. Below `FEWEST` windows the ends are NaN.

    The same seed gives the same interval. Cost: replicates + windows evaluations of *statistic*.
    """
    whole = statistic(np.ones((1, windows)))[0]
    if windows < FEWEST:
        return [Interval(float(value), math.nan, math.nan, math.nan, windows, 0, math.nan) for value in whole]
    influences = (windows - 1) * (whole - _without_each(statistic, windows))
    influences = np.where(np.isfinite(influences), influences, 0.0)
    size = length or block_length(influences[:, 0])
    drawn = statistic(multiplicities(windows, size, replicates, np.random.default_rng(seed)))
    return [
        _interval(float(value), drawn[:, place], influences[:, place], size, level) for place, value in enumerate(whole)
    ]


def _without_each(statistic: Statistic, windows: int) -> Values:
    """Return the statistics without each window in turn; shape [windows, statistics]."""
    parts = []
    for first in range(0, windows, AT_ONCE):
        left_out = np.arange(first, min(first + AT_ONCE, windows))
        weights = np.ones((len(left_out), windows))
        weights[np.arange(len(left_out)), left_out] = 0
        parts.append(statistic(weights))
    return np.concatenate(parts)


def _interval(estimate: float, drawn: Values, influence: Values, size: int, level: float) -> Interval:
    """Stretch the replicates about the estimate and read off the ends; undefined replicates are left out."""
    correlation = neighbour_correlation(influence)
    deviations = drawn[np.isfinite(drawn)] - estimate
    if not math.isfinite(estimate) or not len(deviations):
        return Interval(estimate, math.nan, math.nan, math.nan, len(influence), size, correlation)
    stretched = estimate + widening(influence, size, level) * deviations
    low, high = np.percentile(stretched, [50 * (1 - level), 50 * (1 + level)])
    rarer = min(np.count_nonzero(stretched <= 0), np.count_nonzero(stretched >= 0))
    p_value = min(1.0, 2 * (1 + rarer) / (1 + len(stretched)))
    return Interval(estimate, float(low), float(high), p_value, len(influence), size, correlation)
