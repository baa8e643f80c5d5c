"""XGBoost behind a few functions: one thread, models as its own JSON."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hpcsim.errors import MissingExtra, ResultError
from hpcsim.surrogates.boosting import check_columns, shares

Floats = NDArray[np.float64]


def xgboost() -> Any:
    """Return the package.

    Raises:
        MissingExtra: it is not installed.
    """
    try:
        import xgboost as package
    except ImportError as error:
        raise MissingExtra(
            "This surrogate needs the package 'xgboost', which is not installed.",
            "Type: pip install 'hpcsim-des[advisor]'.",
        ) from error
    return package


def boosted(
    features: Floats, target: Floats, *, rounds: int, seed: int, weight: Floats | None = None, **parameters: Any
) -> Any:
    """Return a booster of squared error of *target* [rows] on *features* [rows, columns]; NaN means not known."""
    package = xgboost()
    settings = {"objective": "reg:squarederror", "nthread": 1, "seed": seed, "verbosity": 0} | parameters
    data = package.DMatrix(features, label=target, weight=weight, nthread=1)
    return package.train(settings, data, num_boost_round=rounds)


def predicted(booster: Any, features: Floats) -> Floats:
    """Return what *booster* predicts for each row of *features*."""
    return np.asarray(booster.inplace_predict(features), dtype=np.float64)


def gains(booster: Any, names: Sequence[str]) -> dict[str, float]:
    """Return the share of the error that splits on each of the features *names* took away, largest first."""
    found = booster.get_score(importance_type="total_gain")
    return shares({name: float(found.get(f"f{place}", 0.0)) for place, name in enumerate(names)})


def to_json(booster: Any) -> bytes:
    """Return *booster* in XGBoost's own JSON."""
    return bytes(booster.save_raw(raw_format="json"))


def from_json(content: bytes, columns: int) -> Any:
    """Return the booster that *content* describes.

    Raises:
        ResultError: it is cut off, which can make XGBoost end the whole process, or of another number of *columns*.
    """
    if not (content.startswith(b"{") and content.endswith(b"}")):
        raise ResultError("A saved booster is cut off or was changed.", "Save the model again.")
    booster = xgboost().Booster({"nthread": 1})
    booster.load_model(bytearray(content))
    check_columns(booster.num_features(), columns)
    return booster
