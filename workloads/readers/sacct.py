"""Reads what Slurm's ``sacct -P`` prints: any columns in any order, steps, arrays, requeues and all.

Source: sacct(1), and dumps of several sites. One job is one allocation: step rows are passed over, the
components of a heterogeneous job are one job, each run of a requeued job is a job of its own.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Literal

import numpy as np

from hpcsim.errors import WorkloadError
from hpcsim.ingest import Mode
from hpcsim.workload import Workload
from hpcsim.workloads.readers.byte_columns import numbers
from hpcsim.workloads.readers.clock import Instants, check_zone, settle_repeated
from hpcsim.workloads.readers.findings import Rule
from hpcsim.workloads.readers.options import check_choice, check_text
from hpcsim.workloads.readers.record_workload import Counted, ReadOptions, workload_of
from hpcsim.workloads.readers.records import Column, Ending, Records
from hpcsim.workloads.readers.sacct_identity import fold_components, mark_repeats
from hpcsim.workloads.readers.sacct_layout import EXPORT, names_of
from hpcsim.workloads.readers.sacct_table import SacctTable, read_table
from hpcsim.workloads.readers.sacct_values import ENDINGS, SacctValues

READ = frozenset(
    {
        *("jobid", "jobidraw", "jobname", "user", "group", "account", "partition", "qos", "submit", "start", "end"),
        *("state", "nnodes", "ncpus", "reqcpus", "reqmem", "reqtres", "alloctres", "reqgres", "allocgres"),
    }
)
"""Fields that are read wherever they are; see `_wanted` for those that stand in for others."""

MOST_W = 1e7
"""No job draws more: an energy that implies it is no energy."""

_TITLES = {"submit_s": "Submit", "start_s": "Start", "end_s": "End", "limit_s": "Timelimit", "nodes": "NNodes"}
_STEPS = Rule("step-rows", "noted", "JobID", "rows of job steps (.batch, .extern, .0): not jobs, passed over")
_LOOSE = Rule("loose-lines", "noted", "line", "lines that continue a text in the last column: passed over")
_ASSUMED_UTC = Rule("zone-assumed", "noted", "zone", "local to where sacct ran; no zone was given: taken as UTC")
_UNKNOWN_STATE = Rule("unknown-state", "noted", "State", "no state of Slurm's; judged by its times")
_MISSING_HOUR = Rule("missing-hour", "changed", "time", "an hour that the clock skipped: read as before the change")
_REPEATED_HOUR = Rule("repeated-hour", "noted", "time", "in the hour that repeats: in the pass that Elapsed allows")
_ENERGY = Rule("energy-absurd", "changed", "ConsumedEnergyRaw", f"implies more than {MOST_W:.0e} W: taken as not known")


def read_sacct(
    path: str | os.PathLike[str],
    *,
    mode: Mode = "repair",
    quarantine_path: str | os.PathLike[str] | None = None,
    limit_rows: int | None = None,
    count: Counted = "nodes",
    machine: int | None = None,
    zone: str | None = None,
    columns: str | Sequence[str] | None = None,
    delimiter: str | None = None,
    submit: Literal["submit", "eligible"] = "submit",
) -> Workload:
    """Read the output of ``sacct -P`` (or ``-p``, or with a delimiter of its own), plain or gzipped.

    Needed are JobID (or JobIDRaw), Submit, two of Start, End and Elapsed, and NNodes or TRES; the limit,
    State, User, Group, Account, Partition, QOS, JobName, NCPUS, ReqCPUS, ReqMem, ReqTRES, AllocTRES
    and ConsumedEnergyRaw are read where they are. ``nodes`` are the allocated ones; cores, GPUs and
    memory per node are those requested, spread evenly. Times become epoch seconds.

    Args:
        path: the dump.
        mode: ``"repair"``, ``"strict"`` or ``"quarantine"``, see `hpcsim.ingest`.
        quarantine_path: where refused rows go; needed in that mode and only there.
        limit_rows: read this many jobs only, refused ones counted and steps not.
        count: ``"processors"`` reads each job by its CPUs, for machines whose nodes jobs share.
        machine: size of the machine in nodes (or processors), where you want it kept with the workload.
        zone: time zone of the times, an Olson name; UTC if not given.
        columns: the fields in their order, for a dump without a header, as behind ``--format=``.
        delimiter: what stands between fields; found in the header where there is one.
        submit: ``"eligible"`` takes the end of dependencies, holds and begin times for the submit time.

    Raises:
        WorkloadError: it cannot be read, lacks a column that is needed, or (strict) has a fault.

    Warns:
        WorkloadRepaired: rows were changed or refused.
        SuspiciousWorkload: the numbers are unlikely, as those of a wrong unit are.
    """
    check_text("delimiter", delimiter)
    check_text("zone", zone)
    check_choice("submit", submit, ("submit", "eligible"))
    names = names_of(columns)
    more = {"zone": zone, "columns": names, "delimiter": delimiter, "submit": submit}
    options = ReadOptions(
        mode=mode, quarantine_path=quarantine_path, limit_rows=limit_rows, count=count, machine=machine, more=more
    )
    known_zone = check_zone("UTC" if zone is None else zone)
    wanted = partial(_wanted, zone=known_zone, submit=submit)
    table, steps = _jobs_only(read_table(Path(path), wanted, columns=names, delimiter=delimiter), Path(path))
    if limit_rows is not None:
        table = table.head(limit_rows)
    records = _records(table, SacctValues(table, known_zone), submit)
    records.totals += _totals(table, steps, zone)
    header = {"UnixStartTime": ["0"], "TimeZoneString": [known_zone]}
    return workload_of(records, Path(path), "sacct", options, header=header)


def _wanted(names: tuple[str, ...], zone: str, submit: str) -> set[str]:
    """Return the fields to read of those that a dump has: a second spelling only where the first is missing."""
    wanted = set(READ)
    for first, second in (
        ("timelimitraw", "timelimit"),
        ("consumedenergyraw", "consumedenergy"),
        ("elapsedraw", "elapsed"),
        ("alloctres", "nodelist"),
    ):
        wanted.add(first if first in names else second)
    if zone == "UTC" and {"start", "end"} <= set(names):
        wanted -= {"elapsedraw", "elapsed"}
    return wanted | {"eligible"} if submit == "eligible" else wanted


def _jobs_only(table: SacctTable, path: Path) -> tuple[SacctTable, np.ndarray]:
    """Return the table without its step rows, and the lines of those; refuse one that lacks what is needed."""
    import pyarrow.compute as pc

    columns = table.columns
    if "jobid" not in columns and "jobidraw" in columns:
        columns["jobid"] = columns["jobidraw"]
    times = len({"start", "end"} & columns.keys()) + bool({"elapsed", "elapsedraw"} & columns.keys())
    needs = {
        "JobID": "jobid" in columns,
        "Submit": "submit" in columns,
        "two of Start, End and Elapsed": times > 1 or "elapsedraw" in columns or "elapsed" in columns,
        "NNodes, NCPUS or AllocTRES": bool({"nnodes", "ncpus", "alloctres", "reqtres"} & columns.keys()),
    }
    for need, is_met in needs.items():
        if not is_met:
            raise WorkloadError(f"{path} has no {need}.", f"Export it again: {EXPORT}", path=str(path), line=1)
    is_step = pc.match_substring(columns["jobid"], ".").to_numpy().astype(bool)
    if len(table) and is_step.all():
        cause = f"{path} holds steps only, and no row of a job."
        raise WorkloadError(cause, f"Export it again: {EXPORT}", path=str(path), line=int(table.lines[0]))
    return table.select(~is_step), table.lines[is_step]


def _totals(table: SacctTable, steps: np.ndarray, zone: str | None) -> list[tuple[Rule, int, int, str]]:
    totals = []
    if len(steps):
        totals.append((_STEPS, len(steps), int(steps[0]), "a step"))
    if table.loose_lines:
        totals.append((_LOOSE, len(table.loose_lines), table.loose_lines[0], "a text"))
    if zone is None and len(table):
        totals.append((_ASSUMED_UTC, 0, 0, "no zone"))
    return totals


def _records(table: SacctTable, values: SacctValues, submit_field: str) -> Records:
    submit, start, end = (values.instants(name) for name in ("submit", "start", "end"))
    if submit_field == "eligible":
        eligible = values.instants("eligible")
        submit = Instants(
            np.where(np.isnan(eligible.seconds), submit.seconds, eligible.seconds),
            submit.is_repeated | eligible.is_repeated,
            submit.is_missing | eligible.is_missing,
        )
    elapsed = values.elapsed_s()
    settle_repeated(submit, start, end, elapsed)
    states = values.states()
    ending = states.mapped([ENDINGS.get(state, Ending.UNKNOWN) for state in states.values], Ending.UNKNOWN, np.int8)
    run = _occupancy(values, start.seconds, end.seconds, elapsed)
    idle = (ending == Ending.CANCELLED) & ~(run > 0) & values.is_unallocated()
    start.seconds[idle] = run[idle] = np.nan
    sizes = values.sizes()
    records = Records(
        lines=table.lines,
        job_id=_job_ids(table),
        submit_s=submit.seconds,
        start_s=start.seconds,
        end_s=end.seconds,
        run_s=run,
        limit_s=values.limit_s(),
        nodes=_whole(sizes.nodes),
        processors=_whole(sizes.processors),
        ending=ending,
        titles=_TITLES,
        findings=table.findings,
    )
    _add_requests(records, sizes.cores_asked, sizes.gpus, sizes.memory_bytes)
    _add_names(records, values)
    _add_energy(records, values.energy_j())
    records.coded["recorded_state"] = states
    known = np.isin(states.codes, [place for place, state in enumerate(states.values) if state in ENDINGS])
    records.changes.append((_UNKNOWN_STATE, ~known & (states.codes >= 0), states.decoded(), "kept"))
    repeated = submit.is_repeated | start.is_repeated | end.is_repeated
    missing = submit.is_missing | start.is_missing | end.is_missing
    records.changes.append((_REPEATED_HOUR, repeated, start.seconds, start.seconds))
    records.changes.append((_MISSING_HOUR, missing, "a time that never was", "an hour later"))
    mark_repeats(records, table)
    fold_components(records, table)
    return records


def _occupancy(values: SacctValues, start: Column, end: Column, elapsed: Column) -> Column:
    """Return seconds from start to end: suspended ones count, which Elapsed leaves out."""
    if values.has("start") and values.has("end"):
        return end - start
    if values.has("end"):
        start[:] = end - elapsed
    elif values.has("start"):
        end[:] = start + elapsed
        return np.where(np.isnan(start), np.nan, elapsed)
    return elapsed.copy()


def _job_ids(table: SacctTable) -> Column:
    """Return JobIDRaw where all are numbers, else JobID as numbers or texts."""
    for name in ("jobidraw", "jobid"):
        if name in table.columns:
            ids = numbers(table.columns[name], lambda _: None)
            if np.isfinite(ids).all():
                return ids.astype(np.int64)
    return np.array(table.texts("jobid"), dtype=object)


def _whole(counts: Column) -> Column:
    """Return counts as integers, 0 where not known; too large ones stay too large."""
    return np.nan_to_num(np.minimum(counts, 2.0**53), nan=0.0).astype(np.int64)


def _add_requests(records: Records, cores: Column, gpus: Column, memory: Column) -> None:
    nodes = np.maximum(records.nodes, 1)
    for name, whole in (("cores_per_node", cores), ("gpus_per_node", gpus), ("memory_bytes_per_node", memory)):
        records.more[name] = _whole(np.ceil(whole / nodes))


def _add_names(records: Records, values: SacctValues) -> None:
    fields = {"user_id": "user", "group_id": "group", "account": "account", "qos": "qos", "name": "jobname"}
    for ours, theirs in fields.items():
        text = values.text(theirs)
        if text is not None:
            records.coded[ours] = text
    partitions = values.partitions()
    if partitions is not None and any(partitions.values):
        records.coded["partitions"] = partitions


def _add_energy(records: Records, energy: Column) -> None:
    with np.errstate(invalid="ignore"):
        absurd = energy > MOST_W * np.maximum(records.occupancy_s, 1.0)
    records.changes.append((_ENERGY, absurd, energy, "not known"))
    records.more["recorded_energy_j"] = np.where(absurd, np.nan, energy)
