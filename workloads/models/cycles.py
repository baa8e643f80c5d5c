"""Arrivals that follow the hours of the day and the days of the week, with any gaps and any load.

A cycle has a weight for each bucket of time, their mean 1. Arrivals are laid out on a scale of
points, on which a bucket is as long as its weight, and then read off in seconds. This is the same
walk through the buckets that Lublin and Feitelson describe, done for all jobs at once. Stretching
the points instead of the seconds scales the load and leaves each hour of the day in its place.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
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
        edges, seconds = self._edges()
        periods, rest = np.divmod(points, edges[-1])
        return np.asarray(periods * self.period_s + np.interp(rest, edges, seconds))

    def points_at(self, time_s: float) -> float:
        """Return the points that have gone by so many seconds after the start of a period."""
        edges, seconds = self._edges()
        periods, rest_s = divmod(time_s, self.period_s)
        return float(periods * edges[-1] + np.interp(rest_s, seconds, edges))

    def _edges(self) -> tuple[Floats, Floats]:
        """Return the buckets' edges in points and in seconds, both from 0."""
        edges: Floats = np.concatenate(([0.0], np.cumsum(self.weights)))
        return edges, np.arange(len(edges), dtype=np.float64) * self.bucket_s


def spread(streams: Sequence[tuple[Cycle, Floats]], span_s: float) -> list[Floats]:
    """Return the times of several streams of points, stretched alike until all together span *span_s* seconds.

    Each stream is a cycle and its points, ascending from the start of a period, [J] each; empty ones
    are allowed. Where there is nothing to stretch (one arrival in all) the times are as they are.
    """
    ends = [(cycle, points[[0, -1]]) for cycle, points in streams if len(points)]

    def reached_s(stretch: float) -> float:
        times = [cycle.times_s(points * stretch) for cycle, points in ends]
        return float(max(t[1] for t in times) - min(t[0] for t in times)) if times else 0.0

    stretch = _solve(reached_s, span_s) if reached_s(1.0) > 0 else 1.0
    return [cycle.times_s(points * stretch) for cycle, points in streams]


def spread_from(cycle: Cycle, points: Floats, start_s: float, span_s: float) -> Floats:
    """Return times for *points* [J], ascending: the first at *start_s* of a period, the last *span_s* later."""
    offset, since_first = cycle.points_at(start_s), points - points[0]

    def reached_s(stretch: float) -> float:
        return float(cycle.times_s(offset + since_first[-1:] * stretch)[0]) - start_s

    stretch = _solve(reached_s, span_s) if since_first[-1] > 0 else 1.0
    return cycle.times_s(offset + since_first * stretch)


def _solve(reached: Callable[[float], float], wanted: float) -> float:
    """Return the argument at which a growing function reaches *wanted*, by bisection."""
    low, high = 0.0, 1.0
    while reached(high) < wanted:
        high *= 2
    for _ in range(BISECTIONS):
        middle = (low + high) / 2
        low, high = (middle, high) if reached(middle) < wanted else (low, middle)
    return high


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
