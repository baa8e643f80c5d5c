"""What only a run tells of its power: peaks and bursts. For reproductions of models that use them, never for advice.

Ahmed et al. (arXiv 2601.15399) have features of power over time (bursts, spikes) among their 35; what exactly they
count is not published. These are the columns here, by the mean of the job's own samples.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from hpcsim.surrogates.features.columns import BURSTS
from hpcsim.workload import Workload

if TYPE_CHECKING:
    import pandas as pd

Floats = NDArray[np.float64]

BURST = 1.2
"""A sample is part of a burst from this many times the job's mean."""


def has_bursts(workload: Workload) -> bool:
    """Tell whether *workload* says more of a job's power than its mean."""
    return "power_series_w" in workload.columns or "max_power_w" in workload.columns


def with_bursts(table: pd.DataFrame, workload: Workload) -> pd.DataFrame:
    """Return *table*, of contexts or outcomes, with the columns `BURSTS` of the same jobs of *workload*.

    ``power_peak_ratio`` is the greatest sample over the mean, ``power_variation`` the deviation of samples over the
    mean, ``power_bursts`` how often samples rise to `BURST` times the mean or more, ``power_burst_share`` the share
    of such samples. NaN where the log does not say: all but the first need ``power_series_w``.
    """
    rows = table["row"].to_numpy(dtype=np.int64)
    columns = workload.columns
    if "power_series_w" in columns:
        found = np.array([burst_figures(columns["power_series_w"][row]) for row in rows]).reshape(-1, len(BURSTS))
    else:
        found = np.full((len(rows), len(BURSTS)), np.nan)
        if "max_power_w" in columns and "mean_power_w" in columns:
            mean_w, most_w = (columns[name][rows].astype(float) for name in ("mean_power_w", "max_power_w"))
            found[:, 0] = np.divide(most_w, mean_w, out=np.full(len(rows), np.nan), where=mean_w > 0)
    return table.assign(**dict(zip(BURSTS, found.T, strict=True)))


def burst_figures(samples_w: object) -> tuple[float, ...]:
    """Return the figures `BURSTS` of one job's *samples_w*; NaN without a sample or where it draws nothing."""
    samples = np.asarray(samples_w, dtype=np.float64)
    mean_w = samples.mean() if samples.size else 0.0
    if not mean_w > 0:
        return (np.nan,) * len(BURSTS)
    is_high = samples >= BURST * mean_w
    rises = int(is_high[0]) + int(np.sum(is_high[1:] & ~is_high[:-1]))
    return (float(samples.max() / mean_w), float(samples.std() / mean_w), float(rises), float(is_high.mean()))
