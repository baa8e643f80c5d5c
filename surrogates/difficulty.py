"""How hard each row of a table is to predict: out-of-fold errors of a light model, one unit for all targets."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hpcsim.errors import InvalidArgument
from hpcsim.surrogates import boosting

if TYPE_CHECKING:
    import pandas as pd

Floats = NDArray[np.float64]

FOLDS = 5
LIGHT = {"num_leaves": 31, "learning_rate": 0.15, "min_data_in_leaf": 20}
ROUNDS = 40
LEAST_ROWS = 20
"""Below that nothing is learned: all rows are equally hard."""

KINDS = ("regression", "classification")


def difficulty(
    table: pd.DataFrame | Floats, targets: Mapping[str, tuple[ArrayLike, str]], *, row_ids: NDArray[np.int64]
) -> Floats:
    """Return the difficulty of each row: the mean over its known targets of out-of-fold errors over their own mean.

    The error of a regression is that of the logarithm, that of a classification 1 - probability of the class. Folds
    follow from row ids, and rows are learned from in the order of their ids, so that the order of the table is
    nothing to the result.

    Args:
        table: any columns, see `numeric_view`; or numbers, shape [rows, columns].
        targets: name -> (values [rows], ``regression`` with values above 0 or NaN, or ``classification``).
            A row without any known value is as hard as the mean.
        row_ids: one id a row.

    Raises:
        InvalidArgument: a target is of another kind or not above 0.
        MissingExtra: LightGBM is not installed.
    """
    order = np.argsort(row_ids, kind="stable")
    view = (numeric_view(table) if not isinstance(table, np.ndarray) else _filled(list(table.T)))[order]
    total, known_targets = np.zeros(len(order)), np.zeros(len(order))
    for name, (values, kind) in targets.items():
        if kind not in KINDS:
            raise InvalidArgument(f"Target '{name}' is of kind '{kind}'.", f"Known: {', '.join(KINDS)}.")
        column = np.asarray(values)[order]
        known = ~np.isnan(column.astype(float)) if kind == "regression" else np.ones(len(order), dtype=bool)
        errors = _errors(view[known], column[known], kind, name)
        mean = errors.mean() if len(errors) else 0.0
        total[known] += errors / mean if mean > 0 else 0.0
        known_targets += known
    result = np.empty(len(order))
    result[order] = np.where(known_targets > 0, total / np.maximum(known_targets, 1), 1.0 if total.any() else 0.0)
    return result


def numeric_view(table: pd.DataFrame) -> Floats:
    """Return *table* as numbers: what the light model sees. Shape [rows, columns of the view].

    An array becomes its length, mean, maximum, deviation and 95th percentile; a time the seconds of the epoch, hour
    and weekday; text a code; a missing number the median of its column, with a flag beside it.
    """
    return _filled([part for name in table.columns for part in _parts(table[name])])


def _filled(parts: Sequence[Floats]) -> Floats:
    """Return *parts* as columns, what is missing replaced by the median, with a flag beside it."""
    columns: list[Floats] = []
    for column in parts:
        missing = ~np.isfinite(column)
        median = float(np.median(column[~missing])) if not missing.all() else 0.0
        columns.append(np.where(missing, median, column))
        if missing.any():
            columns.append(missing.astype(float))
    return np.stack(columns, axis=1) if columns else np.zeros((0, 0))


def _parts(column: pd.Series[Any]) -> Sequence[Floats]:
    from pandas.api import types

    if types.is_datetime64_any_dtype(column.dtype):
        known = column.notna().to_numpy()
        seconds = column.to_numpy(dtype="datetime64[s]").astype(np.int64).astype(float)
        parts = (seconds, column.dt.hour.to_numpy(dtype=float), column.dt.day_of_week.to_numpy(dtype=float))
        return [np.where(known, part, np.nan) for part in parts]
    if types.is_numeric_dtype(column.dtype):
        return [column.to_numpy(dtype=float, na_value=np.nan)]
    values = column.tolist()
    if any(isinstance(value, list | tuple | np.ndarray) for value in values):
        return list(np.array([_figures(value) for value in values]).T)
    return [_codes(values)]


def _figures(value: Any) -> tuple[float, ...]:
    series = np.asarray(value if isinstance(value, list | tuple | np.ndarray) else [], dtype=float)
    series = series[np.isfinite(series)]
    if not len(series):
        return (0.0, np.nan, np.nan, np.nan, np.nan)
    return (float(len(series)), series.mean(), series.max(), series.std(), float(np.quantile(series, 0.95)))


def _codes(values: Sequence[Any]) -> Floats:
    texts = [None if value is None or value != value else str(value) for value in values]  # noqa: PLR0124 - NaN
    codes = {text: float(code) for code, text in enumerate(sorted({text for text in texts if text is not None}))}
    return np.array([np.nan if text is None else codes[text] for text in texts], dtype=float)


def _errors(view: Floats, values: NDArray[Any], kind: str, name: str) -> Floats:
    if kind == "regression":
        values = values.astype(float)
        if not np.all(np.isfinite(values) & (values > 0)):
            raise InvalidArgument(f"Target '{name}' has values that are not above 0.", "Leave those rows out.")
        wanted, classes = np.log(values), 0
    else:
        known, wanted = np.unique(values.astype(str), return_inverse=True)
        classes = len(known)
    if len(view) < LEAST_ROWS or len(np.unique(wanted)) < 2 or not view.shape[1]:
        return np.zeros(len(view))
    errors = np.zeros(len(view))
    for number in range(FOLDS):
        out = np.arange(len(view)) % FOLDS == number
        guess = boosting.light_prediction(view[~out], wanted[~out], view[out], classes=classes, rounds=ROUNDS, **LIGHT)
        errors[out] = 1.0 - guess[np.arange(out.sum()), wanted[out]] if classes else np.abs(wanted[out] - guess)
    return errors
