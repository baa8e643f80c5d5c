"""Several runs (seeds) on several tasks (logs): aggregate scores, and how sure they are.

Scores are arrays of shape [..., runs, tasks]; higher is better, so negate waits. Runs of one task
are independent of each other; tasks are fixed. Definitions are those of Agarwal, Schwarzer, Castro,
Courville and Bellemare, "Deep reinforcement learning at the edge of the statistical precipice"
(NeurIPS 2021), as in their package rliable.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hpcsim.errors import InvalidArgument

Values = NDArray[Any]

TRIMMED = 0.25
"""Share that the interquartile mean leaves out at either end."""


def interquartile_mean(scores: ArrayLike) -> Any:
    """Return the mean of the middle half of all runs and tasks, in the unit of the scores.

    Of n scores, the floor(n / 4) lowest and as many of the highest are left out. Less noisy than
    the median, and unlike the mean not ruled by a few runs. Shape: that of the leading axes.
    """
    values = _scores(scores)
    pooled = np.sort(values.reshape(*values.shape[:-2], -1), axis=-1)
    cut = int(TRIMMED * pooled.shape[-1])
    return pooled[..., cut : pooled.shape[-1] - cut].mean(axis=-1)


def probability_of_improvement(scores: ArrayLike, others: ArrayLike) -> Any:
    """Return the chance that a run of *scores* beats one of *others* on the same task; 0 to 1.

    For each task the share of pairs of runs with score > other, ties counted as a half (Mann and
    Whitney's U over the number of pairs); then the mean over tasks. The numbers of runs may differ,
    the tasks may not. Shape: that of the leading axes.
    """
    ours, theirs = _scores(scores), _scores(others)
    if ours.shape[-1] != theirs.shape[-1]:
        raise InvalidArgument(
            f"The scores are of {ours.shape[-1]} tasks and of {theirs.shape[-1]}.", "Compare runs of the same tasks."
        )
    gaps = ours[..., :, None, :] - theirs[..., None, :, :]
    return (0.5 * (1 + np.sign(gaps))).mean(axis=(-3, -2, -1))


def stratified_interval(
    statistic: Callable[..., Any],
    *scores: ArrayLike,
    level: float = 0.95,
    replicates: int = 2_000,
    seed: int = 0,
) -> tuple[float, float]:
    """Return the percentile interval of a statistic under the stratified bootstrap.

    The strata are tasks: the runs of each are drawn anew, with replacement and independently of the
    other tasks', for each array in *scores*. *statistic* takes as many arrays, with an axis of
    replicates in front, and returns one value a replicate, as the functions of this module do.

    The interval allows for the noise between runs only: other tasks are not promised anything.
    """
    arrays = [_scores(values) for values in scores]
    generator = np.random.default_rng(seed)
    drawn = statistic(*(_redrawn(values, replicates, generator) for values in arrays))
    tail = 50 * (1 - level)
    low, high = np.percentile(drawn, [tail, 100 - tail])
    return float(low), float(high)


def _redrawn(values: Values, replicates: int, generator: np.random.Generator) -> Values:
    """Return the runs of each task drawn anew; shape [replicates, runs, tasks]."""
    runs, tasks = values.shape[-2:]
    drawn = generator.integers(0, runs, (replicates, runs, tasks))
    return values[drawn, np.arange(tasks)]


def _scores(scores: ArrayLike) -> Values:
    values = np.asarray(scores, dtype=float)
    if values.ndim < 2 or 0 in values.shape:
        raise InvalidArgument(
            f"Scores of shape {list(values.shape)} have no runs and tasks.", "Give an array [runs, tasks]."
        )
    return values
