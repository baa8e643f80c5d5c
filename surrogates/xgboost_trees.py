"""XGBoost behind a few functions: one thread, models as its own JSON."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from hpcsim.errors import MissingExtra

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


def to_json(booster: Any) -> bytes:
    """Return *booster* in XGBoost's own JSON."""
    return bytes(booster.save_raw(raw_format="json"))


def from_json(content: bytes) -> Any:
    """Return the booster that *content* describes."""
    booster = xgboost().Booster({"nthread": 1})
    booster.load_model(bytearray(content))
    return booster
