"""Search that learns nothing: at random, and on a grid. What a cleverer engine has to beat."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import product

import numpy as np

from hpcsim.search import Points, Search, snapped


class RandomSearch(Search):
    """Points drawn uniformly, none twice where there are others left."""

    def __init__(self, *, levels: Sequence[int], budget: int, seed: int = 0) -> None:
        super().__init__(levels=levels, budget=budget, seed=seed)
        self._seen: set[tuple[float, ...]] = set()

    def ask(self, count: int) -> Points:
        """Return *count* new points, fewer where every level has been tried."""
        everything = math.prod(self.levels) if all(self.levels) else math.inf
        found: list[tuple[float, ...]] = []
        while len(found) < count and len(self._seen) < everything:
            point = tuple(snapped(self.rng.uniform(size=(1, len(self.levels))), self.levels)[0].tolist())
            if point not in self._seen:
                self._seen.add(point)
                found.append(point)
        return np.array(found, dtype=float).reshape(-1, len(self.levels))

    def tell(self, points: Points, values: Points) -> None:
        """Remember what has been tried, by whomever it was chosen."""
        self._seen.update(map(tuple, snapped(points, self.levels).tolist()))


class GridSearch(Search):
    """A regular grid, as fine as the budget allows, in an order that is coarse before it is complete."""

    def __init__(self, *, levels: Sequence[int], budget: int, seed: int = 0) -> None:
        super().__init__(levels=levels, budget=budget, seed=seed)
        steps = self._steps()
        grid = np.array(list(product(*(np.linspace(0, 1, step) if step > 1 else [0.0] for step in steps))))
        points = np.unique(snapped(grid, self.levels), axis=0)
        self._left = points[self.rng.permutation(len(points))].tolist()

    def ask(self, count: int) -> Points:
        """Return the next *count* points of the grid."""
        taken, self._left = self._left[:count], self._left[count:]
        return np.array(taken, dtype=float).reshape(-1, len(self.levels))

    def _steps(self) -> list[int]:
        """Return steps of each dimension: one more where it has fewest for its levels, while the budget lasts."""
        steps = [1] * len(self.levels)
        while True:
            open_ = [i for i, most in enumerate(self.levels) if not most or steps[i] < most]
            if not open_:
                return steps
            finer = steps.copy()
            finer[min(open_, key=lambda i: steps[i])] += 1
            if math.prod(finer) > self.budget:
                return steps
            steps = finer
