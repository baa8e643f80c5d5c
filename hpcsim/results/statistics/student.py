"""Student's t: the interval of a mean, and the distribution in closed form for whole degrees of freedom.

Source: Abramowitz and Stegun, Handbook of Mathematical Functions, 26.7.3 to 26.7.5.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from statistics import NormalDist
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

LEVEL = 0.95
_NO_SPREAD = 1e-12
"""A standard error below this share of the mean is rounding."""


class MeanInterval(NamedTuple):
    """A mean, the ends of its interval, and the two-sided p of "the truth is 0"; NaN for what is not known."""

    mean: float
    low: float
    high: float
    p_value: float


def mean_interval(values: Sequence[float] | NDArray[Any], level: float = LEVEL) -> MeanInterval:
    """Return the mean of independent *values* with its Student interval.

    Fewer than two values have no interval, none has no mean. Values that are all the same have an
    interval of no length and p = 0 (1 where they are 0).
    """
    sample = np.asarray(values, dtype=np.float64)
    count = len(sample)
    if not count:
        return MeanInterval(math.nan, math.nan, math.nan, math.nan)
    mean = float(sample.mean())
    if count < 2:
        return MeanInterval(mean, math.nan, math.nan, math.nan)
    error = float(sample.std(ddof=1)) / math.sqrt(count)
    if error <= _NO_SPREAD * abs(mean):
        return MeanInterval(mean, mean, mean, float(mean == 0))
    half = t_quantile((1 + level) / 2, count - 1) * error
    return MeanInterval(mean, mean - half, mean + half, two_sided_p(mean / error, count - 1))


def central_probability(t: float, freedom: int) -> float:
    """Return the probability that a t variable lies between -|t| and |t|."""
    if math.isinf(t):
        return 1.0
    angle = math.atan(abs(t) / math.sqrt(freedom))
    cosine = math.cos(angle)
    term, total = (cosine, cosine) if freedom % 2 else (1.0, 1.0)
    for k in range(3 if freedom % 2 else 2, freedom - 1, 2):
        term *= cosine**2 * (k - 1) / k
        total += term
    if freedom == 1:
        return 2 * angle / math.pi
    if freedom % 2:
        return 2 / math.pi * (angle + math.sin(angle) * total)
    return math.sin(angle) * total


def two_sided_p(t: float, freedom: int) -> float:
    """Return the probability of a value at least as far from 0 as *t*."""
    return max(0.0, 1 - central_probability(t, freedom))


def t_quantile(share: float, freedom: int) -> float:
    """Return the value below which a t variable lies with probability *share*, 0.5 to 1."""
    low, high = 0.0, 1.0
    while central_probability(high, freedom) < 2 * share - 1:
        high *= 2
    for _ in range(80):
        middle = (low + high) / 2
        low, high = (middle, high) if central_probability(middle, freedom) < 2 * share - 1 else (low, middle)
    return (low + high) / 2


def t_quantile_nearly(share: float, degrees: float) -> float:
    """Return what `t_quantile` does for any *degrees* of freedom from 2 on, fractions too, right to 1 % (26.7.5)."""
    z = NormalDist().inv_cdf(share)
    terms = (
        (z**3 + z) / 4,
        (5 * z**5 + 16 * z**3 + 3 * z) / 96,
        (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / 384,
        (79 * z**9 + 776 * z**7 + 1482 * z**5 - 1920 * z**3 - 945 * z) / 92160,
    )
    return z + sum(term / degrees**power for power, term in enumerate(terms, start=1))
