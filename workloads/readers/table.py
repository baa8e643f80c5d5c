"""Reads any table of jobs, CSV or Parquet, by a map of its columns."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from hpcsim.errors import WorkloadError
from hpcsim.ingest import Mode
from hpcsim.workload import Workload
from hpcsim.workloads.readers.clock import check_zone
from hpcsim.workloads.readers.findings import Findings
from hpcsim.workloads.readers.record_workload import Counted, ReadOptions, workload_of
from hpcsim.workloads.readers.table_profile import KNOWN, TableProfile, read_records
from hpcsim.workloads.readers.tables import column_names


def read_table(
    path: str | os.PathLike[str],
    *,
    mode: Mode = "repair",
    quarantine_path: str | os.PathLike[str] | None = None,
    limit_rows: int | None = None,
    count: Counted = "nodes",
    machine: int | None = None,
    zone: str = "UTC",
    columns: str | Mapping[str, str] | None = None,
    factors: str | Mapping[str, float] | None = None,
    carry: str | Sequence[str] = (),
) -> Workload:
    """Read a CSV (plain or gzipped) or Parquet table of jobs, by a map of its columns.

    A job needs its submit or start time, its run time (or start and end), and its nodes (or
    processors). Times are numbers in seconds, ISO 8601 texts or timestamps; all else is in our units
    unless *factors* say otherwise.

    Args:
        path: the table.
        mode: ``"repair"``, ``"strict"`` or ``"quarantine"``, see `hpcsim.ingest`.
        quarantine_path: where refused rows go (of CSV only); needed in that mode and only there.
        limit_rows: read this many rows only, refused ones counted.
        count: ``"processors"`` reads each job by its processors.
        machine: size of the machine in what is counted.
        zone: time zone of times that name none.
        columns: ours to theirs, ``{"submit_s": "submitted"}`` or ``submit_s=submitted,nodes=n``; those
            that are called as ours need no mention.
        factors: what to multiply a column of ours with: ``limit_s=60`` for a limit in minutes.
        carry: columns to keep under their own names.

    Raises:
        WorkloadError: it cannot be read, the map does not fit, or (strict) it has a fault.
    """
    mapped, multiplied = _pairs("columns", columns), _pairs("factors", factors)
    kept = tuple(carry.split(",")) if isinstance(carry, str) and carry else tuple(carry)
    given = {"zone": zone, "columns": mapped, "factors": multiplied, "carry": kept}
    options = ReadOptions(
        mode=mode, quarantine_path=quarantine_path, limit_rows=limit_rows, count=count, machine=machine, more=given
    )
    present = column_names(Path(path))
    profile = TableProfile(
        name="table",
        columns=_own(present, set(mapped.values())) | mapped,
        factors={name: _factor(name, value) for name, value in multiplied.items()},
        zone=check_zone(zone),
        carried=kept,
    )
    _check_enough(profile.columns, present, path)
    records = read_records(Path(path), profile, Findings(), limit_rows=limit_rows)
    return workload_of(records, Path(path), "table", options)


def _own(present: Sequence[str], taken: set[str]) -> dict[str, str]:
    """Return the columns that are called as ours, or as a workload calls them when it is written out."""
    own = {name: name for name in KNOWN if name in present and name not in taken}
    if "recorded_state" in present and "state" not in own:
        own["state"] = "recorded_state"
    return own


def _check_enough(columns: Mapping[str, str], present: Sequence[str], path: Any) -> None:
    """Refuse a map without which no job can be made."""
    needs = {
        "submit_s (or start_s)": {"submit_s", "start_s"} & columns.keys(),
        "run_s (or start_s and end_s)": "run_s" in columns or {"start_s", "end_s"} <= columns.keys(),
        "nodes (or processors)": {"nodes", "processors"} & columns.keys(),
    }
    for need, is_met in needs.items():
        if not is_met:
            shown = ", ".join(present[:40])
            remedy = f"Map it: columns='submit_s=...,run_s=...,nodes=...'. The table has: {shown}."
            raise WorkloadError(f"No column of {path} is known to be {need}.", remedy, path=str(path), line=1)


def _pairs(what: str, given: Any) -> dict[str, Any]:
    """Return ``a=b,c=d`` or a mapping as a dictionary."""
    if given is None:
        return {}
    if isinstance(given, Mapping):
        return {str(key): value for key, value in given.items()}
    pairs = [part.partition("=") for part in str(given).split(",") if part.strip()]
    for key, equals, value in pairs:
        if not equals or not value.strip():
            raise WorkloadError(f"{what} has '{key}' without a value.", f"Write {what}='ours=theirs,...'.", field=what)
    return {key.strip(): value.strip() for key, _, value in pairs}


def _factor(name: str, value: Any) -> Any:
    try:
        return float(value)
    except (TypeError, ValueError) as error:
        raise WorkloadError(f"The factor of '{name}' is {value!r}.", "Give a number above 0.", field=name) from error
