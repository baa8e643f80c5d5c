"""Search without a model: everything, a grid even on the model's axis, and random searches that share a budget.

A front of node counts needs no more: all predictions of a job are one call, and `Exact` is the front.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from hpcsim.errors import InvalidArgument
from hpcsim.search import Points, Search
from hpcsim.surrogates.search.domain import grid
from hpcsim.surrogates.search.plain import RandomSearch

Floats = NDArray[np.float64]

SHARERS = 5
"""Random searches that share one budget, as published."""


class Exact(Search):
    """Every point, at once: the exact front, which no other engine can beat.

    Raises:
        InvalidArgument: a dimension is continuous, or the budget does not suffice for every point.
    """

    def __init__(self, *, levels: Sequence[int], budget: int, seed: int = 0) -> None:
        super().__init__(levels=levels, budget=budget, seed=seed)
        self._left = grid(self.levels)
        if budget < len(self._left):
            raise InvalidArgument(
                f"There are {len(self._left):,} settings and a budget of {budget:,}.",
                "Raise the budget, or use another engine than exact.",
            )

    def ask(self, count: int) -> Points:
        """Return the next *count* points."""
        taken, self._left = self._left[:count], self._left[count:]
        return taken


class LogGrid(Search):
    """A grid that is even on the model's axis, which for node counts is their logarithm; both ends belong to it.

    Args:
        levels, budget, seed: see `hpcsim.search.Search`.
        positions: for each dimension where its levels lie on that axis, 0 to 1; evenly if not given.
    """

    takes_positions: ClassVar[bool] = True

    def __init__(
        self, *, levels: Sequence[int], budget: int, seed: int = 0, positions: Sequence[Floats] | None = None
    ) -> None:
        super().__init__(levels=levels, budget=budget, seed=seed)
        self._positions = positions
        self._left: Points | None = None
        self._tried: set[tuple[float, ...]] = set()

    def ask(self, count: int) -> Points:
        """Return the next *count* points of the grid; those told before are left out."""
        if self._left is None:
            every = spread_levels(self.levels, self._positions, self.budget, self.rng)
            fresh = [row for row in every.tolist() if tuple(row) not in self._tried]
            self._left = np.array(fresh).reshape(-1, len(self.levels))
        taken, self._left = self._left[:count], self._left[count:]
        return taken

    def tell(self, points: Points, values: Points) -> None:
        """Remember what has been tried."""
        self._tried.update(map(tuple, points.tolist()))


class RandomShared(Search):
    """Five random searches with seeds of their own that share the budget; what one has tried, another may repeat."""

    def __init__(self, *, levels: Sequence[int], budget: int, seed: int = 0) -> None:
        super().__init__(levels=levels, budget=budget, seed=seed)
        seeds = np.random.SeedSequence(seed).generate_state(SHARERS).tolist()
        self._searches = [RandomSearch(levels=levels, budget=budget, seed=child) for child in seeds]
        self._asked = 0

    def ask(self, count: int) -> Points:
        """Return a point of each search in turn."""
        found = []
        for _ in range(count):
            points = self._searches[self._asked % SHARERS].ask(1)
            self._asked += 1
            found.append(points)
        return np.concatenate(found) if found else np.empty((0, len(self.levels)))


def spread_levels(
    levels: Sequence[int], positions: Sequence[Floats] | None, size: int, rng: np.random.Generator
) -> Points:
    """Return about *size* points, never more, spread over the cube; with one dimension its ends are the first two.

    One dimension gets values even on its axis of *positions*. Several get the corners of the cube that
    differ from its origin in one dimension or in all, and a Latin hypercube besides.
    """
    if len(levels) == 1:
        return _spread_one(levels[0], None if positions is None else positions[0], size)[:, None]
    width = len(levels)
    corners = np.vstack([np.zeros(width), np.ones(width), np.eye(width)])[:size]
    left = max(0, size - len(corners))
    ranks = np.stack([rng.permutation(left) for _ in range(width)], axis=1)
    hypercube = (ranks + 0.5) / max(left, 1)
    placed = np.vstack([corners, hypercube])
    columns = []
    for at, count in enumerate(levels):
        axis = np.linspace(0, 1, max(count, 2)) if positions is None or not count else positions[at]
        columns.append(_nearest(placed[:, at], axis, count) if count else placed[:, at])
    points = np.stack(columns, axis=1)
    return np.asarray(points[np.sort(np.unique(points, axis=0, return_index=True)[1])])


def _spread_one(count: int, positions: Floats | None, size: int) -> Floats:
    """Return *size* different levels of one dimension, even on its axis, the ends first; all if there are no more."""
    if not size:
        return np.empty(0)
    if not count:
        return _ends_first(np.linspace(0, 1, size) if size > 1 else np.zeros(1))
    if count <= size:
        return _ends_first(np.arange(count) / max(count - 1, 1))
    axis = np.linspace(0, 1, count) if positions is None else positions
    chosen: set[int] = set()
    for steps in range(size, 8 * count):
        wanted = np.linspace(0, 1, steps) if steps > 1 else np.zeros(1)
        places = set(np.abs(axis[None, :] - wanted[:, None]).argmin(axis=1).tolist())
        if len(places) > size:
            break
        chosen = places
    return _ends_first(np.array(sorted(chosen)) / (count - 1))


def _ends_first(values: Floats) -> Floats:
    order = [0, len(values) - 1, *range(1, len(values) - 1)][: len(values)]
    return np.asarray(values[order], dtype=np.float64)


def _nearest(wanted: Floats, axis: Floats, count: int) -> Floats:
    places = np.abs(axis[None, :count] - wanted[:, None]).argmin(axis=1)
    return np.asarray(places / max(count - 1, 1))
