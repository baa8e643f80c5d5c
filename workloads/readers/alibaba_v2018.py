"""Reads Alibaba's batch tasks of 2018: ``batch_task.csv``, without a header, dependencies in the task names.

Source: alibaba/clusterdata, cluster-trace-v2018/schema.txt.
"""

from __future__ import annotations

import math
import os
import re
from pathlib import Path
from typing import Literal

import numpy as np

from hpcsim.errors import WorkloadError
from hpcsim.ingest import Mode
from hpcsim.workload import Workload
from hpcsim.workloads.readers.alibaba_dag import levels, parse_name
from hpcsim.workloads.readers.byte_columns import decode
from hpcsim.workloads.readers.findings import Findings, Rule
from hpcsim.workloads.readers.log_blocks import numbered_lines
from hpcsim.workloads.readers.options import check_choice
from hpcsim.workloads.readers.record_rows import RecordRows
from hpcsim.workloads.readers.record_workload import Counted, ReadOptions, workload_of
from hpcsim.workloads.readers.records import Ending, Records

PERCENT_OF_CORE = 100
"""plan_cpu of one core."""

TERMINATED = "Terminated"
"""The only status that means success."""

FIELDS = 9
TASK = re.compile(rb"[^,]+,\d*,[^,]+,[^,]*,[A-Z][a-z]+,-?\d*,-?\d*,[\d.]*,[\d.]*")
INSTANCE = re.compile(rb"(?:[^,]*,){4}[A-Z][a-z]+,-?\d*,-?\d*,[^,]*,\d*,\d*(?:,[\d.]*){4}")

_TITLES = {"start_s": "start_time", "end_s": "end_time", "nodes": "plan_cpu", "limit_s": "none"}
_NO_TASK = Rule("no-record", "refused", "line", f"no task: {FIELDS} fields, comma-separated")
_NOT_OVER = Rule("not-terminated", "refused", "status", "not Terminated: it failed, ran or waited when the trace ended")
_PARTLY = Rule("job-not-terminated", "refused", "status", "a task of the job is not Terminated")
_WHOLE = re.compile(r"\d{1,9}", re.ASCII)
_NUMBER = re.compile(r"\d{1,12}(?:\.\d{1,9})?", re.ASCII)


class _Task:
    """One line of the table."""

    __slots__ = ("cores", "end_s", "instances", "job", "line", "name", "start_s", "status")

    def __init__(self, line: int, fields: list[str]) -> None:
        self.line = line
        self.name, self.job, self.status = fields[0], fields[2], fields[4]
        self.instances = int(fields[1]) if _WHOLE.fullmatch(fields[1]) else 0
        self.start_s, self.end_s = _number(fields[5]), _number(fields[6]) or math.nan
        self.cores = _number(fields[7]) / PERCENT_OF_CORE

    @property
    def processors(self) -> int:
        """Whole processors of all instances; 0 where the plan is missing."""
        total = self.instances * self.cores
        return 0 if math.isnan(total) else math.ceil(min(total, 2.0**40))


def read_alibaba_v2018(
    path: str | os.PathLike[str],
    *,
    mode: Mode = "repair",
    quarantine_path: str | os.PathLike[str] | None = None,
    limit_rows: int | None = None,
    count: Counted = "processors",
    machine: int | None = None,
    per: Literal["task", "job"] = "task",
    dependencies: bool = False,
) -> Workload:
    """Read Alibaba's batch_task.csv of 2018, plain or gzipped.

    The trace has no submit times: a job's is the start of its first task, so that nothing has waited.
    It has no limits either. Processors are instances times plan_cpu / 100, rounded up; memory, given as
    a share of an undisclosed machine, is not read.

    Args:
        path: the table.
        mode: ``"repair"``, ``"strict"`` or ``"quarantine"``, see `hpcsim.ingest`.
        quarantine_path: where refused rows go; needed in that mode and only there.
        limit_rows: read this many tasks only, refused ones counted.
        count: ``"nodes"`` makes each instance a node.
        machine: size of the machine in what is counted.
        per: ``"task"`` makes a job of each task, ``"job"`` one of all its tasks, as wide as the widest
            level of its graph.
        dependencies: with tasks, also give column ``after``: the tasks that must end first.

    Raises:
        WorkloadError: it cannot be read, is another of the trace's tables, or (strict) has a fault.
    """
    check_choice("per", per, ("task", "job"))
    options = ReadOptions(
        mode=mode,
        quarantine_path=quarantine_path,
        limit_rows=limit_rows,
        count=count,
        machine=machine,
        more={"per": per, "dependencies": dependencies},
    )
    findings = Findings()
    tasks = _tasks(Path(path), findings, limit_rows)
    records = _by_task(tasks, findings, dependencies) if per == "task" else _by_job(tasks, findings)
    return workload_of(records, Path(path), "alibaba-v2018", options)


def _tasks(path: Path, findings: Findings, limit_rows: int | None) -> list[_Task]:
    tasks: list[_Task] = []
    for number, line in numbered_lines(path):
        if limit_rows is not None and len(tasks) >= limit_rows:
            break
        if not line.strip():
            continue
        fields = decode(line).split(",")
        if len(fields) == FIELDS and fields[0] and fields[2]:
            tasks.append(_Task(number, fields))
        elif not tasks and INSTANCE.fullmatch(line):
            cause = f"{path} is the trace's table of instances."
            raise WorkloadError(cause, "Give its table of tasks, batch_task.csv.", path=str(path), line=number)
        else:
            findings.add(_NO_TASK, number, f"{len(fields)} fields", "no job")
    return tasks


def _by_task(tasks: list[_Task], findings: Findings, dependencies: bool) -> Records:
    """Return a record a task, in the file's order."""
    first: dict[str, float] = {}
    names: dict[tuple[str, int], str] = {}
    for task in tasks:
        first[task.job] = min(first.get(task.job, math.inf), task.start_s if task.start_s >= 0 else math.inf)
        own = parse_name(task.name)
        if own is not None:
            names[task.job, own[0]] = task.name
    rows = RecordRows()
    for task in tasks:
        _add(rows, task, f"{task.job}/{task.name}", task.status, first[task.job], task.end_s - task.start_s)
    records = _finished(rows, findings, [task.status for task in tasks], _NOT_OVER)
    if dependencies:
        after = np.empty(len(tasks), dtype=object)
        for row, task in enumerate(tasks):
            _, needs = parse_name(task.name) or (0, ())
            after[row] = tuple(f"{task.job}/{names[task.job, need]}" for need in needs if (task.job, need) in names)
        records.more["after"] = after
    return records


def _by_job(tasks: list[_Task], findings: Findings) -> Records:
    """Return a record a job, at the line of its first task."""
    jobs: dict[str, list[_Task]] = {}
    for task in tasks:
        jobs.setdefault(task.job, []).append(task)
    rows, statuses = RecordRows(), list[str]()
    for job, parts in jobs.items():
        width: dict[int, int] = {}
        for task, level in zip(parts, levels([task.name for task in parts]), strict=True):
            width[level] = width.get(level, 0) + task.processors
        first = min(task.start_s for task in parts)
        last = max(task.end_s for task in parts)
        statuses.append(next((task.status for task in parts if task.status != TERMINATED), TERMINATED))
        processors = max(width.values()) if all(task.processors for task in parts) else 0
        _add(rows, parts[0], job, statuses[-1], first, last - first, processors=processors)
    return _finished(rows, findings, statuses, _PARTLY)


def _add(rows: RecordRows, task: _Task, job_id: str, status: str, submit_s: float, run_s: float, **sizes: int) -> None:
    """Add one job. Its start is not known: the trace does not say when it was submitted."""
    sizes = {"nodes": task.instances, "processors": task.processors} | sizes
    rows.add(
        task.line,
        job_id,
        Ending.COMPLETED if status == TERMINATED else Ending.UNKNOWN,
        submit_s=submit_s,
        run_s=run_s,
        cores_per_node=None if math.isnan(task.cores) else task.cores,
        name=task.name,
        **sizes,
    )


def _finished(rows: RecordRows, findings: Findings, statuses: list[str], rule: Rule) -> Records:
    records = rows.records(findings, _TITLES)
    shown = np.array(statuses, dtype=object)
    records.refusals.append((rule, np.array([status != TERMINATED for status in statuses], dtype=bool), shown))
    return records


def _number(text: str) -> float:
    """Return a number, NaN where there is none."""
    return float(text) if _NUMBER.fullmatch(text.strip()) else math.nan
