"""Lines of a ``sacct`` dump with one delimiter between each two fields, whatever stands in names and comments.

Job names, comments and submit lines may hold the delimiter and line ends. A row that is too short
is joined with the lines below it; a row that is too long keeps the rest in the one free text whose
neighbours then make sense. What makes no sense is refused, with its line.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from hpcsim.errors import WorkloadError
from hpcsim.workloads.readers.findings import Findings, Rule
from hpcsim.workloads.readers.log_blocks import LONGEST_LINE_BYTES, Block
from hpcsim.workloads.readers.sacct_layout import FREE_TEXT, Layout

UNIT = b"\x1f"
"""Stands for a delimiter of several characters."""

INNER_DELIMITER, INNER_NEWLINE = b"\x01", b"\x02"
"""Stand for a delimiter and a line end within a text; no blanks, which would be stripped."""

TOO_SHORT = Rule(
    "too-few-fields", "refused", "line", "fewer fields than the header, and no lines below that complete it"
)
TOO_LONG = Rule(
    "too-many-fields", "refused", "line", "more fields than the header, and no telling which text holds them"
)

_LINES_OF_ONE = 10_000
_RECORD = re.compile(rb"\d+(?:_\[?[\d,%.-]*\]?(?:\.\.\.\]?)?|\+\d+)?(?:\.\w+)?")
_TIME = re.compile(rb"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d|Unknown|None|\d*")
_STATE = re.compile(rb"[A-Z_]*(?: by \d+|\+)?")
_COUNT = re.compile(rb"[\d.]*[KMGTPE]?")
_PLAUSIBLE = {
    **dict.fromkeys(("submit", "eligible", "start", "end"), _TIME),
    **dict.fromkeys(("nnodes", "ncpus", "reqcpus", "elapsedraw"), _COUNT),
    "state": _STATE,
}


@dataclass(slots=True)
class Lines:
    """Whole records as text, one a line, and the line in the file that each began at."""

    text: bytes
    lines: NDArray[np.int64]


@dataclass(slots=True)
class LineMender:
    """Turns blocks of a dump into `Lines`; a record that a block cuts off is kept for the next."""

    layout: Layout
    findings: Findings
    loose_lines: list[int] = field(default_factory=list)
    _rest: bytes = b""

    def unmended(self, block: Block) -> Block | None:
        """Return one block as it stands, its header cut off, for a parser to try; None where that cannot be right."""
        if self._rest or len(self.layout.delimiter) > 1:
            return None
        header = self.layout.header + b"\n"
        if len(header) > 1 and block.text.startswith(header):
            return Block(block.text[len(header) :], block.first_line + 1)
        return block

    def take(self, text: bytes, first_line: int, *, is_last: bool) -> Lines:
        """Return the records of one block of whole lines, *first_line* being the number of its first."""
        first_line -= self._rest.count(b"\n")
        text, self._rest = self._rest + self._with_one_byte(text), b""
        data = np.frombuffer(text, np.uint8)
        ends = np.flatnonzero(data == ord("\n"))
        places = np.flatnonzero(data == self._delimiter[0])
        counts = np.diff(np.searchsorted(places, ends), prepend=0)
        lines = np.arange(first_line, first_line + len(ends), dtype=np.int64)
        odd = np.flatnonzero((counts != self.layout.delimiters) | self._is_header(text, ends))
        if not len(odd):
            return Lines(text, lines)
        starts = np.concatenate(([0], ends[:-1] + 1))
        return self._mended(_Rows(text, starts, ends, counts, lines), odd.tolist(), is_last)

    @property
    def _delimiter(self) -> bytes:
        return self.layout.delimiter if len(self.layout.delimiter) == 1 else UNIT

    def _with_one_byte(self, text: bytes) -> bytes:
        if len(self.layout.delimiter) == 1:
            return text
        return text.replace(UNIT, b" ").replace(self.layout.delimiter, UNIT)

    def _is_header(self, text: bytes, ends: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Tell which lines repeat the header, as where several dumps were put together."""
        found = np.zeros(len(ends), dtype=bool)
        header = self._with_one_byte(self.layout.header)
        place = text.find(header) if header else -1
        while place >= 0:
            row = int(np.searchsorted(ends, place))
            if place == (0 if row == 0 else ends[row - 1] + 1) and place + len(header) == ends[row]:
                found[row] = True
            place = text.find(header, place + len(header))
        return found

    def _mended(self, rows: _Rows, odd: list[int], is_last: bool) -> Lines:
        pieces: list[bytes] = []
        lines: list[NDArray[np.int64]] = []
        done = 0
        for row in odd:
            if row < done:
                continue
            pieces.append(rows.between(done, row))
            lines.append(rows.lines[done:row])
            record, after = self._mend_row(rows, row, is_last)
            if record is not None:
                pieces.append(record + b"\n")
                lines.append(rows.lines[row : row + 1])
            done = after
        pieces.append(rows.between(done, len(rows.ends)))
        lines.append(rows.lines[done:])
        return Lines(b"".join(pieces), np.concatenate(lines))

    def _mend_row(self, rows: _Rows, row: int, is_last: bool) -> tuple[bytes | None, int]:
        """Return the record that begins at *row*, or None, and the row after it."""
        count, wanted = rows.counts[row], self.layout.delimiters
        if count == wanted or rows.starts[row] == rows.ends[row]:
            return None, row + 1  # a header, or blank
        if count > wanted:
            return self._shorten(rows.between(row, row + 1)[:-1], int(rows.lines[row])), row + 1
        return self._join(rows, row, is_last)

    def _join(self, rows: _Rows, row: int, is_last: bool) -> tuple[bytes | None, int]:
        """Join a short row with those below it until it is whole."""
        wanted, total = self.layout.delimiters, int(rows.counts[row])
        text = rows.between(row, row + 1)[:-1]
        if not _RECORD.fullmatch(text.partition(self._delimiter)[0]):
            self._drop_loose(text, int(rows.lines[row]))
            return None, row + 1
        for below in range(row + 1, min(len(rows.ends), row + _LINES_OF_ONE)):
            if rows.counts[below] == wanted and _RECORD.match(rows.between(below, below + 1)):
                break
            total += int(rows.counts[below])
            if total >= wanted:
                joined = rows.between(row, below + 1)[:-1].replace(b"\n", INNER_NEWLINE)
                if total == wanted:
                    return joined, below + 1
                return self._shorten(joined, int(rows.lines[row])), below + 1
        else:
            if not is_last and row + _LINES_OF_ONE > len(rows.ends):
                self._keep_for_next(rows, row)
                return None, len(rows.ends)
        self.findings.add(TOO_SHORT, int(rows.lines[row]), f"{total + 1} fields", "no job")
        return None, row + 1

    def _keep_for_next(self, rows: _Rows, row: int) -> None:
        self._rest = rows.between(row, len(rows.ends))
        if len(self._rest) > LONGEST_LINE_BYTES:
            cause = f"A record that begins at line {rows.lines[row]} is longer than {LONGEST_LINE_BYTES >> 20} MiB."
            raise WorkloadError(cause, "Check the delimiter.", line=int(rows.lines[row]))

    def _drop_loose(self, text: bytes, line: int) -> None:
        """Drop a line that begins no record: the end of a text in the last column, or rubbish."""
        if self.layout.names[-1] in FREE_TEXT and self._delimiter not in text:
            self.loose_lines.append(line)
        else:
            self.findings.add(TOO_SHORT, line, f"{text.count(self._delimiter) + 1} fields", "no job")

    def _shorten(self, text: bytes, line: int) -> bytes | None:
        """Put the fields that are too many into the free text that held them."""
        fields = text.split(self._delimiter)
        extra = len(fields) - 1 - self.layout.delimiters
        candidates = []
        for place, name in enumerate(self.layout.names):
            if name in FREE_TEXT:
                inner = INNER_DELIMITER.join(fields[place : place + extra + 1])
                candidate = [*fields[:place], inner, *fields[place + extra + 1 :]]
                if self._is_plausible(candidate):
                    candidates.append(candidate)
        if len(candidates) > 1 and self.layout.names[-1] in FREE_TEXT:
            candidates = candidates[-1:]
        if len(candidates) != 1:
            self.findings.add(TOO_LONG, line, f"{len(fields)} fields", "no job")
            return None
        return self._delimiter.join(candidates[0])

    def _is_plausible(self, fields: list[bytes]) -> bool:
        pairs = zip(self.layout.names, fields, strict=False)
        return all(_PLAUSIBLE[name].fullmatch(value) for name, value in pairs if name in _PLAUSIBLE)


@dataclass(frozen=True, slots=True)
class _Rows:
    """The text of one block, where its lines start and end, and the delimiters in each."""

    text: bytes
    starts: NDArray[np.int64]
    ends: NDArray[np.int64]
    counts: NDArray[np.int64]
    lines: NDArray[np.int64]

    def between(self, first: int, after: int) -> bytes:
        """Return the lines *first* to *after* - 1, with their newlines."""
        return self.text[self.starts[first] : self.ends[after - 1] + 1] if after > first else b""
