"""Reads hpcsim's own Parquet files, as `hpcsim.workloads.writers.workload_file` makes them."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hpcsim.errors import WorkloadError
from hpcsim.ingest import IngestLedger
from hpcsim.workload import Workload
from hpcsim.workloads.readers.tables import damaged, is_parquet, parquet_metadata
from hpcsim.workloads.truth_files import read_truth
from hpcsim.workloads.writers.workload_file import METADATA, VERSION


def read_workload(
    path: str | os.PathLike[str],
    *,
    mode: str = "repair",  # noqa: ARG001 - every reader takes it
    limit_rows: int | None = None,
    truth: str | os.PathLike[str] | None = None,
) -> Workload:
    """Read a workload that hpcsim has written; nothing in it needs repair.

    Args:
        path: the Parquet file.
        mode: any; such a file is read whole or refused.
        limit_rows: only the first rows.
        truth: the file with the truth about other node counts, if the run is to have it.

    Raises:
        WorkloadError: the file is missing, no Parquet, of another origin, or holds what no job can have.
    """
    path = Path(path)
    if not is_parquet(path):
        cause = f"{path} is no Parquet file, as hpcsim writes."
        raise WorkloadError(cause, "Name its format, or --format auto.", path=str(path), line=1)
    about = _about(parquet_metadata(path), path)
    columns, rows = _columns(path, limit_rows)
    try:
        workload = Workload(
            columns,
            machine_nodes=about["machine_nodes"],
            counted=about["counted"],
            limits_are_run_times=about["limits_are_run_times"],
            header=about["header"],
            provenance=about["provenance"],
            ledger=IngestLedger(source=str(path), format="workload", rows=rows),
        )
    except WorkloadError as error:
        raise WorkloadError(f"{path}: {error.cause}", error.remedy, path=str(path), line=1) from error
    if limit_rows is not None:
        workload.provenance["limit_rows"] = limit_rows
    return workload if truth is None else read_truth(workload, Path(truth))


def _columns(path: Path, limit_rows: int | None) -> tuple[dict[str, NDArray[Any]], int]:
    """Return the columns by name, and how many rows they have."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        with pq.ParquetFile(path, pre_buffer=False) as file:
            table = file.read()
        if limit_rows is not None:
            table = table.slice(0, limit_rows)
        return {name: _column(table[name]) for name in table.column_names}, table.num_rows
    except (OSError, ValueError, KeyError, OverflowError, pa.ArrowException) as error:
        raise damaged(path, error) from error


def _about(metadata: dict[bytes, bytes], path: Path) -> dict[str, Any]:
    """Return the JSON that stands beside the columns."""
    try:
        about: dict[str, Any] = json.loads(metadata[METADATA])
        size = about["machine_nodes"]
        if (
            about["version"] == VERSION
            and about["counted"] in {"nodes", "processors"}
            and (size is None or (type(size) is int and size > 0))
            and isinstance(about["limits_are_run_times"], bool)
            and isinstance(about["header"], dict)
            and isinstance(about["provenance"], dict)
        ):
            return about
    except (KeyError, ValueError, TypeError, RecursionError):
        pass
    raise WorkloadError(
        f"{path} is not a workload that this version of hpcsim wrote.",
        "Convert the log with `hpcsim workload convert`, or name its format.",
        path=str(path),
        line=1,
    )


def _column(column: Any) -> NDArray[Any]:
    """Return an Arrow column as an array: lists as tuples, text as objects."""
    import pyarrow as pa

    if pa.types.is_list(column.type):
        values = np.empty(len(column), dtype=object)
        values[:] = [tuple(value or ()) for value in column.to_pylist()]
        return values
    result: NDArray[Any] = column.to_numpy()
    return result
