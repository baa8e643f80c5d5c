"""From records to a workload: rules applied, ledger written, columns narrow, quarantine and warnings dealt with."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import numpy as np

from hpcsim.errors import WorkloadError
from hpcsim.ingest import Mode
from hpcsim.workload import Workload
from hpcsim.workloads.readers.assessment import Assessment
from hpcsim.workloads.readers.findings import Rule
from hpcsim.workloads.readers.narrowing import exact, narrow
from hpcsim.workloads.readers.options import check_choice, check_machine, check_options
from hpcsim.workloads.readers.quarantine import write_quarantine
from hpcsim.workloads.readers.record_rules import assess, limits_unknown
from hpcsim.workloads.readers.records import Column, Ending, Mask, Records
from hpcsim.workloads.readers.verdict import file_sha256, warn_of
from hpcsim.workloads.swf_fields import MISSING

Counted = Literal["nodes", "processors"]

_PER_NODE = ("cores_per_node", "gpus_per_node", "memory_bytes_per_node")
_TOO_WIDE = Rule("wider-than-machine", "noted", "nodes", "no machine of this size can run it")


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadOptions:
    """What every reader of records takes.

    Attributes:
        mode, quarantine_path: what happens to faulty rows, as in `hpcsim.ingest`.
        limit_rows: read this many records only, refused ones counted.
        count: what a job's ``nodes`` are: its nodes, or its processors (for nodes that jobs share).
        machine: size of the machine in what is counted, where the log does not say.
    """

    mode: Mode = "repair"
    quarantine_path: str | os.PathLike[str] | None = None
    limit_rows: int | None = None
    count: Counted = "nodes"
    machine: int | None = None
    more: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        check_options(self.mode, self.quarantine_path, self.limit_rows)
        check_choice("count", self.count, ("nodes", "processors"))
        check_machine(self.machine, self.count)

    def to_dict(self) -> dict[str, Any]:
        """Return the options as plain data, for the provenance."""
        given = {"mode": self.mode, "limit_rows": self.limit_rows, "count": self.count, "machine": self.machine}
        return given | dict(self.more)


def workload_of(
    records: Records,
    path: Path,
    reader: str,
    options: ReadOptions,
    *,
    header: dict[str, list[str]] | None = None,
    machine: int | None = None,
) -> Workload:
    """Return the workload of *records*, with its ledger; refused rows go where *options* say.

    *header* is an SWF header for writers; *machine* the size by the log itself.

    Raises:
        WorkloadError: nothing in the file is a record; in strict mode, the first fault.
    """
    if options.count == "processors":
        records.nodes = records.processors
    _mark_limits(records)
    assessment = assess(records)
    if options.mode == "strict":
        assessment.raise_first_fault(str(path))
    _refuse_foreign(records, path, reader)
    machine = options.machine or machine
    if machine is not None:
        assessment.apply(_TOO_WIDE, records.nodes > machine, records.nodes, f"machine of {machine}")
    if options.quarantine_path is not None:
        write_quarantine(path, Path(options.quarantine_path), assessment.reasons())
    workload = Workload(
        _columns(records, ~assessment.refused, options.count),
        machine_nodes=machine,
        counted=options.count,
        limits_are_run_times=_limits_are_run_times(assessment, ~assessment.refused),
        header=header or {},
        provenance={
            "source": str(path),
            "sha256": file_sha256(path),
            "reader": reader,
            "options": options.to_dict(),
        },
        ledger=assessment.ledger(str(path), reader, options.mode),
    )
    warn_of(workload, path, stacklevel=4)
    return workload


def _refuse_foreign(records: Records, path: Path, reader: str) -> None:
    """Raise where not one line could be read: whatever the file is, it is not of this format."""
    refused = records.findings.refused_lines()
    if not len(records) and refused:
        cause = f"{path} holds no {reader} record ({len(refused)} lines tried, from line {min(refused)} on)."
        raise WorkloadError(cause, "Check the format.", path=str(path), line=min(refused))


def _limits_are_run_times(assessment: Assessment, kept: Mask) -> bool:
    count = next((rule.rows for rule in assessment.rules if rule.rule == "limit-from-run-time"), 0)
    return bool(kept.any()) and count == int(np.count_nonzero(kept))


def _columns(records: Records, kept: Mask, count: Counted) -> dict[str, Column]:
    rows: Any = slice(None) if kept.all() else kept
    columns: dict[str, Column] = {
        "job_id": _ids(records.job_id[rows]),
        "submit_s": exact(records.submit_s[rows]),
        "run_s": exact(records.occupancy_s[rows]),
        "limit_s": exact(records.limit_s[rows]),
        "nodes": narrow(records.nodes[rows]),
    }
    with np.errstate(invalid="ignore"):  # of infinite times
        wait = records.start_s[rows] - records.submit_s[rows]
    if np.isfinite(wait).any():
        columns["recorded_wait_s"] = narrow(np.where(np.isfinite(wait), wait, MISSING))
    ending = records.ending[rows]
    if np.isin(ending, (Ending.FAILED, Ending.CANCELLED)).any():
        columns["end_state"] = np.where(ending > Ending.CANCELLED, Ending.COMPLETED, ending).astype(np.int8)
    for name, coded in records.coded.items():
        if (coded.codes[rows] >= 0).any():
            columns[name] = coded.decoded(rows)
    for name, column in records.more.items():
        if not (count == "processors" and name in _PER_NODE):
            columns |= _present(name, column[rows])
    return columns


def _present(name: str, column: Column) -> dict[str, Column]:
    """Return the column as narrow as it can be, if it says anything: -1, NaN and a request of 0 say nothing."""
    if column.dtype.kind in "Ob":
        return {name: column} if column.any() else {}
    says_nothing = (column == 0) if name in _PER_NODE else (column == MISSING) | (column != column)  # noqa: PLR0124 - NaN
    if says_nothing.all():
        return {}
    return {name: narrow(column) if np.isfinite(column).all() else column}


def _ids(job_id: Column) -> Column:
    return narrow(job_id) if job_id.dtype.kind in "iu" else job_id


def _mark_limits(records: Records) -> None:
    """Keep, as column ``limit_is_run_time``, which jobs the log names no limit for, if it names some."""
    unknown = limits_unknown(records)
    if unknown.any() and not unknown.all():
        records.more["limit_is_run_time"] = unknown
