"""Write a search engine: it proposes points of the unit cube, and is told what they are worth.

What the points mean (parameters of a policy, nodes of a cluster) it need not know: see
`hpcsim.experiments.tune`. Engines are found under the group ``search`` of the registry.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Points = NDArray[np.float64]


class Search(ABC):
    """Minimises one or more objectives over the unit cube.

    Args:
        levels: for each dimension, how many different values it has; 0 for a continuous one. All
            points between two levels mean the nearer one.
        budget: how many points will be asked for in all.
        seed: root of its randomness; the same seed and answers give the same questions.
    """

    def __init__(self, *, levels: Sequence[int], budget: int, seed: int = 0) -> None:
        self.levels = tuple(levels)
        self.budget = budget
        self.rng = np.random.default_rng(seed)

    @abstractmethod
    def ask(self, count: int) -> Points:
        """Return up to *count* points, one a row; none where the engine has nothing left to try."""

    def tell(self, points: Points, values: Points) -> None:
        """Take what was found: one row of objectives a point, all to be minimised; NaN where it failed."""


def snapped(points: Points, levels: Sequence[int]) -> Points:
    """Return *points* moved to the nearest level of each dimension; levels span it evenly, ends included."""
    moved = points.copy()
    for column, count in enumerate(levels):
        if count == 1:
            moved[:, column] = 0.0
        elif count:
            moved[:, column] = np.rint(points[:, column] * (count - 1)) / (count - 1)
    return moved


def is_on_front(values: Points) -> NDArray[np.bool_]:
    """Tell of each row whether no other is at least as good in all objectives and better in one.

    Rows with a NaN are never on the front.
    """
    known: NDArray[np.bool_] = ~np.any(np.isnan(values), axis=1)
    with np.errstate(invalid="ignore"):
        no_worse = np.all(values[:, None, :] <= values[None, :, :], axis=2)
        better = np.any(values[:, None, :] < values[None, :, :], axis=2)
    front: NDArray[np.bool_] = known & ~np.any(no_worse & better, axis=0, where=known[:, None])
    return front
