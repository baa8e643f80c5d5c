"""Reads F-DATA, the public log of Fugaku's jobs: a Parquet file a month.

Source: Zenodo record 11467483 (CC BY 4.0) and its repository francescoantici/F-DATA.
"""

from __future__ import annotations

import os
from pathlib import Path

from hpcsim.ingest import Mode
from hpcsim.workload import Workload
from hpcsim.workloads.readers.clock import check_zone
from hpcsim.workloads.readers.findings import Findings
from hpcsim.workloads.readers.record_workload import Counted, ReadOptions, workload_of
from hpcsim.workloads.readers.records import Ending
from hpcsim.workloads.readers.table_profile import TableProfile, read_records

ZONE = "Asia/Tokyo"
_COLUMNS = {
    "job_id": "jid",
    "user_id": "usr",
    "name": "jnam",
    "submit_s": "adt",
    "start_s": "sdt",
    "end_s": "edt",
    "limit_s": "elpl",
    "nodes": "nnuma",
    "processors": "cnumat",
    "cores": "cnumr",
    "state": "exit state",
}
_OPTIONAL = frozenset({"user_id", "name", "limit_s", "processors", "cores", "state"})
_STATES = {"COMPLETED": Ending.COMPLETED, "FAILED": Ending.FAILED}


def read_fdata(
    path: str | os.PathLike[str],
    *,
    mode: Mode = "repair",
    quarantine_path: str | os.PathLike[str] | None = None,
    limit_rows: int | None = None,
    count: Counted = "nodes",
    machine: int | None = None,
    zone: str = ZONE,
    carry: str = "",
) -> Workload:
    """Read a month of F-DATA (Fugaku): Parquet, or CSV with the same columns.

    Read are jid, usr, jnam, adt (submit), sdt, edt, elpl (limit in seconds), nnuma, cnumr, cnumat and
    ``exit state``. Power, energy and memory stand in the data without a unit, and are not read.

    Args:
        path: the file.
        mode: ``"repair"``, ``"strict"`` or ``"quarantine"``, see `hpcsim.ingest`.
        quarantine_path: where refused rows go (of CSV only); needed in that mode and only there.
        limit_rows: read this many rows only, refused ones counted.
        count: ``"processors"`` reads each job by its cores.
        machine: size of the machine in what is counted; Fugaku has 158,976 nodes.
        zone: time zone of times that name none.
        carry: columns to keep under their own names, as ``pclass,econ``.

    Raises:
        WorkloadError: it cannot be read, lacks a column, or (strict) has a fault.
    """
    carried = tuple(filter(None, carry.split(",")))
    options = ReadOptions(
        mode=mode,
        quarantine_path=quarantine_path,
        limit_rows=limit_rows,
        count=count,
        machine=machine,
        more={"zone": zone, "carry": carried},
    )
    profile = TableProfile(
        name="f-data",
        columns=_COLUMNS,
        optional=_OPTIONAL,
        zone=check_zone(zone),
        states=_STATES,
        carried=carried,
    )
    records = read_records(Path(path), profile, Findings(), limit_rows=limit_rows)
    return workload_of(records, Path(path), "f-data", options)
