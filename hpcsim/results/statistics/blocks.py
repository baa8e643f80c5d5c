"""Blocks of consecutive windows, drawn anew: the circular moving-block bootstrap.

Queues remember: a bad week makes the next one worse. Windows drawn singly would lose that, and
intervals come out too narrow; blocks of consecutive ones keep it within them. The series is closed
to a circle, so that its ends are drawn as often as its middle.

Sources: Künsch, "The jackknife and the bootstrap for general stationary observations", Annals of
Statistics 17 (1989); Politis and Romano, "A circular block-resampling procedure for stationary
data" (1992).
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

Values = NDArray[Any]

FEWEST_BLOCKS = 5
"""A series is cut into at least so many blocks."""


def multiplicities(windows: int, length: int, replicates: int, generator: np.random.Generator) -> Values:
    """Return how often each window was drawn; shape [replicates, windows], each row sums to *windows*.

    Blocks of *length* consecutive windows start anywhere on the circle; the last is cut so that
    every replicate is as long as the series.
    """
    blocks = math.ceil(windows / length)
    starts = generator.integers(0, windows, (replicates, blocks))
    drawn = (starts[:, :, None] + np.arange(length)).reshape(replicates, -1)[:, :windows] % windows
    flat = drawn + windows * np.arange(replicates)[:, None]
    return np.bincount(flat.ravel(), minlength=replicates * windows).reshape(replicates, windows).astype(float)


def block_length(series: Values) -> int:
    """Return how many consecutive windows a block should have, from the correlation within *series*.

    The length that minimises the mean squared error of the variance,
    (2 G^2 / D)^(1/3) n^(1/3) with D = 4/3 g(0)^2 for circular blocks, where G and g(0) are sums of
    |k| R(k) and R(k) over the autocovariances R, tapered by a flat-top window; never below n^(1/3),
    never so long that fewer than `FEWEST_BLOCKS` fit.

    Source: Politis and White, "Automatic block-length selection for the dependent bootstrap",
    Econometric Reviews 23 (2004), with the correction by Patton, Politis and White (2009).
    """
    count = len(series)
    most = max(1, count // FEWEST_BLOCKS)
    autocovariance = _autocovariance(series)
    optimum = _optimum(autocovariance, count) if len(autocovariance) > 1 and autocovariance[0] > 0 else 0.0
    return int(np.clip(round(max(optimum, count ** (1 / 3))), 1, most))


def _optimum(autocovariance: Values, count: int) -> float:
    reach = min(2 * _memory(autocovariance / autocovariance[0], count), len(autocovariance) - 1)
    lags = np.arange(1, reach + 1)
    taper = np.clip(2 * (1 - lags / reach), 0, 1)
    weighted = taper * autocovariance[1 : reach + 1]
    spectrum = autocovariance[0] + 2 * float(weighted.sum())
    slope = 2 * float((lags * weighted).sum())
    if spectrum <= 0:
        return 0.0
    return float((1.5 * slope**2 / spectrum**2 * count) ** (1 / 3))


def _memory(correlation: Values, count: int) -> int:
    """Return the lag after which a run of correlations is negligible, else the last lag that is not; 1 or more."""
    is_large = np.abs(correlation[1:]) >= 2 * math.sqrt(math.log10(count) / count)
    run = max(5, math.ceil(math.sqrt(math.log10(count))))
    for lag in range(len(is_large) - run + 1):
        if not is_large[lag : lag + run].any():
            return max(lag, 1)
    large = np.flatnonzero(is_large)
    return int(large[-1]) + 1 if len(large) else 1


def _autocovariance(series: Values) -> Values:
    """Return the autocovariances of lags 0, 1, ... up to sqrt(n) and a few more."""
    count = len(series)
    if not count:
        return np.zeros(0)
    centred = series - series.mean()
    lags = min(count - 1, math.ceil(math.sqrt(count)) + 5)
    return np.array([float(centred[: count - lag] @ centred[lag:]) for lag in range(lags + 1)]) / count
