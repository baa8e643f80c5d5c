"""A mean over a crossed design, every run on every task: neither runs nor tasks are independent repetitions of all."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from hpcsim.errors import InvalidArgument
from hpcsim.results.statistics.student import LEVEL, MeanInterval, mean_interval, t_quantile, two_sided_p


def crossed_interval(values: ArrayLike, level: float = LEVEL) -> MeanInterval:
    """Return the mean of *values*, shape [runs, tasks], with an interval for other runs and other tasks.

    A training seed is good or bad on all workloads, a workload hard or easy for all seeds: values that
    share either are alike, and an interval over their number would be too short. The variance of the
    mean is the sum of that of the runs' means over their number and that of the tasks' means over
    theirs. It counts what a run does on one task twice, so it errs to the wide side, and lies between
    the two with Satterthwaite's degrees of freedom, rounded down. Of one run it is Student's interval
    over tasks, which promises nothing about other runs, and of one task the reverse.

    Raises:
        InvalidArgument: there are no values, or they have no two axes.

    Source: Owen, "The pigeonhole bootstrap", Annals of Applied Statistics 1 (2007), of whose variance
    this is the closed form.
    """
    sample = np.asarray(values, dtype=np.float64)
    if sample.ndim != 2 or not sample.size:
        raise InvalidArgument(f"Values of shape {list(sample.shape)} are no runs on tasks.", "Give [runs, tasks].")
    if 1 in sample.shape:
        return mean_interval(sample.ravel(), level)
    parts = [float(sample.mean(axis=1 - axis).var(ddof=1)) / sample.shape[axis] for axis in (0, 1)]
    mean, variance = float(sample.mean()), sum(parts)
    if variance <= (1e-12 * mean) ** 2:
        return MeanInterval(mean, mean, mean, float(mean == 0))
    freedom = variance**2 / sum(part**2 / (size - 1) for part, size in zip(parts, sample.shape, strict=True))
    error, whole = variance**0.5, max(1, int(freedom))
    half = t_quantile((1 + level) / 2, whole) * error
    return MeanInterval(mean, mean - half, mean + half, two_sided_p(mean / error, whole))
