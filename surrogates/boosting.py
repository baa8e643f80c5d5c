"""LightGBM behind a few functions: one thread, the same bits for the same rows, silent, models as its own text."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hpcsim.errors import MissingExtra, ResultError

Floats = NDArray[np.float64]

FIXED = {"num_threads": 1, "deterministic": True, "force_row_wise": True, "verbosity": -1}


def lightgbm() -> Any:
    """Return the package.

    Raises:
        MissingExtra: it is not installed.
    """
    try:
        import lightgbm as package
    except ImportError as error:
        raise MissingExtra(
            "This surrogate needs the package 'lightgbm', which is not installed.",
            "Type: pip install 'hpcsim-des[advisor]'.",
        ) from error
    return package


def boosted(
    features: Floats, target: Floats, *, rounds: int, seed: int = 0, weight: Floats | None = None, **parameters: Any
) -> Any:
    """Return a booster of squared error of *target* [rows] on *features* [rows, columns]; NaN means not known."""
    package = lightgbm()
    settings = {"objective": "regression"} | parameters | FIXED | {"seed": seed}
    least = min(int(settings.get("min_data_in_leaf", 20)), max(1, len(target) // 4))
    data = package.Dataset(features, target, weight=weight, params={"verbosity": -1, "min_data_in_bin": 1})
    return package.train(settings | {"min_data_in_leaf": least}, data, num_boost_round=rounds)


def light_prediction(
    features: Floats, target: NDArray[Any], wanted: Floats, *, classes: int, rounds: int, **parameters: Any
) -> Floats:
    """Return the predictions for *wanted* of a model of the rest: values, or probabilities [rows, classes]."""
    if not classes:
        return predicted(boosted(features, target, rounds=rounds, **parameters), wanted)
    model = boosted(features, target, rounds=rounds, objective="multiclass", num_class=classes, **parameters)
    return predicted(model, wanted)


def predicted(booster: Any, features: Floats) -> Floats:
    """Return what *booster* predicts for each row of *features*."""
    return np.asarray(booster.predict(features, num_threads=1))


def gains(booster: Any, names: Sequence[str]) -> dict[str, float]:
    """Return the share of the error that splits on each of the features *names* took away, largest first."""
    return shares(dict(zip(names, booster.feature_importance("gain").tolist(), strict=True)))


def shares(amounts: Mapping[str, float]) -> dict[str, float]:
    """Return *amounts* over their sum, largest first; those of 0 left out."""
    total = sum(amounts.values())
    largest = sorted(amounts.items(), key=lambda pair: (-pair[1], pair[0]))
    return {name: amount / total for name, amount in largest if amount > 0}


def to_text(booster: Any) -> bytes:
    """Return *booster* in LightGBM's own text format."""
    return str(booster.model_to_string()).encode()


def from_text(text: bytes, columns: int) -> Any:
    """Return the booster that *text* describes, of so many *columns*.

    Raises:
        ResultError: the text is cut off, which would make LightGBM end the whole process, or is of other columns.
    """
    head, _, rest = text.partition(b"\nTree=")
    sizes = re.search(rb"^tree_sizes=([\d ]*)$", head, re.MULTILINE)
    trees, _, tail = (b"Tree=" + rest).partition(b"end of trees")
    is_whole = sizes is not None and sum(map(int, sizes[1].split())) == len(trees)
    if not is_whole or b"\nend of parameters\n" not in tail:
        raise ResultError("A saved booster is cut off or was changed.", "Save the model again.")
    booster = lightgbm().Booster(model_str=text.decode())
    check_columns(booster.num_feature(), columns)
    return booster


def check_columns(has: int, columns: int) -> None:
    """Refuse a saved model of trees that was made for another number of features.

    Raises:
        ResultError: it *has* another number than *columns*.
    """
    if has != columns:
        raise ResultError(
            f"Saved trees were made for {has} features, and their card says {columns}.", "Save the model again."
        )
