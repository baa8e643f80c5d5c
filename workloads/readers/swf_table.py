"""The text of an SWF file as 18 columns of numbers, each with the line that every row came from.

pandas' C parser takes the bulk of each block. Only lines that it would misread, or that make it
stop, go through `hpcsim.workloads.readers.swf_lines`. Nothing here knows what a job is.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hpcsim.workloads.readers.findings import Findings
from hpcsim.workloads.readers.log_blocks import Block, blocks
from hpcsim.workloads.readers.narrowing import narrow
from hpcsim.workloads.readers.swf_lines import parse_line
from hpcsim.workloads.swf_fields import FIELDS, LARGEST
from hpcsim.workloads.swf_header import Header, HeaderReader

Column = NDArray[Any]
Bytes = NDArray[np.uint8]

_NEWLINE, _SEMICOLON = b"\n"[0], b";"[0]
_BLANK = np.isin(np.arange(256), list(b" \t\n\v\f"))
_IN_NUMBERS = _BLANK | np.isin(np.arange(256), list(b"0123456789+-.eE\n"))


@dataclass(slots=True)
class SwfTable:
    """All lines of a log that hold 18 numbers, in the file's order.

    `columns` maps each of `FIELDS` to an array, integers where all values are whole, else float64;
    `lines` are line numbers from 1. `findings` has the lines that were mended or refused;
    `passed_over` is how many comments had no room in `header`.
    """

    columns: dict[str, Column]
    lines: NDArray[np.int64]
    header: Header
    findings: Findings
    passed_over: int = 0

    def __len__(self) -> int:
        return len(self.lines)


def read_table(path: Path, *, limit_rows: int | None = None) -> SwfTable:
    """Return the first *limit_rows* job lines (default: all) of an SWF file as columns.

    Raises:
        WorkloadError: the file cannot be read.
    """
    header, findings = HeaderReader(), Findings()
    parts: list[_Part] = []
    left = limit_rows
    for block in blocks(path):
        if left is not None and left <= 0:
            break
        texts = _job_lines(block, header, left)
        left = None if left is None else left - len(texts.lines)
        if len(texts.lines):
            parts.append(_parse(texts, findings))
    lines = np.concatenate([part.lines for part in parts] or [np.empty(0, dtype=np.int64)])
    return SwfTable(_joined(parts), lines, header.header, findings, header.passed_over)


@dataclass(slots=True)
class _Part:
    """The columns of one block, in the order of `FIELDS`; joining empties it."""

    columns: list[Column]
    lines: NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class _Texts:
    """Job lines of one block: their bytes, where each ends (its newline), and their numbers."""

    text: bytes
    ends: NDArray[np.int64]
    lines: NDArray[np.int64]

    def line(self, row: int | np.integer[Any]) -> bytes:
        return self.text[0 if row == 0 else self.ends[row - 1] + 1 : self.ends[row]]

    def select(self, mask: NDArray[np.bool_]) -> _Texts:
        if mask.all():
            return self
        lengths = np.diff(self.ends, prepend=-1)
        text = np.frombuffer(self.text, np.uint8)[np.repeat(mask, lengths)].tobytes()
        return _Texts(text, np.cumsum(lengths[mask]) - 1, self.lines[mask])


def _job_lines(block: Block, header: HeaderReader, limit: int | None) -> _Texts:
    """Return the block's job lines, at most *limit*; the comments up to there go to *header*."""
    data = np.frombuffer(block.text, np.uint8)
    ends = np.flatnonzero(data == _NEWLINE)
    texts = _Texts(block.text, ends, np.arange(block.first_line, block.first_line + len(ends)))
    comments = _comments(texts, data)
    is_job = ~_is_blank(texts, data)
    is_job[comments] = False
    if limit is not None and np.count_nonzero(is_job) > limit:
        cut = np.flatnonzero(is_job)[limit]
        is_job[cut:] = False
        comments = comments[comments < cut]
    _read_comments(texts, comments, is_job, header)
    return texts.select(is_job)


def _comments(texts: _Texts, data: Bytes) -> NDArray[np.int64]:
    """Return the rows whose first character is a semicolon; one that comes later makes no comment."""
    rows = np.unique(np.searchsorted(texts.ends, np.flatnonzero(data == _SEMICOLON)))
    if not len(rows):
        return rows
    starts = np.where(rows > 0, texts.ends[rows - 1] + 1, 0)
    is_comment = data[starts] == _SEMICOLON
    for place in np.flatnonzero(~is_comment):
        is_comment[place] = texts.line(rows[place]).lstrip().startswith(b";")
    found: NDArray[np.int64] = rows[is_comment]
    return found


def _is_blank(texts: _Texts, data: Bytes) -> NDArray[np.bool_]:
    """Tell which lines hold nothing but blanks: those whose first, middle and last byte are blank are looked at."""
    starts = np.concatenate(([0], texts.ends[:-1] + 1))
    last = np.maximum(texts.ends - 1, starts)
    suspects = np.ones(len(starts), dtype=bool)
    for place in (last, starts, (starts + last) // 2):
        suspects &= _BLANK[data[place]]
    for row in np.flatnonzero(suspects & (texts.ends > starts)):
        suspects[row] = not texts.line(row).strip()
    return suspects


def _read_comments(texts: _Texts, comments: NDArray[np.int64], is_job: NDArray[np.bool_], header: HeaderReader) -> None:
    done = 0
    if len(comments) > header.room:
        header.passed_over += len(comments) - header.room
    for row in comments[: header.room]:
        if is_job[done:row].any():
            header.close_entry()
        header.add(texts.line(row))
        done = row
    if is_job[done:].any():
        header.close_entry()


def _parse(texts: _Texts, findings: Findings) -> _Part:
    """Return the numbers of one block: all at once, or, where that fails, without the odd lines."""
    columns = _parse_bulk(texts)
    if columns is not None:
        return _Part(columns, texts.lines)
    is_odd = _is_odd(texts)
    plain = texts.select(~is_odd)
    columns = _parse_bulk(plain) if len(plain.lines) else None
    if columns is None:
        return _parse_each(texts, findings)
    return _merged(_Part(columns, plain.lines), _parse_each(texts.select(is_odd), findings))


def _parse_bulk(texts: _Texts) -> list[Column] | None:
    """Return 18 columns by pandas' C parser, or None unless every line is 18 plain numbers."""
    import pandas as pd

    options: dict[str, Any] = {"sep": r"\s+", "header": None, "na_filter": False, "low_memory": False}
    try:
        frame = pd.read_csv(io.BytesIO(texts.text), engine="c", quoting=csv.QUOTE_NONE, **options)
    except (ValueError, OverflowError):
        return None
    if frame.shape != (len(texts.lines), len(FIELDS)):
        return None
    columns = [frame[place].to_numpy() for place in range(len(FIELDS))]
    return [narrow(column) for column in columns] if all(map(_is_plain, columns)) else None


def _is_plain(column: Column) -> bool:
    """Tell whether all of *column* are numbers of at most `LARGEST`; NaN fails every comparison."""
    return column.dtype.kind in "iuf" and bool(column.min() >= -LARGEST) and bool(column.max() <= LARGEST)


def _is_odd(texts: _Texts) -> NDArray[np.bool_]:
    """Tell which lines hold other than 18 fields, or a byte that stands in no number."""
    data = np.frombuffer(texts.text, np.uint8)
    is_field = ~_BLANK[data]
    is_field[texts.ends] = False
    begins = is_field.copy()
    begins[1:] &= ~is_field[:-1]
    fields_so_far = np.cumsum(begins)[texts.ends]
    is_odd: NDArray[np.bool_] = np.diff(fields_so_far, prepend=0) != len(FIELDS)
    is_odd[np.searchsorted(texts.ends, np.flatnonzero(~_IN_NUMBERS[data]))] = True
    return is_odd


def _parse_each(texts: _Texts, findings: Findings) -> _Part:
    rows, lines = [], []
    for row, line in enumerate(texts.lines.tolist()):
        numbers = parse_line(texts.line(row), line, findings)
        if numbers is not None:
            rows.append(numbers)
            lines.append(line)
    columns = zip(*rows, strict=True) if rows else ([] for _ in FIELDS)
    return _Part([narrow(np.array(column)) for column in columns], np.array(lines, dtype=np.int64))


def _merged(one: _Part, other: _Part) -> _Part:
    lines = np.concatenate([one.lines, other.lines])
    order = np.argsort(lines)
    pairs = zip(one.columns, other.columns, strict=True)
    return _Part([np.concatenate(pair)[order] for pair in pairs], lines[order])


def _joined(parts: Sequence[_Part]) -> dict[str, Column]:
    """Return whole columns; each block's piece is let go as soon as it is copied."""
    columns = {}
    for name in reversed(FIELDS):
        pieces = [part.columns.pop() for part in parts]
        columns[name] = np.concatenate(pieces) if pieces else np.empty(0, dtype=np.int8)
    return {name: columns[name] for name in FIELDS}
