"""Write a search engine: it proposes points of the unit cube, and is told what they are worth.

What the points mean (parameters of a policy, nodes of a cluster) it need not know: see
`hpcsim.experiments.tune`. Engines are found under the group ``search`` of the registry.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from hpcsim.errors import InvalidArgument

Points = NDArray[np.float64]


class Search(ABC):
    """Minimises one or more objectives over the unit cube.

    Args:
        levels: for each dimension, how many different values it has; 0 for a continuous one. All
            points between two levels mean the nearer one.
        budget: how many points will be asked for in all.
        seed: root of its randomness; the same seed and answers give the same questions.

    Raises:
        InvalidArgument: levels, budget or seed are not whole numbers from 0.
    """

    def __init__(self, *, levels: Sequence[int], budget: int, seed: int = 0) -> None:
        if any(not _is_whole(count) for count in levels):
            raise InvalidArgument(f"The levels of a search are {list(levels)}.", "Give whole numbers from 0.")
        for name, value in (("budget", budget), ("seed", seed)):
            if not _is_whole(value):
                raise InvalidArgument(f"The {name} of a search is {value}.", "Give a whole number from 0.")
        self.levels = tuple(levels)
        self.budget = budget
        self.rng = np.random.default_rng(seed)

    @abstractmethod
    def ask(self, count: int) -> Points:
        """Return up to *count* points, one a row; none where the engine has nothing left to try."""

    def tell(self, points: Points, values: Points) -> None:
        """Take what was found: one row of objectives a point, all to be minimised; NaN where it failed."""


def _is_whole(value: object) -> bool:
    return isinstance(value, int | np.integer) and not isinstance(value, bool) and int(value) >= 0


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

    Rows with a NaN are never on the front. Two objectives take O(n log n), more O(n times the size of the front).
    """
    rows = np.flatnonzero(~np.any(np.isnan(values), axis=1))
    known = values[rows]
    order = rows[np.lexsort(known.T[::-1])]  # who beats a row comes before it
    front = np.zeros(len(values), dtype=bool)
    front[order] = _swept(values[order]) if values.shape[1] == 2 else _sifted(values[order])
    return front


def _swept(ordered: Points) -> NDArray[np.bool_]:
    """Return `is_on_front` of rows of two objectives, none NaN, in ascending order."""
    if not len(ordered):
        return np.zeros(0, dtype=bool)
    first, second = ordered.T
    is_new = np.append(True, first[1:] != first[:-1])
    group = np.maximum.accumulate(np.where(is_new, np.arange(len(first)), 0))  # where its first objective begins
    before = np.minimum.accumulate(second)[group - 1]  # the least second objective of a lower first one
    beaten: NDArray[np.bool_] = (second > second[group]) | ((group > 0) & (before <= second))
    return ~beaten


def _sifted(ordered: Points) -> NDArray[np.bool_]:
    """Return `is_on_front` of rows, none NaN, in ascending order: each that is left strikes out what it beats."""
    left = np.ones(len(ordered), dtype=bool)
    for place, row in enumerate(ordered):
        if left[place]:
            left &= ~(np.all(row <= ordered, axis=1) & np.any(row < ordered, axis=1))
    return left
