"""Reads IBM Spectrum LSF's ``lsb.acct``: one event a line, blank-separated, texts in double quotes.

Source: lsb.acct(5). A job is a ``JOB_FINISH`` event. Newer releases add fields at the end, which are
not read.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path

from hpcsim.ingest import Mode
from hpcsim.workload import Workload
from hpcsim.workloads.readers.byte_columns import decode
from hpcsim.workloads.readers.findings import Findings, Rule
from hpcsim.workloads.readers.log_blocks import numbered_lines
from hpcsim.workloads.readers.quantities_text import HOUR_S, MINUTE_S
from hpcsim.workloads.readers.record_rows import RecordRows
from hpcsim.workloads.readers.record_workload import Counted, ReadOptions, workload_of
from hpcsim.workloads.readers.records import Ending
from hpcsim.workloads.swf_fields import LARGEST

FINISH = b'"JOB_FINISH"'
DONE = 64
"""jStatus of a job that ended by itself with exit status 0."""

_TITLES = {"submit_s": "submitTime", "start_s": "startTime", "end_s": "event time", "nodes": "execHosts"}
_TITLES["limit_s"] = "-W"
_NO_EVENT = Rule("no-record", "refused", "line", "no JOB_FINISH event with all the fields that a job needs")
_OTHER = Rule("other-records", "noted", "event type", "events of other kinds than a job's end: passed over")
_TOKEN = re.compile(r'"((?:[^"]|"")*)"|(\S+)')
_LIMIT = re.compile(r"-W\s+(?:(\d{1,7}):)?(\d{1,9})", re.ASCII)
_HOSTS = re.compile(r"(?:(\d{1,9})\*)?(.+)", re.ASCII)
_BEFORE_HOSTS = 22
_USAGE_FIELDS = 19
_LINES_OF_ONE = 1000


def read_lsf(
    path: str | os.PathLike[str],
    *,
    mode: Mode = "repair",
    quarantine_path: str | os.PathLike[str] | None = None,
    limit_rows: int | None = None,
    count: Counted = "nodes",
    machine: int | None = None,
) -> Workload:
    """Read LSF's accounting file ``lsb.acct``, plain or gzipped.

    Times are epoch seconds. Nodes are the distinct execution hosts, processors the slots on them. The
    run limit is the ``-W`` of the submitted command, where it stands there.

    Args:
        path: the file.
        mode: ``"repair"``, ``"strict"`` or ``"quarantine"``, see `hpcsim.ingest`.
        quarantine_path: where refused rows go; needed in that mode and only there.
        limit_rows: read this many jobs only, refused ones counted.
        count: ``"processors"`` reads each job by its slots, for machines whose hosts jobs share.
        machine: size of the machine in nodes (or processors), where you want it kept with the workload.

    Raises:
        WorkloadError: it cannot be read, is no such file, or (strict) has a fault.
    """
    options = ReadOptions(
        mode=mode, quarantine_path=quarantine_path, limit_rows=limit_rows, count=count, machine=machine
    )
    rows, findings, others, first_other = RecordRows(), Findings(), 0, 0
    for number, event in _events(Path(path)):
        if limit_rows is not None and len(rows) >= limit_rows:
            break
        if event.startswith('"JOB_FINISH"'):
            if not _add(rows, [quoted.replace('""', '"') or plain for quoted, plain in _TOKEN.findall(event)], number):
                findings.add(_NO_EVENT, number, event[:40], "no job")
        elif event.startswith('"'):
            others, first_other = others + 1, first_other or number
        elif event.strip() and not event.startswith("#"):
            findings.add(_NO_EVENT, number, event[:40], "no job")
    records = rows.records(findings, _TITLES)
    if others:
        records.totals.append((_OTHER, others, first_other, "an event"))
    return workload_of(records, Path(path), "lsf", options)


def _events(path: Path) -> Iterator[tuple[int, str]]:
    """Yield events with their first lines; one goes on as long as a quote is open."""
    first, parts, is_open = 0, list[str](), False
    for number, line in numbered_lines(path):
        text = decode(line)
        if is_open and line.startswith(FINISH):
            yield first, "\n".join(parts)  # the quote was never closed
            parts, is_open = [], False
        if not is_open:
            first = number
        parts.append(text)
        is_open ^= text.count('"') % 2 == 1
        if not is_open or len(parts) > _LINES_OF_ONE:
            yield first, "\n".join(parts)
            parts, is_open = [], False
    if parts:
        yield first, "\n".join(parts)


def _add(rows: RecordRows, tokens: list[str], line: int) -> bool:
    """Add the job of one event; tell whether its fields could be read."""
    try:
        asked = int(tokens[_BEFORE_HOSTS])
        place = _BEFORE_HOSTS + 1 + asked
        used = int(tokens[place])
        hosts, after = tokens[place + 1 : place + 1 + used], place + 1 + used
        end_s, submit_s, start_s = (float(int(tokens[index])) for index in (2, 7, 10))
        job_id, processors, status = int(tokens[3]), int(tokens[6]), int(tokens[after])
        name, command = tokens[after + 2], tokens[after + 3]
    except (IndexError, ValueError, OverflowError):
        return False
    if asked < 0 or used < 0 or abs(job_id) > LARGEST:
        return False
    later = tokens[after + 4 + _USAGE_FIELDS :]
    nodes, slots = _count_hosts(hosts)
    index = int(later[6]) if len(later) > 6 and re.fullmatch(r"\d{1,9}", later[6], re.ASCII) else 0
    ended = Ending.COMPLETED if status == DONE else Ending.FAILED
    rows.add(
        line,
        f"{job_id}[{index}]" if index else job_id,
        ended if start_s > 0 else Ending.CANCELLED,
        submit_s=submit_s,
        start_s=start_s if start_s > 0 else None,
        end_s=end_s if start_s > 0 else None,
        limit_s=_limit(command),
        nodes=nodes,
        processors=slots or processors,
        cores_per_node=(slots or processors) / max(nodes, 1),
        user_id=tokens[11],
        account=later[1] if len(later) > 1 else None,
        partitions=(tokens[12],) if tokens[12] else None,
        name=name,
        recorded_exit_status=_whole(later[2]) if len(later) > 2 else None,
    )
    return True


def _count_hosts(names: list[str]) -> tuple[int, int]:
    """Return distinct hosts and slots of ``16*host1 host2 host2``."""
    hosts, slots = set(), 0
    for name in names:
        match = _HOSTS.fullmatch(name)
        if match:
            hosts.add(match[2])
            slots += int(match[1] or 1)
    return len(hosts), slots


def _limit(command: str) -> float | None:
    """Return seconds of ``-W [hours:]minutes`` in the text of a submission."""
    match = _LIMIT.search(command)
    return None if match is None else float(int(match[1] or 0) * HOUR_S + int(match[2]) * MINUTE_S)


def _whole(text: str) -> int | None:
    return int(text) if re.fullmatch(r"-?\d{1,9}", text, re.ASCII) else None
