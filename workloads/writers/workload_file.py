"""Writes a workload as hpcsim's own Parquet file: every column, with provenance, and nothing lost."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from hpcsim.scaling import has_truth
from hpcsim.workload import Workload
from hpcsim.workloads.truth_files import tell_old_truth, truth_of, truth_path, write_truth
from hpcsim.workloads.writers.atomic import replacing

METADATA = b"hpcsim.workload"
"""Key of the file's metadata under which everything but the columns stands, as JSON."""

VERSION = 1


def write_workload(workload: Workload, path: str | os.PathLike[str]) -> None:
    """Write *workload* to the Parquet file *path*; reading it again gives equal columns and provenance.

    Truth about other node counts (`hpcsim.scaling.TRUTH`) is left out and goes into a file beside
    it, ``NAME.truth.parquet``: who reads the log does not see it. The mean power that a log without
    such truth recorded is kept. The reader's ledger is not kept,
    since it speaks of another file.

    Raises:
        WorkloadError: the file cannot be written.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    apart = truth_of(workload)
    columns = {name: column for name, column in workload.columns.items() if name not in apart}
    arrays = {name: pa.array(column.tolist() if column.dtype == object else column) for name, column in columns.items()}
    table = pa.table(arrays).replace_schema_metadata({METADATA: json.dumps(_about(workload), default=str)})
    with replacing(Path(path)) as file:
        pq.write_table(table, file, compression="zstd")
    if has_truth(workload):
        write_truth(workload, truth_path(path))
    else:
        tell_old_truth(path)


def _about(workload: Workload) -> dict[str, Any]:
    return {
        "version": VERSION,
        "machine_nodes": workload.machine_nodes,
        "counted": workload.counted,
        "limits_are_run_times": workload.limits_are_run_times,
        "header": workload.header,
        "provenance": workload.provenance,
    }
