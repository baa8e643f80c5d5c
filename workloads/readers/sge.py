"""Reads the ``accounting`` file of Grid Engine (SGE, UGE, OGS): one task a line, colons between fields.

Source: accounting(5). Tightly integrated parallel jobs have a line for each host; they are one job.
"""

from __future__ import annotations

import math
import os
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from hpcsim.ingest import Mode
from hpcsim.workload import Workload
from hpcsim.workloads.readers.byte_columns import decode
from hpcsim.workloads.readers.findings import Findings, Rule
from hpcsim.workloads.readers.log_blocks import numbered_lines
from hpcsim.workloads.readers.quantities_text import duration_s
from hpcsim.workloads.readers.record_rows import RecordRows
from hpcsim.workloads.readers.record_workload import Counted, ReadOptions, workload_of
from hpcsim.workloads.readers.records import Ending

FIELDS = 45
NEEDED = 36
"""A line must reach the task number: without it there is no telling what the job was."""

MILLISECONDS_FROM = 10**11
"""A time from here on counts milliseconds, as newer releases of Univa's do; in seconds it were the year 5138."""

_NAME, _CATEGORY = 4, 39
_NUMERIC = (5, 8, 9, 10, 11, 12)
_TITLES = {"submit_s": "submission_time", "start_s": "start_time", "end_s": "end_time", "limit_s": "h_rt"}
_TITLES["nodes"] = "slots"
_TOO_SHORT = Rule("too-few-fields", "refused", "line", f"fewer than {NEEDED} fields: the line was cut, or is no record")
_TOO_LONG = Rule("too-many-fields", "refused", "line", "more fields than a record; no telling which text holds colons")
_PART = Rule("parallel-tasks", "noted", "pe_taskid", "lines of a parallel job's single hosts: counted with the job")
_MILLI = Rule("milliseconds", "noted", "submission_time", "times in milliseconds")
_LIMIT = re.compile(r"(?:^|[ ,])[hs]_rt=([\d:.]+|INFINITY)", re.ASCII)
_INTEGER = re.compile(r"-?\d{1,18}", re.ASCII)


@dataclass(slots=True)
class _Hosts:
    """The hosts that lines of one job name."""

    names: set[str] = field(default_factory=set)
    lines: int = 0


def read_sge(
    path: str | os.PathLike[str],
    *,
    mode: Mode = "repair",
    quarantine_path: str | os.PathLike[str] | None = None,
    limit_rows: int | None = None,
    count: Counted = "processors",
    machine: int | None = None,
) -> Workload:
    """Read Grid Engine's ``accounting`` file, plain or gzipped, by slots: it does not say how many hosts a job held.

    Times are epoch seconds, milliseconds where the file has those. The limit is the request's ``h_rt``,
    else ``s_rt``.

    Args:
        path: the file.
        mode: ``"repair"``, ``"strict"`` or ``"quarantine"``, see `hpcsim.ingest`.
        quarantine_path: where refused rows go; needed in that mode and only there.
        limit_rows: read this many lines only, refused ones counted.
        count: ``"nodes"`` counts the distinct hosts that lines of a job name: right only where all
            parallel jobs are tightly integrated.
        machine: size of the machine in slots (or nodes), where you want it kept with the workload.

    Raises:
        WorkloadError: it cannot be read, is no such file, or (strict) has a fault.
    """
    options = ReadOptions(
        mode=mode, quarantine_path=quarantine_path, limit_rows=limit_rows, count=count, machine=machine
    )
    findings = Findings()
    lines = _records(Path(path), findings, limit_rows)
    hosts: dict[tuple[str, str, str], _Hosts] = {}
    for _, fields in lines:
        seen = hosts.setdefault(_job_key(fields), _Hosts())
        seen.names.add(fields[1])
        seen.lines += _is_part(fields)
    whole = {_job_key(fields) for _, fields in lines if not _is_part(fields)}
    rows, parts, milli = RecordRows(), list[int](), list[int]()
    for number, fields in lines:
        if _is_part(fields) and _job_key(fields) in whole:
            parts.append(number)
        else:
            _add(rows, number, fields, len(hosts[_job_key(fields)].names), milli)
    records = rows.records(findings, _TITLES)
    records.totals += [(_PART, len(parts), parts[0], "a task")] if parts else []
    records.totals += [(_MILLI, len(milli), milli[0], "ms")] if milli else []
    return workload_of(records, Path(path), "sge", options)


def _records(path: Path, findings: Findings, limit_rows: int | None) -> list[tuple[int, list[str]]]:
    records: list[tuple[int, list[str]]] = []
    for number, line in numbered_lines(path):
        if limit_rows is not None and len(records) >= limit_rows:
            break
        if not line.strip() or line.startswith(b"#"):
            continue
        fields = _whole_record(decode(line).split(":"))
        if fields is None or len(fields) < NEEDED or not _is_plausible(fields):
            rule = _TOO_LONG if fields is None else _TOO_SHORT
            findings.add(rule, number, f"{line.count(b':') + 1} fields", "no job")
        else:
            records.append((number, fields))
    return records


def _whole_record(fields: list[str]) -> list[str] | None:
    """Return the fields of one line with colons within the job's name or category put back; None if neither fits."""
    extra = len(fields) - FIELDS
    if extra <= 0 or _is_plausible(fields):
        return fields
    name = ":".join(fields[_NAME : _NAME + extra + 1])
    candidate = [*fields[:_NAME], name, *fields[_NAME + extra + 1 :]]
    return candidate if _is_plausible(candidate) else None


def _is_plausible(fields: Sequence[str]) -> bool:
    return len(fields) >= NEEDED and all(_INTEGER.fullmatch(fields[place]) for place in (*_NUMERIC, 34, 35))


def _job_key(fields: Sequence[str]) -> tuple[str, str, str]:
    return fields[5], fields[35], fields[8]


def _is_part(fields: Sequence[str]) -> bool:
    """Tell whether a line is one host's share of a parallel job."""
    return len(fields) > 41 and fields[41] not in {"", "NONE", "none"}


def _add(rows: RecordRows, line: int, fields: Sequence[str], hosts: int, milli: list[int]) -> None:
    times = [int(fields[place]) for place in (8, 9, 10)]
    if max(times) >= MILLISECONDS_FROM:
        milli.append(line)
        times = [time / 1000 for time in times]  # type: ignore[misc]
    submit_s, start_s, end_s = (float(time) if time > 0 else None for time in times)
    failed = fields[11] != "0" or fields[12] != "0"
    status = int(fields[12])
    task = int(fields[35])
    slots = max(0, int(fields[34]))
    rows.add(
        line,
        f"{fields[5]}.{task}" if task else int(fields[5]),
        (Ending.FAILED if failed else Ending.COMPLETED) if start_s is not None else Ending.CANCELLED,
        submit_s=submit_s,
        start_s=start_s,
        end_s=end_s if start_s is not None else None,
        limit_s=_limit(fields[_CATEGORY] if len(fields) > _CATEGORY else ""),
        nodes=hosts,
        processors=slots,
        cores_per_node=slots / max(hosts, 1),
        user_id=fields[3],
        group_id=fields[2],
        account=None if fields[31] == "NONE" else fields[31],
        partitions=(fields[0],) if fields[0] else None,
        name=fields[_NAME],
        recorded_exit_status=status if abs(status) < 2**31 else None,
    )


def _limit(category: str) -> float | None:
    """Return seconds of ``h_rt`` (else ``s_rt``) in a request; infinite where it says so."""
    matches = {match[0].strip(" ,")[0]: match[1] for match in _LIMIT.finditer(category)}
    text = matches.get("h", matches.get("s"))
    if text is None:
        return None
    if text == "INFINITY":
        return math.inf
    return duration_s(text) if ":" in text else float(text) if re.fullmatch(r"\d{1,12}(?:\.\d+)?", text) else None
