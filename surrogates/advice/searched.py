"""Counts that a search engine puts on the front of predicted run time and power."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from hpcsim.search import Search
from hpcsim.surrogate import Surrogate
from hpcsim.surrogates.search.domain import Domain
from hpcsim.surrogates.search.front import find_front

if TYPE_CHECKING:
    import pandas as pd

Counts = NDArray[np.int64]


def searched(
    make_engine: Callable[..., Search],
    model: Surrogate,
    contexts: pd.DataFrame,
    counts: Counts,
    asked: int,
    budget: int,
) -> Counts:
    """Return, ascending, those of *counts* that the engine's front of one job holds, and the one *asked* for."""

    def objectives(settings: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.asarray(np.log(model.predict(contexts, settings[:, 0].astype(np.int64)).mean[0]))

    found = find_front(make_engine, Domain.of_nodes(counts), objectives, budget=min(budget, len(counts)))
    front = found.settings[found.on_front, 0].astype(np.int64)
    return np.unique(np.append(front, asked))
