"""What every format of job logs but SWF looks like, by the first line or the columns."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

from hpcsim.errors import WorkloadError
from hpcsim.workloads.readers import alibaba_gpu, alibaba_v2018, intrepid, pbs, pm100, sge
from hpcsim.workloads.readers.sacct_layout import RECOMMENDED, XDMOD, is_header
from hpcsim.workloads.readers.table_profile import KNOWN
from hpcsim.workloads.readers.tables import column_names, parquet_metadata
from hpcsim.workloads.writers.workload_file import METADATA

_SACCT_ROW = re.compile(rb"\d+[^|]*\|")


def parquet(path: Path) -> str:
    """Return the reader for a Parquet file.

    Raises:
        WorkloadError: the columns are those of two data sets that differ in units.
    """
    if METADATA in parquet_metadata(path):
        return "workload"
    return table(set(column_names(path)), path) or "table"


def table(columns: set[str], path: Path) -> str | None:
    """Return the reader for a table with these columns, None where it is none that is known.

    Raises:
        WorkloadError: the columns are those of two data sets that differ in units.
    """
    if {pm100.POWER, "time_limit", "num_nodes_alloc"} <= columns:
        cause = f"{path} may be PM100's or Adastra's table, whose columns are called alike and differ in units."
        raise WorkloadError(cause, "Name it: --format pm100 or --format adastra.", path=str(path))
    for name, needed in TABLES.items():
        if needed <= columns:
            return name
    return "table" if len(columns & set(KNOWN)) > 2 else None


def _is_sacct(line: bytes) -> bool:
    columns = line.count(b"|") + 1
    widths = {len(XDMOD), len(RECOMMENDED), len(XDMOD) + 1, len(RECOMMENDED) + 1}
    return is_header(line) or (columns in widths and bool(_SACCT_ROW.match(line)))


def _is_sge(line: bytes) -> bool:
    fields = line.split(b":")
    return len(fields) >= sge.NEEDED and all(fields[place].strip().isdigit() for place in (5, 8, 9, 10))


TABLES = {
    "f-data": {"jid", "adt", "sdt", "edt", "nnuma"},
    "intrepid": set(intrepid.COLUMNS),
    "alibaba-gpu-v2020": set(alibaba_gpu.TASK_COLUMNS),
    "alibaba-gpu-v2023": set(alibaba_gpu.POD_COLUMNS),
}
"""Tables by the columns that they have."""

SIGNS: dict[str, Callable[[bytes], bool]] = {
    "pbs": lambda line: pbs.LINE.fullmatch(line) is not None,
    "lsf": lambda line: re.match(rb'"[A-Z_]+" "\d+[.\d]*" \d+ ', line) is not None,
    "sge": _is_sge,
    "sacct": _is_sacct,
    "alibaba-v2018": lambda line: any(sign.fullmatch(line) for sign in (alibaba_v2018.TASK, alibaba_v2018.INSTANCE)),
}
"""Formats of lines other than SWF, and what their first line looks like; the first that fits."""
