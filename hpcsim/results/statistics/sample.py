"""Values of jobs by window: every statistic as a function of how often each window counts.

That is what the block bootstrap asks for, thousands of times. So jobs are counted once, by window
and value, and a replicate costs a matrix product instead of a pass over all jobs.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Values = NDArray[Any]

CLASSES = 1024
"""Classes of value with equally many jobs, and as many more in the upper `TAIL`."""

TAIL = 0.05
"""Share of the jobs, the largest values, that is divided more finely."""

REPLICATES_AT_ONCE = 256


class WindowedSample:
    """Values, each in one window, as counts and sums by window and class of value.

    Up to `CLASSES` different values are kept apart, so that every statistic of unit weights is
    exact. With more, classes of equal counts take their place: sums stay exact, and a quantile is
    wrong by less than the width of its class, 1/1,024 of the jobs and 1/20,480 in the tail.

    Args:
        values: one a job, none of them NaN. Shape [jobs].
        window: the window that each belongs to, 0 to *windows* - 1. Shape [jobs].
        windows: how many windows there are.
    """

    def __init__(self, values: Values, window: Values, windows: int) -> None:
        order = np.argsort(values, kind="stable")
        ordered, window = np.asarray(values, dtype=float)[order], np.asarray(window)[order]
        self.edges = _edges(ordered)
        place = np.searchsorted(self.edges, ordered)
        shape = (windows, len(self.edges))
        flat = window * len(self.edges) + place
        self.counts = np.bincount(flat, minlength=windows * len(self.edges)).reshape(shape).astype(float)
        self.sums = np.bincount(flat, weights=ordered, minlength=windows * len(self.edges)).reshape(shape)

    def describe(self, weights: Values, quantiles: tuple[float, ...], worst: float, trimmed: float) -> Values:
        """Return statistics of the weighted values, one row a replicate.

        Columns: the mean; the mean without the lowest and the highest *trimmed* share (of n values,
        floor(n x share) at either end); each of *quantiles* (the smallest value that at least so
        large a share of the values does not exceed); the mean of the largest *worst* share.

        *weights* has shape [replicates, windows]; what no value defines is NaN.
        """
        parts = [
            self._describe(weights[first : first + REPLICATES_AT_ONCE], quantiles, worst, trimmed)
            for first in range(0, len(weights), REPLICATES_AT_ONCE)
        ]
        return np.concatenate(parts)

    def _describe(self, weights: Values, quantiles: tuple[float, ...], worst: float, trimmed: float) -> Values:
        if not len(self.edges):
            return np.full((len(weights), 3 + len(quantiles)), np.nan)
        count = np.cumsum(weights @ self.counts, axis=1)
        total = np.cumsum(weights @ self.sums, axis=1)
        jobs, everything = count[:, -1], total[:, -1]
        cut = np.floor(trimmed * jobs)
        with np.errstate(invalid="ignore", divide="ignore"):
            middle = _lowest(count, total, jobs - cut) - _lowest(count, total, cut)
            above = everything - _lowest(count, total, (1 - worst) * jobs)
            columns = [everything / jobs, middle / (jobs - 2 * cut)]
            columns += [np.where(jobs > 0, self.edges[_place(count, share * jobs)], np.nan) for share in quantiles]
            columns.append(above / (worst * jobs))
        return np.column_stack(columns)


def _edges(ordered: Values) -> Values:
    """Return the largest value of each class, ascending."""
    different: Values = np.unique(ordered)
    if len(different) <= CLASSES:
        return different
    shares = np.concatenate([np.linspace(0, 1, CLASSES + 1), np.linspace(1 - TAIL, 1, CLASSES + 1)])
    ranks = np.ceil(shares * len(ordered)).astype(np.int64) - 1
    edges: Values = np.unique(ordered[np.clip(ranks, 0, None)])
    return edges


def _place(count: Values, rank: Values) -> Values:
    """Return the class that holds the value of *rank* (counted from 1), in each replicate."""
    places = (count < rank[:, None] * (1 - 1e-12)).sum(axis=1)
    held: Values = np.minimum(places, count.shape[1] - 1)
    return held


def _lowest(count: Values, total: Values, rank: Values) -> Values:
    """Return the sum of the *rank* lowest values in each replicate, linear within a class."""
    place = _place(count, rank)
    rows = np.arange(len(rank))
    before = np.where(place > 0, count[rows, place - 1], 0.0)
    below = np.where(place > 0, total[rows, place - 1], 0.0)
    size = count[rows, place] - before
    mean = np.divide(total[rows, place] - below, size, out=np.zeros_like(below), where=size > 0)
    lowest: Values = below + (rank - before) * mean
    return lowest
