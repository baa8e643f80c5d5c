"""scikit-learn's random forest behind a few functions: one thread, models as skops files of trusted types only."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hpcsim.errors import MissingExtra, ResultError
from hpcsim.surrogates.boosting import check_columns, shares

Floats = NDArray[np.float64]

TRUSTED = ("sklearn.tree._tree.Tree",)
"""Types beyond those of skops' own list that a forest consists of; a file with any other is refused."""


def grown(features: Floats, target: Floats, weight: Floats | None, *, trees: int, depth: int, seed: int) -> Any:
    """Return a forest of *target* [rows] on *features* [rows, columns]; NaN means not known.

    Raises:
        MissingExtra: scikit-learn is not installed.
    """
    try:
        from sklearn.ensemble import RandomForestRegressor
    except ImportError as error:
        raise _missing("scikit-learn") from error
    forest = RandomForestRegressor(n_estimators=trees, max_depth=depth, n_jobs=1, random_state=seed)
    return forest.fit(features.astype(np.float32), target, sample_weight=weight)


def predicted(forest: Any, features: Floats) -> Floats:
    """Return what *forest* predicts for each row of *features*: the mean of its trees, without a pool of threads."""
    rows = np.ascontiguousarray(features, dtype=np.float32)
    return np.asarray(np.mean([tree.tree_.predict(rows)[:, 0] for tree in forest.estimators_], axis=0))


def gains(forest: Any, names: Sequence[str]) -> dict[str, float]:
    """Return the share of the error that splits on each of the features *names* took away, largest first."""
    return shares(dict(zip(names, forest.feature_importances_.tolist(), strict=True)))


def to_bytes(forest: Any) -> bytes:
    """Return *forest* as a skops file."""
    return bytes(_skops().dumps(forest))


def from_bytes(content: bytes, columns: int) -> Any:
    """Return the forest of a skops file.

    Raises:
        ResultError: it holds a type that a forest has no use for, or is of another number of *columns*.
    """
    skops = _skops()
    foreign = sorted(set(skops.get_untrusted_types(data=content)) - set(TRUSTED))
    if foreign:
        raise ResultError(f"A saved forest holds the type {foreign[0]}.", "Do not trust this model.")
    forest = skops.loads(content, trusted=list(TRUSTED))
    check_columns(forest.n_features_in_, columns)
    return forest


def _skops() -> Any:
    try:
        from skops import io
    except ImportError as error:
        raise _missing("skops") from error
    return io


def _missing(package: str) -> MissingExtra:
    return MissingExtra(
        f"This surrogate needs the package '{package}', which is not installed.",
        "Type: pip install 'hpcsim-des[advisor]'.",
    )
