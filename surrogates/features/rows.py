"""A table of contexts that costs microseconds: for advice, where one job at a time is asked about."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hpcsim.surrogates.features.columns import CONTEXT_COLUMNS

_PLACE = {name: place for place, name in enumerate(CONTEXT_COLUMNS)}


class Values(np.ndarray[Any, np.dtype[np.float64]]):
    """One column or several, which can be asked for their array as those of a data frame can."""

    def to_numpy(self) -> NDArray[np.float64]:
        """Return the plain array."""
        return self.view(np.ndarray)


class ContextRows:
    """What `contexts_table` returns, as far as surrogates ask for it: columns by name, and how many rows.

    Args:
        values: shape [J, columns], in the order of `CONTEXT_COLUMNS`.
    """

    columns = CONTEXT_COLUMNS

    def __init__(self, values: NDArray[np.float64]) -> None:
        self._values = values

    def __len__(self) -> int:
        return len(self._values)

    def to_numpy(self, dtype: Any = np.float64) -> NDArray[Any]:
        """Return all values as one array, [J, columns]; the rows' own where they are of *dtype*."""
        return np.asarray(self._values, dtype=dtype)

    def __getitem__(self, name: str | Sequence[str]) -> Values:
        if isinstance(name, str):
            return self._values[:, _PLACE[name]].view(Values)
        return self._values[:, [_PLACE[one] for one in name]].view(Values)
