"""The text of a ``sacct`` dump as columns of bytes, of all the lines that are whole records.

Arrow's CSV parser splits lines that `hpcsim.workloads.readers.sacct_lines` has put in order. Nothing
here knows what a job is.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hpcsim.errors import WorkloadError
from hpcsim.workloads.readers.byte_columns import decode
from hpcsim.workloads.readers.findings import Findings
from hpcsim.workloads.readers.log_blocks import Block, blocks
from hpcsim.workloads.readers.sacct_layout import Layout, detect
from hpcsim.workloads.readers.sacct_lines import UNIT, LineMender, Lines

PIECE_BYTES = 1 << 18
"""How much the parser takes at once: what fits into a processor's cache is split twice as fast."""


@dataclass(slots=True)
class SacctTable:
    """Columns of bytes (Arrow arrays, by field name in lower case) and the line that each record began at."""

    columns: dict[str, Any]
    lines: NDArray[np.int64]
    layout: Layout
    findings: Findings
    loose_lines: list[int] = field(default_factory=list)

    def __len__(self) -> int:
        return len(self.lines)

    def select(self, rows: NDArray[np.bool_]) -> SacctTable:
        """Return the table of some records, by a mask."""
        import pyarrow as pa

        if rows.all():
            return self
        mask = pa.array(rows)
        columns = {name: column.filter(mask) for name, column in self.columns.items()}
        return SacctTable(columns, self.lines[rows], self.layout, self.findings, self.loose_lines)

    def head(self, count: int) -> SacctTable:
        """Return the first *count* records."""
        columns = {name: column.slice(0, count) for name, column in self.columns.items()}
        return SacctTable(columns, self.lines[:count], self.layout, self.findings, self.loose_lines)

    def texts(self, name: str) -> list[str]:
        """Return a column as texts; bytes that are not UTF-8 are read as Latin-1."""
        return [decode(value) for value in self.columns[name].to_pylist()]


def read_table(
    path: Path,
    wanted: Callable[[tuple[str, ...]], Collection[str]] | None = None,
    *,
    columns: Sequence[str] | None = None,
    delimiter: str | None = None,
) -> SacctTable:
    """Return some fields of a dump, plain or gzipped: those of its fields that *wanted* names, or all.

    *columns* and *delimiter* are those of a dump without a header.

    Raises:
        WorkloadError: the file cannot be read or is no dump.
    """
    import pyarrow as pa

    findings = Findings()
    source = blocks(path)
    layout, source = _layout(source, path, columns, delimiter)
    chosen = layout.names if wanted is None else wanted(layout.names)
    names = [name for name in layout.names if name in chosen]
    mender = LineMender(layout, findings)
    empty = pa.table({name: pa.array([], pa.binary()) for name in names})
    parts: list[Any] = []
    lines: list[NDArray[np.int64]] = []
    for block, is_last in _with_last(source):
        plain = _plain(mender, block, names)
        if plain is None:
            records = mender.take(block.text, block.first_line, is_last=is_last)
            plain = records.lines, _parse(records, layout, names, path) if len(records.lines) else empty
        lines.append(plain[0])
        parts.append(plain[1])
    table = pa.concat_tables(parts) if parts else empty
    numbers = np.concatenate(lines) if lines else np.empty(0, dtype=np.int64)
    return SacctTable({name: table[name] for name in names}, numbers, layout, findings, mender.loose_lines)


def _layout(
    source: Iterator[Block], path: Path, columns: Sequence[str] | None, delimiter: str | None
) -> tuple[Layout, Iterator[Block]]:
    """Return the layout by the first line that is not blank, and all blocks."""
    seen: list[Block] = []
    for block in source:
        seen.append(block)
        first = next((line for line in block.text.split(b"\n", 100) if line.strip()), None)
        if first is not None:
            return detect(first, str(path), columns=columns, delimiter=delimiter), _chained(seen, source)
    raise WorkloadError(f"{path} is empty.", "Check that it is the file you mean.", path=str(path), line=1)


def _chained(seen: list[Block], source: Iterator[Block]) -> Iterator[Block]:
    yield from seen
    yield from source


def _with_last(source: Iterator[Block]) -> Iterator[tuple[Block, bool]]:
    """Yield each block and whether it is the last."""
    held: Block | None = None
    for block in source:
        if held is not None:
            yield held, False
        held = block
    if held is not None:
        yield held, True


def _plain(mender: LineMender, block: Block, names: list[str]) -> tuple[NDArray[np.int64], Any] | None:
    """Return lines and fields of a block of which every line is a record, None of any other."""
    import pyarrow as pa
    import pyarrow.compute as pc

    rest = mender.unmended(block)
    if rest is None or not rest.text:
        return None
    try:
        table = _split(rest.text, mender.layout, names, PIECE_BYTES)
    except pa.ArrowInvalid:
        return None
    for name in {"jobid", "jobidraw"} & set(names):
        if pc.any(pc.match_substring(table[name], "JobID", ignore_case=True)).as_py():
            return None  # a header that stands in the middle
    return np.arange(rest.first_line, rest.first_line + table.num_rows, dtype=np.int64), table


def _parse(records: Lines, layout: Layout, names: list[str], path: Path) -> Any:
    """Return the fields *names* of whole records."""
    import pyarrow as pa

    ends = np.flatnonzero(np.frombuffer(records.text, np.uint8) == ord("\n"))
    longest = int(np.diff(ends, prepend=-1).max())
    try:
        table = _split(records.text, layout, names, max(PIECE_BYTES, longest + 1))
    except pa.ArrowInvalid as error:
        raise WorkloadError(f"{path} cannot be split: {error}.", "Export with -P.", path=str(path)) from error
    if table.num_rows != len(records.lines):
        cause = f"{path} cannot be split into records from line {records.lines[0]} on."
        raise WorkloadError(cause, "Export with -P.", path=str(path), line=int(records.lines[0]))
    return table


def _split(text: bytes, layout: Layout, names: list[str], piece_bytes: int) -> Any:
    import pyarrow as pa
    from pyarrow import csv

    delimiter = layout.delimiter if len(layout.delimiter) == 1 else UNIT
    every = [*layout.names, "#closed"] if layout.is_closed else list(layout.names)
    return csv.read_csv(
        pa.BufferReader(text),
        read_options=csv.ReadOptions(column_names=every, block_size=piece_bytes),
        parse_options=csv.ParseOptions(
            delimiter=delimiter.decode(),
            quote_char=False,
            double_quote=False,
            escape_char=False,
            ignore_empty_lines=False,
        ),
        convert_options=csv.ConvertOptions(
            column_types=dict.fromkeys(every, pa.binary()),
            include_columns=names,
            strings_can_be_null=False,
            check_utf8=False,
        ),
    )
