"""Reads the reduced log of Intrepid (Argonne's Blue Gene/P, 2009) that carries submit, run time and nodes only.

The whole log, ANL-Intrepid-2009-1, is at the Parallel Workloads Archive in SWF; `read_swf` reads that.
"""

from __future__ import annotations

import os
from pathlib import Path

from hpcsim.ingest import Mode
from hpcsim.workload import Workload
from hpcsim.workloads.readers.findings import Findings
from hpcsim.workloads.readers.record_workload import ReadOptions, workload_of
from hpcsim.workloads.readers.table_profile import TableProfile, read_records

NODES = 40_960
"""40 racks of 1,024 nodes, by the log's header."""

UNIX_START_S = 1231135224
COLUMNS = ("job_id", "submit_s", "runtime_s", "nodes")
_PROFILE = TableProfile(
    name="intrepid",
    columns={"job_id": "job_id", "submit_s": "submit_s", "run_s": "runtime_s", "nodes": "nodes"},
)


def read_intrepid(
    path: str | os.PathLike[str],
    *,
    mode: Mode = "repair",
    quarantine_path: str | os.PathLike[str] | None = None,
    limit_rows: int | None = None,
    machine: int = NODES,
) -> Workload:
    """Read the reduced Intrepid log: CSV with job_id, submit_s, runtime_s, nodes, on 40,960 nodes.

    Args:
        path: the file, plain or gzipped.
        mode: ``"repair"``, ``"strict"`` or ``"quarantine"``, see `hpcsim.ingest`.
        quarantine_path: where refused rows go; needed in that mode and only there.
        limit_rows: read this many rows only, refused ones counted.
        machine: nodes of the machine.

    Raises:
        WorkloadError: it cannot be read, or (strict) has a fault; it names no limit, which is one.
    """
    options = ReadOptions(mode=mode, quarantine_path=quarantine_path, limit_rows=limit_rows, machine=machine)
    records = read_records(Path(path), _PROFILE, Findings(), limit_rows=limit_rows)
    header = {"UnixStartTime": [str(UNIX_START_S)], "TimeZoneString": ["America/Chicago"]}
    return workload_of(records, Path(path), "intrepid", options, header=header)
