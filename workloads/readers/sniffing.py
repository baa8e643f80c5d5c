"""Tells the format of a job log by its first lines, never by its name, and reads it."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

from hpcsim import registry
from hpcsim.errors import WorkloadError
from hpcsim.workload import Workload
from hpcsim.workloads.readers import alibaba_gpu, alibaba_v2018, intrepid, pbs, pm100, sge
from hpcsim.workloads.readers.log_blocks import blocks
from hpcsim.workloads.readers.sacct_layout import RECOMMENDED, XDMOD, is_header
from hpcsim.workloads.readers.table_profile import KNOWN
from hpcsim.workloads.readers.tables import column_names, is_parquet, parquet_metadata, split_header
from hpcsim.workloads.writers.workload_file import METADATA

_SWF_ROW = re.compile(rb"\s*-?\d+(?:\s+-?\d*\.?\d+){8,}(?:\s.*)?")
_SACCT_ROW = re.compile(rb"\d+[^|]*\|")


def read_any(path: str | os.PathLike[str], **options: Any) -> Workload:
    """Read a job log of any known format, told by its content; *options* are those of the format's reader.

    Raises:
        WorkloadError: the format cannot be told, or as the reader.
        UnknownName: the reader has no such option.
    """
    workload: Workload = registry.make("readers", sniff(Path(path)), path=path, **options)
    return workload


def sniff(path: Path) -> str:
    """Return the registered name of the reader for *path*.

    Raises:
        WorkloadError: the file cannot be read, or its first lines look like no format known.
    """
    if is_parquet(path):
        if METADATA in parquet_metadata(path):
            return "workload"
        return _table(set(column_names(path)), path) or "table"
    lines = _first_lines(path)
    if not lines:
        return "swf"  # an empty file is a log of no jobs
    first = next((line for line in lines if not line.startswith(b"#")), lines[0])
    for name, is_it in _SIGNS.items():
        if is_it(first):
            return name
    known_table = _table(set(split_header(first)[0]), path)
    if known_table is not None:
        return known_table
    shown = first[:60].decode("ascii", "backslashreplace")
    known = ", ".join(name for name in registry.names("readers") if name != "auto")
    cause = f"Cannot tell the format of {path}: it begins with {shown!r}."
    raise WorkloadError(cause, f"Name it (--format, or format=): one of {known}.", path=str(path), line=1)


def _table(columns: set[str], path: Path) -> str | None:
    """Return the reader for a table with these columns, None where it is none that is known.

    Raises:
        WorkloadError: the columns are those of two data sets that differ in units.
    """
    if {pm100.POWER, "time_limit", "num_nodes_alloc"} <= columns:
        cause = f"{path} may be PM100's or Adastra's table, whose columns are called alike and differ in units."
        raise WorkloadError(cause, "Name it: --format pm100 or --format adastra.", path=str(path))
    for name, needed in _TABLES.items():
        if needed <= columns:
            return name
    return "table" if len(columns & set(KNOWN)) > 2 else None


def _first_lines(path: Path) -> list[bytes]:
    """Return the first lines that are not blank."""
    for block in blocks(path):
        lines = [line for line in block.text.split(b"\n") if line.strip()]
        if lines:
            return lines
    return []


def _is_sacct(line: bytes) -> bool:
    columns = line.count(b"|") + 1
    widths = {len(XDMOD), len(RECOMMENDED), len(XDMOD) + 1, len(RECOMMENDED) + 1}
    return is_header(line) or (columns in widths and bool(_SACCT_ROW.match(line)))


def _is_sge(line: bytes) -> bool:
    fields = line.split(b":")
    return len(fields) >= sge.NEEDED and all(fields[place].strip().isdigit() for place in (5, 8, 9, 10))


_TABLES = {
    "f-data": {"jid", "adt", "sdt", "edt", "nnuma"},
    "intrepid": set(intrepid.COLUMNS),
    "alibaba-gpu-v2020": set(alibaba_gpu.TASK_COLUMNS),
    "alibaba-gpu-v2023": set(alibaba_gpu.POD_COLUMNS),
}
"""Tables by the columns that they have."""

_SIGNS: dict[str, Callable[[bytes], bool]] = {
    "pbs": lambda line: pbs.LINE.fullmatch(line) is not None,
    "lsf": lambda line: re.match(rb'"[A-Z_]+" "\d+[.\d]*" \d+ ', line) is not None,
    "sge": _is_sge,
    "sacct": _is_sacct,
    "alibaba-v2018": lambda line: any(sign.fullmatch(line) for sign in (alibaba_v2018.TASK, alibaba_v2018.INSTANCE)),
    "swf": lambda line: line.lstrip().startswith(b";") or bool(_SWF_ROW.fullmatch(line)),
}
"""Formats, and what their first line looks like; the first that fits."""
