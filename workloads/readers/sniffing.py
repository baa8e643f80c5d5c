"""Tells the format of a job log by its first lines, never by its name, and reads it."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

from hpcsim import registry
from hpcsim.errors import WorkloadError
from hpcsim.workload import Workload
from hpcsim.workloads.readers.log_blocks import blocks
from hpcsim.workloads.readers.tables import is_parquet, split_header

_SWF_ROW = re.compile(rb"\s*-?\d+(?:\s+-?\d*\.?\d+){8,}(?:\s.*)?")


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
        from hpcsim.workloads.readers import signs

        return signs.parquet(path)
    lines = _first_lines(path)
    if not lines:
        return "swf"  # an empty file is a log of no jobs
    first = next((line for line in lines if not line.startswith(b"#")), lines[0])
    if first.lstrip().startswith(b";") or _SWF_ROW.fullmatch(first):
        return "swf"
    from hpcsim.workloads.readers import signs  # it knows all formats, and most logs are SWF

    for name, is_it in signs.SIGNS.items():
        if is_it(first):
            return name
    known_table = signs.table(set(split_header(first)[0]), path)
    if known_table is not None:
        return known_table
    shown = first[:60].decode("ascii", "backslashreplace")
    known = ", ".join(name for name in registry.names("readers") if name != "auto")
    cause = f"Cannot tell the format of {path}: it begins with {shown!r}."
    remedy = f"Name it (--format, or format=): one of {known}."
    if first.lstrip()[:1] in {b"{", b"["}:
        remedy = (
            "JSON is not read: of Slurm, export with sacct -P, not --json; else write its records as CSV or Parquet."
        )
    raise WorkloadError(cause, remedy, path=str(path), line=1)


def _first_lines(path: Path) -> list[bytes]:
    """Return the first lines that are not blank."""
    for block in blocks(path):
        lines = [line for line in block.text.split(b"\n") if line.strip()]
        if lines:
            return lines
    return []
