"""Arrivals that follow the hours of the day and the days of the week, with any gaps and any load.

A cycle has a weight for each bucket of time, their mean 1. Arrivals are laid out on a scale of
points, on which a bucket is as long as its weight, and then read off in seconds. This is the same
walk through the buckets that Lublin and Feitelson describe, done for all jobs at once. Stretching
the points instead of the seconds scales the load and leaves each hour of the day in its place.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

DAY_S = 86_400
WEEK_S = 7 * DAY_S
BISECTIONS = 80
Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Cycle:
    """Weights of the buckets that a period (a day, a week) is cut into; one point is one mean bucket.

    Attributes:
        weights: arrivals in each bucket relative to the mean, shape [B], above 0.
        period_s: length of all buckets together, in seconds.
    """

    weights: Floats
    period_s: int

    @classmethod
    def of(cls, weights: Floats, period_s: int) -> Cycle:
        """Return a cycle whose weights are divided by their mean."""
        return cls(weights / weights.mean(), period_s)

    @property
    def bucket_s(self) -> float:
        """Seconds in a bucket."""
        return self.period_s / len(self.weights)

    def times_s(self, points: Floats) -> Floats:
        """Return the seconds at which so many points have gone by since the start of a period."""
        edges = np.concatenate(([0.0], np.cumsum(self.weights)))
        periods, rest = np.divmod(points, edges[-1])
        return np.asarray(periods * self.period_s + np.interp(rest, edges, np.arange(len(edges)) * self.bucket_s))


def spread(streams: Sequence[tuple[Cycle, Floats]], span_s: float) -> list[Floats]:
    """Return the times of several streams of points, stretched alike until all together span *span_s* seconds.

    Each stream is a cycle and its points, ascending, [J] each; empty ones are allowed. Where there is
    nothing to stretch (one arrival in all) the times are as they are.
    """
    ends = [(cycle, points[[0, -1]]) for cycle, points in streams if len(points)]
    stretch = 1.0
    if _span_s(ends, 1.0) > 0:
        stretch = _stretch(ends, span_s)
    return [cycle.times_s(points * stretch) for cycle, points in streams]


def _stretch(ends: Sequence[tuple[Cycle, Floats]], span_s: float) -> float:
    low, high = 0.0, 1.0
    while _span_s(ends, high) < span_s:
        high *= 2
    for _ in range(BISECTIONS):
        middle = (low + high) / 2
        low, high = (middle, high) if _span_s(ends, middle) < span_s else (low, middle)
    return high


def _span_s(ends: Sequence[tuple[Cycle, Floats]], stretch: float) -> float:
    times = [cycle.times_s(points * stretch) for cycle, points in ends]
    return float(max(t[1] for t in times) - min(t[0] for t in times)) if times else 0.0


def flat_points(rng: np.random.Generator, count: int) -> Floats:
    """Return *count* ascending points with exponential gaps of mean 1: a Poisson process before the cycle."""
    return np.cumsum(rng.exponential(1.0, count))


def office_week() -> Cycle:
    """Return a week of hours, index 0 on Monday at midnight: quiet nights, full working days, half-empty weekends.

    Weekday hours rise from 0.35 at 5 h to 1.9 at 15 h as a raised cosine; at weekends all are 0.45 of that.
    """
    hours = np.arange(24)
    day = 0.35 + 1.55 * (0.5 + 0.5 * np.cos((hours - 15) / 24 * 2 * np.pi)) ** 1.5
    return Cycle.of(np.concatenate([day * factor for factor in (1, 1, 1, 1, 1, 0.45, 0.45)]), WEEK_S)


def half_days(day_share: float) -> Cycle:
    """Return a day of two halves: 8 to 20 h holds *day_share* (0 to 1) of its arrivals, the night the rest."""
    hours = np.arange(24)
    return Cycle.of(np.where((hours >= 8) & (hours < 20), day_share, 1 - day_share), DAY_S)
