"""What can be chosen: a grid of settings, of node counts alone or with power caps, GPUs and others."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hpcsim.errors import InvalidArgument
from hpcsim.search import Points

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Axis:
    """One quantity that can be chosen.

    Attributes:
        name: as people call it, ``nodes`` for example.
        values: what it can be, ascending.
        is_log: whether models see its logarithm, as suits counts.
    """

    name: str
    values: tuple[float, ...]
    is_log: bool = True

    def __post_init__(self) -> None:
        values = np.asarray(self.values, dtype=np.float64)
        if not len(values) or not np.all(np.isfinite(values)) or np.any(np.diff(values) <= 0):
            raise InvalidArgument(f"The values of '{self.name}' do not ascend.", "Give one or more, each once.")
        if self.is_log and values[0] <= 0:
            raise InvalidArgument(f"'{self.name}' begins at {values[0]:g}.", "Give values above 0, or is_log=False.")

    @property
    def positions(self) -> Floats:
        """Where each value lies between the first (0) and the last (1), on the axis that models see."""
        seen = np.log(self.values) if self.is_log else np.asarray(self.values, dtype=np.float64)
        width = seen[-1] - seen[0]
        return np.asarray((seen - seen[0]) / width if width > 0 else np.zeros(len(seen)))


@dataclass(frozen=True, slots=True)
class Domain:
    """All combinations of the values of *axes*; a search engine sees it as the unit cube."""

    axes: tuple[Axis, ...]

    @classmethod
    def of_nodes(cls, nodes: ArrayLike) -> Domain:
        """Return the domain of node counts alone."""
        return cls((Axis("nodes", tuple(np.unique(np.asarray(nodes, dtype=np.float64)).tolist())),))

    @property
    def levels(self) -> tuple[int, ...]:
        """How many values each axis has, as `hpcsim.search.Search` takes it."""
        return tuple(len(axis.values) for axis in self.axes)

    @property
    def positions(self) -> tuple[Floats, ...]:
        """The positions of each axis, as the engines of this package take them."""
        return tuple(axis.positions for axis in self.axes)

    @property
    def size(self) -> int:
        """How many settings there are."""
        return math.prod(self.levels)

    def places(self, points: Points) -> NDArray[np.int64]:
        """Return the index of the level of each axis that *points* of the unit cube mean; same shape."""
        return np.rint(points * (np.array(self.levels) - 1)).astype(np.int64)

    def points(self, places: ArrayLike) -> Points:
        """Return the points of the unit cube that mean the levels at *places* [points, axes]."""
        return np.asarray(np.asarray(places, dtype=np.float64) / np.maximum(np.array(self.levels) - 1, 1))

    def settings(self, points: Points) -> Floats:
        """Return the values that *points* mean, in the axes' own units; same shape."""
        places = self.places(points)
        return np.stack([np.array(axis.values)[places[:, at]] for at, axis in enumerate(self.axes)], axis=1)


def grid(levels: Sequence[int]) -> Points:
    """Return every point of the unit cube that *levels* allow, the last dimension fastest.

    Raises:
        InvalidArgument: a dimension is continuous.
    """
    if not all(levels):
        raise InvalidArgument("A continuous dimension has no end of values.", "Give a list of values or a whole range.")
    steps = [np.arange(count) / max(count - 1, 1) for count in levels]  # to the bit what `snapped` makes of them
    return np.stack(np.meshgrid(*steps, indexing="ij"), axis=-1).reshape(-1, len(levels))
