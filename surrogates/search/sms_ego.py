"""SMS-EGO: a Gaussian process for each objective; try what would enlarge the dominated hypervolume most.

Source: W. Ponweiser, T. Wagner, D. Biermann and M. Vincze, PPSN X, 2008. The processes are scikit-learn's,
the hypervolume is moocore's. Departures: length scales are chosen from a few by likelihood, and the
criterion is searched by sampling, around the front and everywhere.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from importlib.util import find_spec
from itertools import product
from statistics import NormalDist
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hpcsim.errors import InvalidArgument, MissingExtra
from hpcsim.search import Points, Search, is_on_front, snapped

PACKAGES = {"moocore": "moocore", "sklearn": "scikit-learn"}
"""Modules that are needed, and the distributions that bring them."""

SCALES = (0.1, 0.25, 0.6, 1.5)
"""Length scales that all dimensions are given first."""

FACTORS = (0.4, 2.5, 2.5)
"""What each dimension's own length scale is then multiplied by, if that is more likely."""

NOISE = 1e-5
CANDIDATES = 150
STEPS = (0.01, 0.03, 0.1)
"""Standard deviations of the steps away from points of the front."""

MARGIN = 0.3
"""How far beyond the worst of the front the reference point lies, as a share of the front's range."""


class SmsEgo(Search):
    """Most hypervolume gained by optimistic predictions of Gaussian processes; for two or three objectives.

    It begins with a Latin hypercube: a fifth of the budget, two points more than dimensions at least.
    """

    def __init__(self, *, levels: Sequence[int], budget: int, seed: int = 0) -> None:
        for module, package in PACKAGES.items():
            if find_spec(module) is None:
                raise MissingExtra(
                    f"The search engine 'sms-ego' needs the package '{package}', which is not installed.",
                    "Type: pip install 'hpcsim-des[advisor]'.",
                )
        super().__init__(levels=levels, budget=budget, seed=seed)
        size = max(len(self.levels) + 2, budget // 5)
        size = min(size, math.prod(self.levels) if all(self.levels) else size)
        first = snapped(self._latin(min(size, budget)), self.levels)
        self._first = first[np.sort(np.unique(first, axis=0, return_index=True)[1])]
        self._tried: set[tuple[float, ...]] = set()
        self._points = np.empty((0, len(self.levels)))
        self._values = np.empty((0, 0))

    def ask(self, count: int) -> Points:
        """Return *count* points: the hypercube's while it lasts, then the best, each as if those before were known."""
        if len(self._first):
            taken, self._first = self._first[:count], self._first[count:]
            return taken
        if len(self._values) < 2:
            fresh = self._untried(self.rng.uniform(size=(CANDIDATES, len(self.levels))))
            return fresh[self.rng.permutation(len(fresh))[:count]]
        points, values = self._points, self._values
        for _ in range(count):
            candidates = self._candidates(points, values)
            if not len(candidates):
                break
            best, expected = self._best(points, values, candidates)
            points, values = np.vstack([points, best]), np.vstack([values, expected])
        return points[len(self._points) :]

    def tell(self, points: Points, values: Points) -> None:
        """Remember what succeeded, to learn from, and all that was tried.

        Raises:
            InvalidArgument: there are fewer than two objectives.
        """
        if values.shape[1] < 2:
            raise InvalidArgument("sms-ego was told one objective.", "Give two or three, or search at random.")
        self._tried.update(map(tuple, snapped(points, self.levels).tolist()))
        known = np.isfinite(values).all(axis=1)
        self._points = np.vstack([self._points, snapped(points, self.levels)[known]])
        self._values = np.vstack([self._values.reshape(-1, values.shape[1]), values[known]])

    def _best(self, points: Points, values: Points, candidates: Points) -> tuple[Points, Points]:
        """Return the candidate that promises most, and what the processes expect there."""
        low, high = values.min(axis=0), values.max(axis=0)
        width = np.where(high > low, high - low, 1.0)
        scaled = (values - low) / width
        predictions = [_fit(points, column).predict(candidates, return_std=True) for column in scaled.T]
        mean, deviation = (np.stack(parts, axis=1) for parts in zip(*predictions, strict=True))
        optimism = NormalDist().inv_cdf(0.5 + 0.5 ** values.shape[1])
        gains = _gains(mean - optimism * deviation, scaled[is_on_front(scaled)])
        best = int(np.argmax(gains))
        return candidates[best], mean[best] * width + low

    def _candidates(self, points: Points, values: Points) -> Points:
        """Return points that have not been tried: from everywhere, and from around the front."""
        width = len(self.levels)
        front = points[is_on_front(values)]
        parents = front[self.rng.integers(0, len(front), CANDIDATES)]
        steps = self.rng.normal(size=(CANDIDATES, width)) * self.rng.choice(STEPS, size=(CANDIDATES, 1))
        steps *= self.rng.random((CANDIDATES, width)) < max(0.5, 1 / width)
        near = np.clip(parents + steps, 0, 1)
        mixed = np.where(
            self.rng.random((CANDIDATES, width)) < 0.5, parents, self.rng.uniform(size=(CANDIDATES, width))
        )
        drawn = np.vstack([near, mixed, self.rng.uniform(size=(CANDIDATES, width))])
        return self._untried(drawn, points)

    def _untried(self, drawn: Points, *others: Points) -> Points:
        """Return the levels that *drawn* mean, each once, less what was tried and *others*."""
        tried = self._tried.union(*(map(tuple, points.tolist()) for points in others))
        fresh = [row for row in np.unique(snapped(drawn, self.levels), axis=0).tolist() if tuple(row) not in tried]
        return np.array(fresh, dtype=float).reshape(-1, len(self.levels))

    def _latin(self, count: int) -> Points:
        """Return *count* points of which each dimension's values are spread evenly."""
        width = len(self.levels)
        ranks = np.stack([self.rng.permutation(count) for _ in range(width)], axis=1)
        spread: Points = (ranks + self.rng.random((count, width))) / count
        return spread


def _gains(optimistic: Points, front: Points) -> NDArray[np.float64]:
    """Return by how much each point would enlarge the hypervolume; below 0 by how far it is dominated."""
    from moocore import Hypervolume

    low, high = front.min(axis=0), front.max(axis=0)
    reference = high + MARGIN * np.where(len(front) > 2, high - low, 1.0)
    volume = Hypervolume(ref=reference)
    now = volume(front)
    behind = np.clip(optimistic[:, None, :] - front[None, :, :], 0, None).sum(axis=2)
    is_dominated = np.any(np.all(front[None, :, :] <= optimistic[:, None, :], axis=2), axis=1)
    gains = -np.where(is_dominated, behind.max(axis=1), 0.0)
    for place in np.flatnonzero(~is_dominated):
        gains[place] = volume(np.vstack([front, optimistic[place]])) - now
    return gains


def _fit(points: Points, target: NDArray[np.float64]) -> Any:
    """Return the most likely process found: one length scale for all dimensions first, then each by itself."""
    width = points.shape[1]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        best = max((_process(points, target, (scale,) * width) for scale in SCALES), key=_likelihood)
        for column, factor in product(range(width), FACTORS):
            scales = np.atleast_1d(best.kernel_.k1.length_scale).copy()  # of one dimension the library makes a number
            scales[column] *= factor
            best = max(best, _process(points, target, scales), key=_likelihood)
    return best


def _process(points: Points, target: NDArray[np.float64], scales: Any) -> Any:
    from sklearn.gaussian_process import GaussianProcessRegressor
    from sklearn.gaussian_process.kernels import Matern, WhiteKernel

    kernel = Matern(length_scale=np.array(scales), nu=2.5) + WhiteKernel(NOISE)
    return GaussianProcessRegressor(kernel, optimizer=None, normalize_y=True).fit(points, target)


def _likelihood(process: Any) -> float:
    return float(process.log_marginal_likelihood_value_)
