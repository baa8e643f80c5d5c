"""Arrow columns of any type as times, numbers and texts: what a table of somebody else's may hold."""

from __future__ import annotations

import re
import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hpcsim.workloads.readers.byte_columns import encoded, parsed, text_codes, times
from hpcsim.workloads.readers.clock import instants
from hpcsim.workloads.readers.quantities_text import duration_s
from hpcsim.workloads.readers.records import Coded

Column = NDArray[Any]

_INTEGER = re.compile(r"-?(?:0|[1-9]\d{0,17})", re.ASCII)
_PER_SECOND = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}


def seconds(array: Any, zone: str) -> Column:
    """Return times as epoch seconds (or the table's own), NaN where null or no time.

    Numbers are seconds as they stand; texts and timestamps without a zone are of *zone*.
    """
    import pyarrow as pa

    if pa.types.is_timestamp(array.type):
        clock = _timestamps(array)
        return clock if array.type.tz is not None else instants(clock, zone).seconds
    if pa.types.is_date(array.type):
        return instants(_timestamps(array.cast(pa.timestamp("s"))), zone).seconds
    if is_text(array):
        return _text_seconds(array, zone)
    return numbers(array)


def numbers(array: Any) -> Column:
    """Return numbers as float64, NaN where null or no number; a text ``HH:MM:SS`` is a duration in seconds."""
    import pyarrow as pa

    if is_text(array):
        return parsed(_binary(array), _number)
    if pa.types.is_duration(array.type):
        return numbers(array.cast(pa.int64())) / _PER_SECOND[array.type.unit]
    if pa.types.is_boolean(array.type) or not _is_numeric(array.type):
        return np.full(len(array), np.nan)
    values = array.cast(pa.float64(), safe=False).to_numpy(zero_copy_only=False)
    return np.asarray(values, dtype=np.float64)


def texts(array: Any) -> Coded:
    """Return values as texts, or as integers where all are; null and blank are not known."""
    import pyarrow as pa

    if is_text(array):
        coded = text_codes(_binary(array), {})
        are_integers = all(_INTEGER.fullmatch(text) for text in coded.values if text)
        return Coded(coded.codes, [int(text) if text else text for text in coded.values]) if are_integers else coded
    if pa.types.is_integer(array.type):
        return Coded.of(array.to_pylist())
    return Coded.of([None if value is None else str(value) for value in listed(array)])


def ids(array: Any) -> Column:
    """Return job ids: integers where all are, else texts."""
    import pyarrow as pa

    if pa.types.is_integer(array.type) and not array.null_count:
        return np.asarray(array.cast(pa.int64(), safe=False).to_numpy())
    if is_text(array):
        values = encoded(_binary(array))
        if all(text.isascii() and text.isdigit() and len(text) < 19 for text in values[1]):
            return np.array([int(text) for text in values[1]], dtype=np.int64)[values[0]]
        column = np.array(values[1], dtype=object)
        return column[values[0]] if len(column) else column
    column = np.empty(len(array), dtype=object)
    column[:] = [str(value) for value in listed(array)]
    return column


def listed(array: Any) -> list[Any]:
    """Return values as Python's own; None for one that Python has none for, as a date in the year 100,000."""
    import pyarrow as pa

    unfit = (ValueError, OverflowError, pa.ArrowException)
    try:
        values: list[Any] = array.to_pylist()
    except unfit:
        values = []
        for value in array:
            try:
                values.append(value.as_py())
            except unfit:
                values.append(None)
    return values


def is_text(array: Any) -> bool:
    """Tell whether a column holds texts or bytes."""
    import pyarrow as pa

    kinds = (pa.types.is_string, pa.types.is_large_string, pa.types.is_binary, pa.types.is_large_binary)
    return any(kind(array.type) for kind in kinds)


def _timestamps(array: Any) -> Column:
    import pyarrow as pa

    ticks = array.cast(pa.int64())
    values = np.asarray(ticks.cast(pa.float64(), safe=False).to_numpy(zero_copy_only=False), dtype=np.float64)
    return values / _PER_SECOND[array.type.unit]


def _text_seconds(array: Any, zone: str) -> Column:
    """Return times of texts: ISO 8601, with a zone of their own or without; plain numbers are seconds."""
    import pandas as pd
    import pyarrow as pa

    chunks = pa.chunked_array([_binary(array)])
    clock, is_epoch = times(chunks)
    told = np.where(is_epoch, clock, instants(np.where(is_epoch, np.nan, clock), zone).seconds)
    missing = np.isnan(told)
    if missing.any():
        codes, values = encoded(pa.chunked_array([_binary(array).filter(pa.array(missing))]))
        zoned = [value for value in values if any(mark in value[10:] for mark in "Zz+-")]
        known = dict.fromkeys(values, np.nan)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            stamps = pd.to_datetime(pd.Series(zoned, dtype=object), utc=True, errors="coerce", format="ISO8601")
        for value, stamp in zip(zoned, stamps, strict=True):
            known[value] = np.nan if pd.isna(stamp) else stamp.timestamp()
        for value in values:
            if np.isnan(known[value]):
                known[value] = _plain_number(value)
        told[missing] = np.array([known[value] for value in values], dtype=np.float64)[codes]
    return told


def _binary(array: Any) -> Any:
    import pyarrow as pa

    chunked = array if isinstance(array, pa.ChunkedArray) else pa.chunked_array([array])
    binary = chunked.cast(pa.binary()).fill_null(b"")
    return pa.concat_arrays(binary.chunks) if binary.num_chunks else pa.array([], pa.binary())


def _is_numeric(kind: Any) -> bool:
    import pyarrow as pa

    return bool(pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind))


def _number(text: str) -> float | None:
    if text.strip().lower() in {"inf", "unlimited"}:
        return float("inf")
    value = _plain_number(text)
    return duration_s(text) if np.isnan(value) else value


def _plain_number(text: str) -> float:
    """Return the number that a text is; NaN for words, ``inf`` and ``nan`` among them."""
    try:
        value = float(text.replace("_", "x"))
    except ValueError:
        return float("nan")
    return value if np.isfinite(value) else float("nan")
