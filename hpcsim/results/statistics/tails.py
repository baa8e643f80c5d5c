"""The tail of a distribution: how bad is it for those who fare worst?"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike


def conditional_value_at_risk(values: ArrayLike, share: float = 0.05) -> float:
    """Return the mean of the largest *share* of the values, in their unit; NaN without values.

    CVaR, or expected shortfall. Of n values, the share x n largest; where that is no whole number,
    the last of them counts in part. Unlike a percentile it sees how long the longest waits are, and
    unlike the maximum it is no single job's.

    Source: Rockafellar and Uryasev, "Conditional value-at-risk for general loss distributions",
    Journal of Banking and Finance 26 (2002).
    """
    ordered = np.sort(np.asarray(values, dtype=float))[::-1]
    if not len(ordered):
        return math.nan
    size = share * len(ordered)
    weights = np.clip(size - np.arange(len(ordered)), 0, 1)
    return float(ordered @ weights) / size
