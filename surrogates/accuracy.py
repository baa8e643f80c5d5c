"""How well run times or watts are predicted: errors with their units, and whether intervals hold the truth."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

if TYPE_CHECKING:
    import pandas as pd

Floats = NDArray[np.float64]
Mask = NDArray[np.bool_]

TAIL = 95
"""Percentile of true over predicted that ``under_tail`` tells."""


def accuracy(true: ArrayLike, mean: ArrayLike, lower: ArrayLike, upper: ArrayLike, *, level: float = 0.9) -> dict:
    """Return the errors of J predictions of one target, all above 0; rows with a NaN are left out and counted.

    ``jobs missing``: how many were judged, and how many were not. ``mape_percent median_ape_percent``:
    mean and median of |predicted - true| / true, in percent. ``rmse_log r2_log``: of natural logarithms.
    ``under_estimation_rate``: share with true > predicted, and ``under_tail``, the 95th percentile of
    true / predicted. ``pinball_log``: mean loss of both ends of the interval as quantiles, of logarithms.
    ``coverage``: share within [lower, upper]; ``width_factor``: geometric mean of upper / lower.

    Args:
        true, mean, lower, upper: shape [J].
        level: the share that the interval is meant to hold.
    """
    table = np.stack([np.asarray(values, dtype=np.float64) for values in (true, mean, lower, upper)])
    is_known = np.all(np.isfinite(table) & (table > 0), axis=0)
    if not is_known.any():
        return {"jobs": 0, "missing": table.shape[1]} | dict.fromkeys(MEASURES, np.nan)
    truth, guess, low, high = np.log(table[:, is_known])
    share = np.abs(np.expm1(guess - truth))
    error = truth - guess
    spread = float(np.sum((truth - truth.mean()) ** 2))
    tail = (1 - level) / 2
    return {
        "jobs": int(is_known.sum()),
        "missing": int((~is_known).sum()),
        "mape_percent": 100 * float(share.mean()),
        "median_ape_percent": 100 * float(np.median(share)),
        "rmse_log": float(np.sqrt(np.mean(error**2))),
        "r2_log": 1 - float(np.sum(error**2)) / spread if spread > 0 else np.nan,
        "under_estimation_rate": float(np.mean(error > 0)),
        "under_tail": float(np.exp(np.percentile(error, TAIL))),
        "pinball_log": (_pinball(truth - low, tail) + _pinball(truth - high, 1 - tail)) / 2,
        "coverage": float(np.mean((low <= truth) & (truth <= high))),
        "width_factor": float(np.exp(np.mean(high - low))),
    }


MEASURES = (
    *("mape_percent", "median_ape_percent", "rmse_log", "r2_log", "under_estimation_rate", "under_tail"),
    *("pinball_log", "coverage", "width_factor"),
)
"""Keys of `accuracy` beside the counts."""


def accuracy_by_group(
    true: ArrayLike,
    mean: ArrayLike,
    lower: ArrayLike,
    upper: ArrayLike,
    *,
    nodes: ArrayLike,
    is_seen: ArrayLike,
    level: float = 0.9,
) -> pd.DataFrame:
    """Return `accuracy` of all jobs and of groups: one row each, named in column ``group``.

    Groups are bands of the logged node count by powers of two (``1 node``, ``2-3 nodes``, ...), and jobs whose
    application was seen in training or was not. Groups without a job have no row.

    Args:
        true, mean, lower, upper, level: as `accuracy` takes them.
        nodes: logged counts, shape [J].
        is_seen: whether each job's application was seen, shape [J].
    """
    import pandas as pd

    table = [np.asarray(values, dtype=np.float64) for values in (true, mean, lower, upper)]
    groups = _groups(np.asarray(nodes, dtype=np.int64), np.asarray(is_seen, dtype=bool))
    rows = [{"group": name} | accuracy(*(column[mask] for column in table), level=level) for name, mask in groups]
    return pd.DataFrame(rows)


def _groups(nodes: NDArray[np.int64], is_seen: Mask) -> Iterator[tuple[str, Mask]]:
    yield "all", np.ones(len(nodes), dtype=bool)
    band = np.floor(np.log2(np.maximum(nodes, 1))).astype(np.int64)
    for power in np.unique(band).tolist():
        low, high = 2**power, 2 ** (power + 1) - 1
        yield ("1 node" if power == 0 else f"{low}-{high} nodes"), band == power
    for name, mask in (("application seen", is_seen), ("application unseen", ~is_seen)):
        if mask.any():
            yield name, mask


def _pinball(excess: Floats, quantile: float) -> float:
    """Return the mean loss of a quantile that the truth exceeds by *excess*."""
    return float(np.mean(np.maximum(quantile * excess, (quantile - 1) * excess)))
