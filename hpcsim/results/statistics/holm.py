"""Several comparisons at once: p-values that allow for their number."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hpcsim.errors import InvalidArgument


def holm(p_values: ArrayLike) -> NDArray[Any]:
    """Return Holm's adjusted p-values, in the order given; no unit.

    With m p-values in ascending order, the i-th becomes the largest of (m - j + 1) p_j over j <= i,
    at most 1. Calling those below alpha real keeps the chance of one or more false calls at alpha
    or less, whatever the dependence between them. NaN, a comparison that gave no p-value, stays NaN
    and counts as none.

    Raises:
        InvalidArgument: a value is below 0 or above 1.

    Source: Holm, "A simple sequentially rejective multiple test procedure", Scandinavian Journal of
    Statistics 6 (1979).
    """
    given = np.asarray(p_values, dtype=float)
    if np.any((given < 0) | (given > 1)):
        raise InvalidArgument("A p-value lies outside 0 to 1.", "Give probabilities.")
    adjusted = np.full(given.shape, np.nan)
    known = np.flatnonzero(~np.isnan(given))
    order = known[np.argsort(given[known], kind="stable")]
    steps = given[order] * np.arange(len(order), 0, -1)
    adjusted[order] = np.minimum(np.maximum.accumulate(steps), 1.0) if len(order) else steps
    return adjusted
