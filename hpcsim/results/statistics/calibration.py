"""How much wider than the plain block bootstrap must an interval be to keep its promise?

With few blocks the plain moving-block bootstrap is too sure of itself, for three reasons: the
spread within a sample is smaller than that around the truth, correlation that reaches beyond a
block is lost, and a spread that is itself estimated asks for Student's quantiles. Each has a known
remedy; `widening` is their product.
"""

from __future__ import annotations

import math
from statistics import NormalDist
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hpcsim.results.statistics.student import t_quantile_nearly

Values = NDArray[Any]

FEWEST_DEGREES = 2.0
OVERLAPPING = 1.5
"""Degrees of freedom that each block is worth, as overlapping ones are all used."""

STRONGEST_CORRELATION = 0.9
"""A correlation between neighbours is believed up to here; beyond, a series is too short to say anything."""


def widening(series: Values, length: int, level: float) -> float:
    """Return the factor by which deviations of block-bootstrap replicates are stretched; 1 or a little more.

    *series* holds the influence of each window on the statistic, *length* is that of the blocks, and
    with k = windows / length blocks the factor is
    t(degrees) / z x sqrt(k / (k - 1)) x sqrt(long-run variance / that within blocks).
    NaN where there is no second block.

    Sources: Hesterberg, "What teachers should know about the bootstrap", The American Statistician
    69 (2015), for the first two terms (the expanded percentile interval); for the others see
    `degrees_of_freedom` and `long_run_variance`.
    """
    blocks = len(series) / length
    if blocks <= 1:
        return math.nan
    normal = NormalDist().inv_cdf((1 + level) / 2)
    student = t_quantile_nearly((1 + level) / 2, degrees_of_freedom(series, length))
    within = block_variance(series, length)
    beyond = math.sqrt(long_run_variance(series, length) / within) if within > 0 else 1.0
    return student / normal * math.sqrt(blocks / (blocks - 1)) * beyond


def degrees_of_freedom(series: Values, length: int) -> float:
    """Return how many degrees of freedom the variance within blocks has; 2 or more.

    1.5 x (windows / length) x min(1, 2 / (kurtosis of the block means - 1)) - 1: fewer where a few
    blocks hold most of the spread, as the percentiles of a tail are made in a few bad weeks.

    Sources: Meketon and Schmeiser, "Overlapping batch means" (WSC 1984), for the 1.5 of blocks that
    overlap; the kurtosis by matching the variance of a variance, as in Satterthwaite, "An
    approximate distribution of estimates of variance components", Biometrics Bulletin 2 (1946).
    """
    deviations = block_means(series, length) - series.mean()
    square = float(np.mean(deviations**2))
    kurtosis = float(np.mean(deviations**4)) / square**2 if square > 0 else 3.0
    share = min(1.0, 2 / (kurtosis - 1)) if kurtosis > 1 else 1.0
    return max(OVERLAPPING * len(series) / length * share - 1, FEWEST_DEGREES)


def long_run_variance(series: Values, length: int) -> float:
    """Return n x the variance of the mean of a correlated series of n values, in the square of their unit.

    The larger of two corrections of the variance within blocks, V(length), which misses what
    reaches beyond a block. One extrapolates from shorter blocks, 2 V(length) - V(length / 3); the
    other takes V of what a first-order autoregression leaves over, divided by (1 - phi)^2.

    Sources: Vats and Flegal, "Lugsail lag windows", Biometrika 109 (2022); Andrews and Monahan,
    "An improved heteroskedasticity and autocorrelation consistent covariance matrix estimator",
    Econometrica 60 (1992).
    """
    within = block_variance(series, length)
    extrapolated = 2 * within - block_variance(series, max(1, round(length / 3))) if length > 1 else within
    phi = neighbour_correlation(series)
    centred = series - series.mean()
    prewhitened = block_variance(centred[1:] - phi * centred[:-1], length) / (1 - phi) ** 2
    return max(within, extrapolated, prewhitened)


def block_variance(series: Values, length: int) -> float:
    """Return *length* x the variance of `block_means`, about the mean of the series."""
    return float(length * np.mean((block_means(series, length) - series.mean()) ** 2))


def block_means(series: Values, length: int) -> Values:
    """Return the mean of each block of *length* consecutive values on the circle; as many as values."""
    closed = np.concatenate([series, series[: length - 1]])
    sums = np.cumsum(np.concatenate([[0.0], closed]))
    means: Values = (sums[length:] - sums[:-length]) / length
    return means


def neighbour_correlation(series: Values) -> float:
    """Return the correlation phi of each value with the next, 0 to `STRONGEST_CORRELATION`.

    The least-squares value, which a short series pulls down, is raised by (1 + 3 phi) / n.

    Source: Marriott and Pope, "Bias in the estimation of autocorrelations", Biometrika 41 (1954).
    """
    centred = series - series.mean()
    square = float(centred @ centred)
    if square <= 0:
        return 0.0
    raw = float(centred[1:] @ centred[:-1]) / square
    return float(np.clip(raw + (1 + 3 * raw) / len(series), 0.0, STRONGEST_CORRELATION))
