"""The intervention map: what a job's features would be at another node count, and a test that nothing was forgotten."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from hpcsim.proxies import moved
from hpcsim.surrogates.features.columns import COUNTED, FEATURES, Floats, require

if TYPE_CHECKING:
    import pandas as pd

PROXY_CORRELATION = 0.98


def at_counts(contexts: pd.DataFrame, nodes: NDArray[np.int64], columns: Sequence[str] = FEATURES) -> Floats:
    """Return *columns* of J contexts at N node counts: shape [J * N, columns], a job's counts together.

    The count and every declared proxy of it are recomputed, the rest is repeated.
    """
    require((*columns, "nodes"), list(contexts.columns), "contexts")
    counts = np.asarray(nodes, dtype=np.float64)
    repeated = {name: np.repeat(contexts[name].to_numpy(), len(counts)) for name in (*columns, "nodes")}
    there = moved(repeated, np.tile(counts, len(contexts)))
    return np.stack([there[name] for name in columns], axis=1)


def undeclared_proxies(
    table: pd.DataFrame, *, declared: Collection[str] = COUNTED, threshold: float = PROXY_CORRELATION
) -> dict[str, float]:
    """Return the columns of *table* that stand in for ``nodes`` and are not *declared* to move with it.

    A column is one if its rank correlation or that of its values with the count exceeds *threshold* in size; the
    answer maps it to that correlation. ``asked_nodes``, which is the count in a log, is no feature.
    """
    require(("nodes",), list(table.columns), "features")
    nodes = table["nodes"].to_numpy(dtype=float)
    found = {}
    for name in table.columns:
        if name not in declared and name != "asked_nodes":
            strength = _correlation(table[name].to_numpy(dtype=float), nodes)
            if abs(strength) > threshold:
                found[str(name)] = strength
    return found


def _correlation(column: Floats, nodes: Floats) -> float:
    """Return the stronger of the correlations of values and of ranks, over rows where both are known; 0 if constant."""
    known = np.isfinite(column) & np.isfinite(nodes)
    if known.sum() < 3 or np.ptp(column[known]) == 0 or np.ptp(nodes[known]) == 0:
        return 0.0
    pairs = [(column[known], nodes[known])]
    pairs.append((_ranks(pairs[0][0]), _ranks(pairs[0][1])))
    return max((float(np.corrcoef(*pair)[0, 1]) for pair in pairs), key=abs)


def _ranks(values: Floats) -> Floats:
    """Return ranks, equal values sharing one."""
    _, place, count = np.unique(values, return_inverse=True, return_counts=True)
    ends = np.cumsum(count)
    return np.asarray((ends - (count - 1) / 2.0)[place])
