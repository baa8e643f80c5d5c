"""Reads the accounting logs of OpenPBS, PBS Professional and Torque: files named by their day, one event a line.

Source: the accounting chapters of the PBS Professional administrator's guide and of Torque's; logs of
several sites. A job is an ``E`` record; jobs that the log leaves waiting, running or deleted in the
queue are refused, so that they are counted.
"""

from __future__ import annotations

import math
import os
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from hpcsim.ingest import Mode
from hpcsim.workload import Workload
from hpcsim.workloads.readers.byte_columns import clock_seconds, decode
from hpcsim.workloads.readers.findings import Findings, Rule
from hpcsim.workloads.readers.log_blocks import numbered_lines
from hpcsim.workloads.readers.options import check_choice
from hpcsim.workloads.readers.pbs_values import allocation, attributes
from hpcsim.workloads.readers.quantities_text import duration_s, memory_bytes
from hpcsim.workloads.readers.record_rows import RecordRows
from hpcsim.workloads.readers.record_workload import Counted, ReadOptions, workload_of
from hpcsim.workloads.readers.records import Ending

LINE = re.compile(rb"(\d\d)/(\d\d)/(\d{4}) (\d\d:\d\d:\d\d);([A-Za-z]{1,2});([^;]*);?(.*)", re.DOTALL)
SIGNALLED = 256
"""An exit status from here on is a signal's number more."""

_TITLES = {
    "submit_s": "qtime",
    "start_s": "start",
    "end_s": "end",
    "limit_s": "Resource_List.walltime",
    "nodes": "exec_host",
}
_NO_RECORD = Rule("no-record", "refused", "line", "no accounting record: date;type;id;message")
_OTHER = Rule("other-records", "noted", "type", "records of other events than a job's end: passed over")
_RERUN = Rule("rerun-job", "noted", "id", "another run of a job that stands above, kept as a job of its own")
_NUMBER = re.compile(r"(\d{1,15})(?:\.\S*)?", re.ASCII)
_EPOCH = re.compile(r"\d{1,12}", re.ASCII)
_SEEN = {"Q": Ending.WAITING, "S": Ending.RUNNING, "D": Ending.CANCELLED, "A": Ending.CANCELLED}


@dataclass(slots=True)
class _Open:
    """A job whose end has not been seen: where it was last heard of, and when."""

    line: int
    ending: Ending
    submit_s: float
    start_s: float = math.nan


@dataclass(slots=True)
class _Log:
    rows: RecordRows = field(default_factory=RecordRows)
    findings: Findings = field(default_factory=Findings)
    open_jobs: dict[str, _Open] = field(default_factory=dict)
    ended: set[str] = field(default_factory=set)
    rerun_lines: list[int] = field(default_factory=list)
    others: int = 0
    first_other: int = 0


def read_pbs(
    path: str | os.PathLike[str],
    *,
    mode: Mode = "repair",
    quarantine_path: str | os.PathLike[str] | None = None,
    limit_rows: int | None = None,
    count: Counted = "nodes",
    machine: int | None = None,
    submit: Literal["submit", "eligible"] = "submit",
) -> Workload:
    """Read a PBS, PBS Professional or Torque accounting log, plain or gzipped; days may be put together.

    A job's times are its record's own epoch seconds: qtime (else ctime) to start is its wait, start to
    end its run time. Nodes and processors are those of exec_host, else exec_vnode, else the request;
    GPUs, memory and walltime are the request's. The queue is the partition.

    Args:
        path: the log.
        mode: ``"repair"``, ``"strict"`` or ``"quarantine"``, see `hpcsim.ingest`.
        quarantine_path: where refused rows go; needed in that mode and only there.
        limit_rows: read this many ended jobs only, refused ones counted.
        count: ``"processors"`` reads each job by its processors, for machines whose nodes jobs share.
        machine: size of the machine in nodes (or processors), where you want it kept with the workload.
        submit: ``"eligible"`` takes etime, the end of holds and dependencies, for the submit time.

    Raises:
        WorkloadError: it cannot be read, is no such log, or (strict) has a fault.
    """
    check_choice("submit", submit, ("submit", "eligible"))
    options = ReadOptions(
        mode=mode,
        quarantine_path=quarantine_path,
        limit_rows=limit_rows,
        count=count,
        machine=machine,
        more={"submit": submit},
    )
    log = _Log()
    for number, line in numbered_lines(Path(path)):
        if limit_rows is not None and len(log.rows) >= limit_rows:
            break
        if line.strip() and not line.startswith(b"#"):
            _take(log, line, number, submit)
    for job_id, left in log.open_jobs.items():
        log.rows.add(left.line, _job_id(job_id), left.ending, submit_s=left.submit_s, start_s=left.start_s)
    records = log.rows.records(log.findings, _TITLES)
    if log.others:
        records.totals.append((_OTHER, log.others, log.first_other, "an event"))
    if log.rerun_lines:
        records.totals.append((_RERUN, len(log.rerun_lines), log.rerun_lines[0], "a run"))
    return workload_of(records, Path(path), "pbs", options)


def _take(log: _Log, line: bytes, number: int, submit: str) -> None:
    match = LINE.fullmatch(line)
    if match is None:
        log.findings.add(_NO_RECORD, number, line[:40].decode("ascii", "backslashreplace"), "no job")
        return
    kind, job_id = match[5].decode(), decode(match[6])
    if kind == "E":
        _end(log, job_id, attributes(decode(match[7])), number, submit)
        return
    log.others += 1
    log.first_other = log.first_other or number
    if kind in _SEEN and job_id not in log.ended:
        stamp = clock_seconds(f"{match[3].decode()}-{match[1].decode()}-{match[2].decode()} {match[4].decode()}")
        seen = log.open_jobs.setdefault(job_id, _Open(number, Ending.WAITING, stamp))
        seen.line, seen.ending = number, _SEEN[kind]
        if kind == "S":
            seen.start_s = stamp


def _end(log: _Log, job_id: str, found: dict[str, str], number: int, submit: str) -> None:
    log.open_jobs.pop(job_id, None)
    if job_id in log.ended:
        log.rerun_lines.append(number)
    log.ended.add(job_id)
    queued = _epoch(found.get("qtime")) or _epoch(found.get("ctime"))
    eligible = _epoch(found.get("etime")) if submit == "eligible" else None
    held = allocation(found)
    nodes = max(held.nodes, 1)
    memory = memory_bytes(found.get("Resource_List.mem", ""), unit="")
    status = _status(found.get("Exit_status", ""))
    project = found.get("project", "").strip('"')
    log.rows.add(
        number,
        _job_id(job_id),
        _ending(status),
        submit_s=eligible or queued,
        start_s=_epoch(found.get("start")),
        end_s=_epoch(found.get("end")),
        limit_s=duration_s(found.get("Resource_List.walltime", "")),
        nodes=held.nodes,
        processors=held.processors,
        cores_per_node=held.processors / nodes,
        gpus_per_node=held.gpus / nodes,
        memory_bytes_per_node=None if memory is None else memory / nodes,
        user_id=found.get("user"),
        group_id=found.get("group"),
        account=found.get("account", "").strip('"') or (None if project.startswith("_pbs_project") else project),
        partitions=(found["queue"],) if found.get("queue") else None,
        name=found.get("jobname", "").strip('"'),
        recorded_exit_status=status,
    )


def _epoch(text: str | None) -> float | None:
    """Return epoch seconds; 0 and what is no number are not known."""
    return float(text) or None if text and _EPOCH.fullmatch(text) else None


def _status(text: str) -> int | None:
    return int(text) if re.fullmatch(r"-?\d{1,9}", text, re.ASCII) else None


def _ending(status: int | None) -> Ending:
    """Return how a job ended: killed by a signal is cancelled, any other status but 0 failed."""
    if status is None:
        return Ending.UNKNOWN
    if status >= SIGNALLED:
        return Ending.CANCELLED
    return Ending.COMPLETED if status == 0 else Ending.FAILED


def _job_id(text: str) -> int | str:
    """Return the number of ``123.server``, the text ``123[7]`` of an array's element."""
    match = _NUMBER.fullmatch(text)
    return int(match[1]) if match else text.partition(".")[0]
