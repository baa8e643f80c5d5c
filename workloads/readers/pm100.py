"""Reads PM100 (CINECA's Marconi100, 2020) and the 15 days of Adastra (CINES, 2024): jobs with their power.

Sources: Zenodo records 10127767 and 14007065, and the PM100 repository. The two share their column
names and differ in units, so each has a profile of its own, chosen by name and never guessed.
"""

from __future__ import annotations

import os
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hpcsim.errors import SuspiciousWorkload, WorkloadError
from hpcsim.ingest import Mode
from hpcsim.workload import Workload
from hpcsim.workloads.readers.clock import check_zone
from hpcsim.workloads.readers.findings import Findings, Rule
from hpcsim.workloads.readers.power_lists import samples, statistics
from hpcsim.workloads.readers.record_workload import Counted, ReadOptions, workload_of
from hpcsim.workloads.readers.records import Records
from hpcsim.workloads.readers.table_profile import TableProfile, read_records
from hpcsim.workloads.readers.tables import Batch

Column = NDArray[Any]

SAMPLE_S = 20
"""PM100 samples power every 20 s, in watts over all nodes of the job."""

EPOCH_FROM = 1e8
"""A time limit from here on is an epoch and no limit: in minutes it were 190 years."""

MOST_NODE_W = 1e5
"""No node draws more: power that implies it is in another unit."""

POWER = "node_power_consumption"
_COLUMNS = {
    "job_id": "job_id",
    "submit_s": "submit_time",
    "start_s": "start_time",
    "end_s": "end_time",
    "run_s": "run_time",
    "limit_s": "time_limit",
    "state": "job_state",
    "user_id": "user_id",
    "group_id": "group_id",
    "partitions": "partition",
    "qos": "qos",
    "nodes": "num_nodes_alloc",
    "processors": "num_cores_alloc",
    "cores": "num_cores_req",
    "gpus": "num_gpus_req",
    "memory_bytes": "mem_req",
}
_OPTIONAL = frozenset(_COLUMNS) - {"job_id", "submit_s", "start_s", "end_s", "nodes"}
_EPOCH_LIMIT = Rule("limit-is-a-date", "changed", "time_limit", "more than 1e8: an epoch and no limit")
_FAULTY = Rule("power-samples-dropped", "noted", POWER, "negative or missing samples: left out of mean and peak")
_NO_POWER = Rule("power-not-measured", "noted", POWER, "no sample: the job's power is not known")
_ABSURD = Rule("power-absurd", "changed", POWER, f"more than {MOST_NODE_W:.0e} W a node: taken as not known")


@dataclass(frozen=True, slots=True)
class PowerProfile:
    """What the shared columns mean in one of the data sets.

    Attributes:
        name: of the format.
        limit_unit_s: seconds in the unit of ``time_limit``.
        memory_unit_bytes: bytes in the unit of ``mem_req``.
        zone: of times that name none.
        sample_s: seconds between power samples in watts; 0: the lists hold joules of the whole run.
    """

    name: str
    limit_unit_s: float
    memory_unit_bytes: int
    zone: str
    sample_s: float


PM100 = PowerProfile("pm100", 60, 2**30, "UTC", SAMPLE_S)
ADASTRA = PowerProfile("adastra", 1, 2**20, "Europe/Paris", 0)


def read_pm100(
    path: str | os.PathLike[str],
    *,
    mode: Mode = "repair",
    quarantine_path: str | os.PathLike[str] | None = None,
    limit_rows: int | None = None,
    count: Counted = "nodes",
    machine: int | None = None,
    zone: str = PM100.zone,
    series: bool = False,
) -> Workload:
    """Read PM100's job table (Parquet): limits in minutes, memory in GB, power in watts every 20 s.

    Columns ``recorded_energy_j mean_power_w max_power_w`` are of the whole job, by
    ``node_power_consumption``: what it drew then is what it draws in a simulation, as its recorded run
    time is the true one. With *series* column ``power_series_w`` has all samples, about 40 bytes each; a
    faulty one counts as the job's mean. The lists of CPU and memory power are not read. Cores are
    hardware threads, 128 on a whole node.

    Args:
        path: the table.
        mode: ``"repair"``, ``"strict"`` or ``"quarantine"``, see `hpcsim.ingest`.
        quarantine_path: where refused rows go (of CSV only); needed in that mode and only there.
        limit_rows: read this many rows only, refused ones counted.
        count: ``"processors"`` reads each job by its hardware threads.
        machine: size of the machine in what is counted; Marconi100 has 980 nodes.
        zone: time zone of times that name none.
        series: keep the samples, so that a simulation draws the power that was measured, step by step.

    Raises:
        WorkloadError: it cannot be read, lacks a column, or (strict) has a fault.
    """
    if not isinstance(series, bool):
        raise WorkloadError(f"series is {series!r}.", "Give true or false.", field="series")
    options = _options(mode, quarantine_path, limit_rows, count, machine, zone, series=series)
    return _read(Path(path), PM100, options)


def read_adastra(
    path: str | os.PathLike[str],
    *,
    mode: Mode = "repair",
    quarantine_path: str | os.PathLike[str] | None = None,
    limit_rows: int | None = None,
    count: Counted = "nodes",
    machine: int | None = None,
    zone: str = ADASTRA.zone,
) -> Workload:
    """Read the 15 days of Adastra (Parquet): power columns hold joules of the run, time_limit an epoch.

    So no job has a limit, and run times stand in for them. Memory is in MB; GPUs are half cards (GCDs),
    8 a node; times are French local time.

    Args:
        path: the table.
        mode: ``"repair"``, ``"strict"`` or ``"quarantine"``, see `hpcsim.ingest`.
        quarantine_path: where refused rows go (of CSV only); needed in that mode and only there.
        limit_rows: read this many rows only, refused ones counted.
        count: ``"processors"`` reads each job by its cores.
        machine: size of the machine in what is counted; the partition has 356 nodes.
        zone: time zone of times that name none.

    Raises:
        WorkloadError: it cannot be read, lacks a column, or (strict) has a fault.
    """
    options = _options(mode, quarantine_path, limit_rows, count, machine, zone)
    return _read(Path(path), ADASTRA, options)


def _options(
    mode: Mode, quarantine: Any, limit_rows: Any, count: Counted, machine: Any, zone: str, **more: bool
) -> ReadOptions:
    return ReadOptions(
        mode=mode,
        quarantine_path=quarantine,
        limit_rows=limit_rows,
        count=count,
        machine=machine,
        more={"zone": check_zone(zone)} | more,
    )


def _read(path: Path, power: PowerProfile, options: ReadOptions) -> Workload:
    profile = TableProfile(
        name=power.name,
        columns=_COLUMNS,
        optional=_OPTIONAL,
        factors={"limit_s": power.limit_unit_s, "memory_bytes": power.memory_unit_bytes},
        zone=str(options.more["zone"]),
        extra=(POWER,),
    )
    raw: list[tuple[Column, Column]] = []

    def power_of(batch: Batch) -> dict[str, Column]:
        found = statistics(batch.columns[POWER])
        raw.append((found.entries, found.faulty))
        columns = {"recorded_energy_j": found.total, "mean_power_w": found.mean}
        if power.sample_s:
            columns["max_power_w"] = found.largest
        if options.more.get("series"):
            columns["power_series_w"] = samples(batch.columns[POWER], found.mean)
        return columns

    records = read_records(path, profile, Findings(), limit_rows=options.limit_rows, each_batch=power_of)
    if len(records):
        entries, faulty = (np.concatenate(part)[: len(records)] for part in zip(*raw, strict=True))
        _check_profile(records, power, entries, path)
        _settle_power(records, power, entries, faulty)
    _settle_limits(records, power)
    return workload_of(records, path, power.name, options)


def _check_profile(records: Records, power: PowerProfile, entries: Column, path: Path) -> None:
    """Warn, with numbers, where the data look like those of the other profile."""
    known = entries[entries > 0]
    long_runs = (entries > 0) & (records.occupancy_s > 3 * SAMPLE_S)
    single = float(np.mean(entries[long_runs] == 1)) if long_runs.any() else 0.0
    limits = records.limit_s[np.isfinite(records.limit_s)] / power.limit_unit_s
    median = float(np.median(limits)) if len(limits) else 0.0
    if power.sample_s and (single > 0.9 or median > EPOCH_FROM):
        said = f"{single:.0%} of its power lists hold one entry, the median time_limit is {median:.0f}"
        other = "as in Adastra's table. Read it with format 'adastra' if it is that."
        warnings.warn(f"{path.name}: {said}, {other}", SuspiciousWorkload, stacklevel=5)
    elif not power.sample_s and len(known) and single < 0.5 and long_runs.any():
        said = f"its power lists hold {np.mean(known):.0f} entries each, as PM100's watts do, and not one of joules"
        warnings.warn(f"{path.name}: {said}. Read it with format 'pm100' if so.", SuspiciousWorkload, stacklevel=5)


def _settle_power(records: Records, power: PowerProfile, entries: Column, faulty: Column) -> None:
    """Turn sums of samples into joules, or joules into watts, and drop what no node can draw."""
    energy, mean = records.more["recorded_energy_j"], records.more["mean_power_w"]
    with np.errstate(invalid="ignore", divide="ignore"):
        if power.sample_s:
            energy *= power.sample_s
        else:
            mean[:] = np.where(records.occupancy_s > 0, energy / np.maximum(records.occupancy_s, 1e-9), np.nan)
        absurd = mean > MOST_NODE_W * np.maximum(records.nodes, 1)
    records.changes.append((_FAULTY, faulty > 0, faulty, "left out"))
    records.changes.append((_NO_POWER, (entries == faulty), entries, "not known"))
    records.changes.append((_ABSURD, absurd, mean.copy(), "not known"))
    for name in ("recorded_energy_j", "mean_power_w", "max_power_w"):
        if name in records.more:
            records.more[name][absurd] = np.nan
    for row in np.flatnonzero(absurd) if "power_series_w" in records.more else ():
        records.more["power_series_w"][row] = ()


def _settle_limits(records: Records, power: PowerProfile) -> None:
    with np.errstate(invalid="ignore"):
        is_date = records.limit_s > EPOCH_FROM * power.limit_unit_s
    records.changes.append((_EPOCH_LIMIT, is_date, records.limit_s / power.limit_unit_s, "not known"))
    records.limit_s = np.where(is_date, np.nan, records.limit_s)
