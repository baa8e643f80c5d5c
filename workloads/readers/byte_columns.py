"""Columns of bytes as numbers and times: at once where they are plain, value by value where they are not.

All are Arrow arrays of binary values; what is returned are NumPy columns, NaN where nothing is known.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hpcsim.workloads.readers.records import Coded

Column = NDArray[Any]

_TIME = re.compile(r"(\d{4})-(\d\d)-(\d\d)[T ](\d\d):(\d\d)(?::(\d\d))?(?:\.\d+)?", re.ASCII)
_EPOCH = re.compile(r"\d{1,12}", re.ASCII)
ISO_LENGTH = 19


def encoded(column: Any) -> tuple[NDArray[np.int32], list[str]]:
    """Return codes and distinct texts of a column of bytes; texts that are not UTF-8 are read as Latin-1."""
    codes, dictionary = _dictionary(column)
    return codes, _decoded(dictionary)


def codes_of(column: Any) -> NDArray[np.int32]:
    """Return a number for each row of a column of bytes, the same for the same value."""
    return _dictionary(column)[0]


def text_codes(column: Any, marks: dict[str, str]) -> Coded:
    """Return a column as codes of its texts, stripped; blank ones are not known. *marks* in them are replaced."""
    import pyarrow as pa
    import pyarrow.compute as pc

    codes, dictionary = _dictionary(column)
    try:
        texts = pc.utf8_trim_whitespace(dictionary.cast(pa.string())).to_pylist()
    except pa.ArrowInvalid:
        texts = [decode(value).strip() for value in dictionary.to_pylist()]
    for mark, meaning in marks.items():
        if pc.any(pc.match_substring(dictionary, mark)).as_py():
            texts = [text.replace(mark, meaning) for text in texts]
    if "" not in texts:
        return Coded(codes, texts)
    known = np.array([place if text else -1 for place, text in enumerate(texts)], dtype=np.int32)
    return Coded(known[codes], texts)


def is_blank(column: Any) -> NDArray[np.bool_]:
    """Tell which values of a column of bytes are empty."""
    import pyarrow.compute as pc

    return pc.equal(pc.binary_length(column), 0).to_numpy().astype(bool)  # type: ignore[no-any-return]


def coded(column: Any, meaning: Callable[[str], Any]) -> Coded:
    """Return a column as codes of what each text means; what means None is not known."""
    codes, texts = encoded(column)
    meanings = [meaning(text) for text in texts]
    known = np.array([-1 if value is None else place for place, value in enumerate(meanings)], dtype=np.int32)
    return Coded(known[codes] if len(known) else codes, meanings)


def parsed(column: Any, parse: Callable[[str], float | None]) -> Column:
    """Return a float column: *parse* of each distinct text, NaN where it gives None."""
    codes, texts = encoded(column)
    values = [parse(text) for text in texts]
    return np.array([np.nan if value is None else value for value in values], dtype=np.float64)[codes]


def numbers(column: Any, parse: Callable[[str], float | None]) -> Column:
    """Return a float column: all whole numbers at once if they are, else as `parsed`."""
    import pyarrow as pa

    try:
        return column.cast(pa.string()).cast(pa.int64()).to_numpy().astype(np.float64)  # type: ignore[no-any-return]
    except pa.ArrowInvalid:
        return parsed(column, parse)


def times(column: Any) -> tuple[Column, NDArray[np.bool_]]:
    """Return seconds since 1970 by the column's own clock, NaN where there is no time; and which are epoch numbers.

    ``2024-02-01T09:00:00`` is a reading of a clock whose zone is for the caller to know;
    ``1706778000`` is an instant.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    column = column.combine_chunks()
    if isinstance(column, pa.ChunkedArray):
        column = pa.concat_arrays(column.chunks) if column.num_chunks else pa.array([], pa.binary())
    seconds = np.full(len(column), np.nan)
    is_epoch = np.zeros(len(column), dtype=bool)
    is_iso = pc.equal(pc.binary_length(column), ISO_LENGTH).to_numpy(zero_copy_only=False)
    if is_iso.any():
        stamps = column if is_iso.all() else column.filter(pa.array(is_iso))
        try:
            seconds[is_iso] = stamps.cast(pa.string()).cast(pa.timestamp("s")).cast(pa.int64()).to_numpy()
        except pa.ArrowInvalid:
            is_iso[:] = False
    if not is_iso.all():
        rest = ~is_iso
        codes, texts = encoded(pa.chunked_array([column.filter(pa.array(rest))]))
        known = list(map(_time, texts))
        seconds[rest] = np.array([value for value, _ in known], dtype=np.float64)[codes]
        is_epoch[rest] = np.array([epoch for _, epoch in known], dtype=bool)[codes]
    return seconds, is_epoch


def clock_seconds(text: str) -> float:
    """Return seconds since 1970 by the clock that shows *text*, ``YYYY-MM-DD HH:MM[:SS]``; NaN where it is none."""
    match = _TIME.fullmatch(text)
    if match is None:
        return float("nan")
    try:
        year, month, day, hour, minute, second = (int(part or 0) for part in match.groups())
        return datetime(year, month, day, hour, minute, second, tzinfo=UTC).timestamp()
    except (ValueError, OverflowError):
        return float("nan")


def _time(text: str) -> tuple[float, bool]:
    text = text.strip()
    return (float(text), True) if _EPOCH.fullmatch(text) else (clock_seconds(text), False)


def decode(text: bytes) -> str:
    """Return text of bytes: UTF-8, or Latin-1 where it is not."""
    try:
        return text.decode()
    except UnicodeDecodeError:
        return text.decode("latin-1")


def _dictionary(column: Any) -> tuple[NDArray[np.int32], Any]:
    """Return codes and the array of distinct values of a column of bytes."""
    import pyarrow as pa

    whole = column if isinstance(column, pa.ChunkedArray) else pa.chunked_array([column])
    chunks = whole.dictionary_encode().chunks
    if not chunks:
        return np.empty(0, dtype=np.int32), pa.array([], pa.binary())
    codes = np.concatenate([chunk.indices.to_numpy(zero_copy_only=False) for chunk in chunks])
    return codes.astype(np.int32, copy=False), max((chunk.dictionary for chunk in chunks), key=len)


def _decoded(values: Any) -> list[str]:
    import pyarrow as pa

    try:
        return values.cast(pa.string()).to_pylist()  # type: ignore[no-any-return]
    except pa.ArrowInvalid:
        return [decode(value) for value in values.to_pylist()]
