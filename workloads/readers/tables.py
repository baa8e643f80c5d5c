"""Tables of records in Parquet or CSV files, as batches of Arrow columns; which of the two is told by content.

CSV may be gzipped, its delimiter a comma, semicolon, tab or bar. Rows count from 1; in CSV the header
is line 1, so that row 1 stands in line 2 as long as no text holds line ends.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hpcsim.errors import WorkloadError, closest
from hpcsim.workloads.readers.byte_columns import decode
from hpcsim.workloads.readers.findings import Findings, Rule
from hpcsim.workloads.readers.log_blocks import blocks

PARQUET_MAGIC = b"PAR1"
MOST_ROWS = 500_000_000
"""A Parquet file may claim any number of rows in a few bytes; no log has more."""

BATCH_ROWS = 16_384
_DELIMITERS = (",", ";", "\t", "|")
_RAGGED = Rule("ragged-row", "refused", "line", "another number of fields than the header")


@dataclass(slots=True)
class Batch:
    """Some rows of a table: Arrow arrays by column name; `first_line` is the line (row) of the first."""

    columns: dict[str, Any]
    lines: Sequence[int]

    def __len__(self) -> int:
        return len(self.lines)


def is_parquet(path: Path) -> bool:
    """Tell whether a file is Parquet, by its first bytes.

    Raises:
        WorkloadError: it cannot be opened.
    """
    try:
        with path.open("rb") as file:
            return file.read(len(PARQUET_MAGIC)) == PARQUET_MAGIC
    except FileNotFoundError as error:
        raise WorkloadError(f"There is no file {path}.", "Check the path.", path=str(path)) from error
    except IsADirectoryError as error:
        raise WorkloadError(f"{path} is a folder.", "Give the log file in it.", path=str(path)) from error
    except (OSError, ValueError) as error:
        raise WorkloadError(f"Cannot open {path}: {error}.", "Check path and permissions.", path=str(path)) from error


def column_names(path: Path) -> list[str]:
    """Return the names of a table's columns.

    Raises:
        WorkloadError: it cannot be read.
    """
    if is_parquet(path):
        return list(_parquet(path).schema_arrow.names)
    head = next((block.text for block in blocks(path)), b"")
    return split_header(head.partition(b"\n")[0])[0]


def parquet_metadata(path: Path) -> dict[bytes, bytes]:
    """Return the key-value metadata of a Parquet file.

    Raises:
        WorkloadError: it cannot be read.
    """
    return dict(_parquet(path).schema_arrow.metadata or {})


def batches(
    path: Path, wanted: Sequence[str], findings: Findings, *, names: Sequence[str] | None = None
) -> Iterator[Batch]:
    """Yield the columns *wanted* of a table; *names* are those of a CSV file without a header.

    Raises:
        WorkloadError: it cannot be read, or has not all of these columns.
    """
    if is_parquet(path):
        yield from _parquet_batches(path, wanted)
    else:
        yield _csv(path, wanted, findings, names)


def split_header(line: bytes) -> tuple[list[str], str]:
    """Return the column names in a CSV header, and the delimiter between them."""
    text = decode(line)
    delimiter = max(_DELIMITERS, key=text.count)
    return [name.strip().strip('"').strip() for name in text.split(delimiter)], delimiter


def check_columns(path: Path, wanted: Sequence[str], present: Sequence[str]) -> None:
    """Refuse a table that lacks a column.

    Raises:
        WorkloadError: naming the column, the closest one, and all that there are.
    """
    for name in wanted:
        if name not in present:
            cause = f"{path} has no column '{name}'.{closest(name, present)}"
            shown = ", ".join(present[:40]) + (", ..." if len(present) > 40 else "")
            raise WorkloadError(cause, f"It has: {shown}.", path=str(path), line=1, field=name)


def _parquet(path: Path) -> Any:
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        file = pq.ParquetFile(path, pre_buffer=False)
        rows = file.metadata.num_rows
    except (pa.ArrowException, OSError, ValueError) as error:
        raise damaged(path, error) from error
    if rows > MOST_ROWS:
        cause = f"{path} claims {rows:,} rows."
        raise WorkloadError(cause, f"No more than {MOST_ROWS:,} are read.", path=str(path), line=1)
    return file


def _parquet_batches(path: Path, wanted: Sequence[str]) -> Iterator[Batch]:
    import pyarrow as pa

    file = _parquet(path)
    check_columns(path, wanted, file.schema_arrow.names)
    first = 1
    try:
        for batch in file.iter_batches(batch_size=BATCH_ROWS, columns=list(dict.fromkeys(wanted))):
            columns = {name: _plain(batch.column(batch.schema.get_field_index(name))) for name in wanted}
            yield Batch(columns, range(first, first + batch.num_rows))
            first += batch.num_rows
    except (pa.ArrowException, OSError, ValueError) as error:
        raise damaged(path, error) from error
    finally:
        file.close()


def _plain(array: Any) -> Any:
    """Return a dictionary-encoded array as plain values."""
    import pyarrow as pa

    return array.dictionary_decode() if isinstance(array, pa.DictionaryArray) else array


def _csv(path: Path, wanted: Sequence[str], findings: Findings, names: Sequence[str] | None) -> Batch:
    import pyarrow as pa
    from pyarrow import csv

    text = _as_utf8(b"".join(block.text for block in blocks(path)))
    header, delimiter = split_header(text.partition(b"\n")[0])
    skip = 0 if names is not None else 1
    present = list(header if names is None else names)
    check_columns(path, wanted, present)
    repeated = {name for name in present if present.count(name) > 1}
    if repeated & set(wanted):
        raise WorkloadError(f"{path} has two columns '{min(repeated)}'.", "Rename one.", path=str(path), line=1)
    unique = [name if present.index(name) == place else f"{name}#{place}" for place, name in enumerate(present)]
    ragged: set[int] = set()

    def skip_ragged(row: Any) -> str:
        ragged.add(row.number)
        findings.add(_RAGGED, row.number, f"{row.actual_columns} fields", f"{row.expected_columns} wanted")
        return "skip"

    try:
        table = csv.read_csv(
            pa.BufferReader(text),
            read_options=csv.ReadOptions(
                column_names=unique, skip_rows=skip, use_threads=False, block_size=max(1 << 20, len(text) + 1)
            ),
            parse_options=csv.ParseOptions(
                delimiter=delimiter, newlines_in_values=True, ignore_empty_lines=True, invalid_row_handler=skip_ragged
            ),
            convert_options=csv.ConvertOptions(
                column_types=dict.fromkeys(unique, pa.binary()),
                include_columns=list(dict.fromkeys(wanted)),
                strings_can_be_null=False,
                check_utf8=False,
            ),
        )
    except (pa.ArrowException, OSError, ValueError, OverflowError) as error:
        if not text[len(text.partition(b"\n")[0]) :].strip() and skip:
            return Batch({name: pa.array([], pa.binary()) for name in wanted}, range(0))
        cause = f"{path} cannot be read as CSV: {_reason(error)}."
        raise WorkloadError(cause, "Check quotes and delimiter.", path=str(path), line=1) from error
    columns = {name: _whole(table.column(name)) for name in wanted}
    return Batch(columns, _csv_lines(table.num_rows, ragged, skip))


def _whole(column: Any) -> Any:
    import pyarrow as pa

    return pa.concat_arrays(column.chunks) if column.num_chunks else pa.array([], pa.binary())


def _csv_lines(rows: int, ragged: set[int], skip: int) -> list[int]:
    """Return the lines of rows, those left out that were ragged."""
    lines: list[int] = []
    line = 0
    while len(lines) < rows:
        line += 1
        if line > skip and line not in ragged:
            lines.append(line)
    return lines


def _as_utf8(text: bytes) -> bytes:
    """Return *text* as UTF-8; what is not is taken for Latin-1, as the parser would stumble over it."""
    try:
        text.decode()
    except UnicodeDecodeError:
        return text.decode("latin-1").encode()
    return text


def _reason(error: Exception) -> str:
    return str(error).partition("\n")[0].rstrip(".")[:200]


def damaged(path: Path, error: Exception) -> WorkloadError:
    """Return the refusal of a Parquet file that Arrow cannot read, in one line."""
    cause = f"{path} is no Parquet file that can be read: {_reason(error)}."
    return WorkloadError(cause, "Fetch it again and compare checksums.", path=str(path), line=1)
