"""A table of numbers as one array with named columns: what models read, without the cost of a data frame."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from hpcsim.errors import InvalidArgument
from hpcsim.surrogates.features.columns import require

if TYPE_CHECKING:
    import pandas as pd

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False, slots=True)
class Matrix:
    """Rows of numbers.

    Attributes:
        values: shape [rows, columns].
        place: name of a column -> its position.
    """

    values: Floats
    place: Mapping[str, int]

    @classmethod
    def of(cls, frame: pd.DataFrame, columns: Sequence[str], what: str) -> Self:
        """Return *frame* as a matrix; it must have *columns*, and only numbers.

        Raises:
            InvalidArgument: a column is missing or holds something else; *what* says which table it is.
        """
        place = _LATEST.get(frame.columns)
        if any(name not in place for name in columns):
            require(columns, list(frame.columns), what)
        try:
            return cls(frame.to_numpy(dtype=np.float64), place)
        except (TypeError, ValueError) as error:
            raise InvalidArgument(f"The table of {what} holds what is no number: {error}.", "Mend it.") from error

    def __len__(self) -> int:
        return len(self.values)

    def __getitem__(self, name: str) -> Floats:
        column: Floats = self.values[:, self.place[name]]
        return column

    def take(self, names: Sequence[str]) -> Floats:
        """Return the columns *names*, in that order: shape [rows, names]."""
        chosen: Floats = self.values[:, [self.place[name] for name in names]]
        return chosen

    def rows(self, which: NDArray[Any]) -> Self:
        """Return some rows, by mask or number."""
        return type(self)(self.values[which], self.place)

    def with_columns(self, **columns: Floats) -> Self:
        """Return a copy in which some columns hold other values."""
        values = self.values.copy()
        for name, column in columns.items():
            values[:, self.place[name]] = column
        return type(self)(values, self.place)


class _Latest:
    """Positions of the columns last asked about: tables that come one after the other share them."""

    def __init__(self) -> None:
        self._index: Any = None
        self._place: dict[str, int] = {}

    def get(self, index: Any) -> dict[str, int]:
        """Return name -> position of *index*."""
        if index is not self._index:
            self._place = {str(name): place for place, name in enumerate(index)}
            self._index = index
        return self._place


_LATEST = _Latest()
