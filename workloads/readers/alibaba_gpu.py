"""Reads Alibaba's GPU traces: the task table of 2020 ("PAI") and the pod lists of 2023.

Source: alibaba/clusterdata, cluster-trace-gpu-v2020 (CC BY 4.0) and cluster-trace-gpu-v2023.
"""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np

from hpcsim.errors import WorkloadError
from hpcsim.ingest import Mode
from hpcsim.workload import Workload
from hpcsim.workloads.readers.findings import Findings, Rule
from hpcsim.workloads.readers.record_workload import Counted, ReadOptions, workload_of
from hpcsim.workloads.readers.records import Coded, Ending, Records
from hpcsim.workloads.readers.table_profile import TableProfile, read_records
from hpcsim.workloads.readers.tables import column_names

TASK_COLUMNS = (
    *("job_name", "task_name", "inst_num", "status", "start_time", "end_time", "plan_cpu", "plan_mem", "plan_gpu"),
    "gpu_type",
)
JOB_COLUMNS = ("job_name", "inst_id", "user", "status", "start_time", "end_time")
POD_COLUMNS = ("name", "cpu_milli", "memory_mib", "num_gpu", "creation_time", "scheduled_time", "deletion_time")
PERCENT = 0.01
"""plan_cpu and plan_gpu are percent of one core, of one GPU."""

GIB, MIB = 2**30, 2**20

_NOT_OVER = Rule("not-terminated", "refused", "status", "not Terminated: it failed, ran or waited when the trace ended")
_NO_JOB = Rule("job-not-found", "noted", "job_name", "not in the job table: the task's own start is its submit time")
_TASKS = TableProfile(
    name="alibaba-gpu-v2020",
    columns={
        "job_id": "job_name",
        "name": "task_name",
        "nodes": "inst_num",
        "state": "status",
        "start_s": "start_time",
        "end_s": "end_time",
        "cores_per_node": "plan_cpu",
        "memory_bytes_per_node": "plan_mem",
        "gpus_per_node": "plan_gpu",
    },
    factors={"cores_per_node": PERCENT, "gpus_per_node": PERCENT, "memory_bytes_per_node": GIB},
    states={"TERMINATED": Ending.COMPLETED, "FAILED": Ending.FAILED, "RUNNING": Ending.RUNNING},
)
_JOBS = TableProfile(
    name="pai_job_table",
    columns={"job_id": "job_name", "user_id": "user", "submit_s": "start_time"},
)
_PODS = TableProfile(
    name="alibaba-gpu-v2023",
    columns={
        "job_id": "name",
        "submit_s": "creation_time",
        "start_s": "scheduled_time",
        "end_s": "deletion_time",
        "cores_per_node": "cpu_milli",
        "memory_bytes_per_node": "memory_mib",
        "gpus_per_node": "num_gpu",
        "qos": "qos",
        "state": "pod_phase",
    },
    optional=frozenset({"qos", "state"}),
    factors={"cores_per_node": 0.001, "memory_bytes_per_node": MIB},
    states={"SUCCEEDED": Ending.COMPLETED, "FAILED": Ending.FAILED, "PENDING": Ending.WAITING},
)


def read_alibaba_gpu_v2020(
    path: str | os.PathLike[str],
    *,
    mode: Mode = "repair",
    quarantine_path: str | os.PathLike[str] | None = None,
    limit_rows: int | None = None,
    count: Counted = "nodes",
    machine: int | None = None,
    jobs: str | os.PathLike[str] | None = None,
) -> Workload:
    """Read the task table of Alibaba's GPU trace of 2020, ``pai_task_table.csv``, with or without a header.

    A task is a job of as many nodes as it has instances; GPUs are rounded up to whole ones. With the
    job table its jobs' starts are the submit times; without it each task's own start is, and nothing
    has waited. The trace has no limits.

    Args:
        path: the task table, plain or gzipped.
        mode: ``"repair"``, ``"strict"`` or ``"quarantine"``, see `hpcsim.ingest`.
        quarantine_path: where refused rows go; needed in that mode and only there.
        limit_rows: read this many tasks only, refused ones counted.
        count: ``"processors"`` reads each task by its cores.
        machine: size of the machine in what is counted; the cluster has about 1,800 nodes.
        jobs: ``pai_job_table.csv``, for submit times and users.

    Raises:
        WorkloadError: a table cannot be read, is another of the trace's, or (strict) has a fault.
    """
    given = {"jobs": None if jobs is None else str(jobs)}
    options = ReadOptions(
        mode=mode, quarantine_path=quarantine_path, limit_rows=limit_rows, count=count, machine=machine, more=given
    )
    names = _header(Path(path), TASK_COLUMNS)
    records = read_records(Path(path), _TASKS, Findings(), limit_rows=limit_rows, names=names)
    not_over = records.ending != Ending.COMPLETED
    records.refusals.append((_NOT_OVER, not_over, records.coded["recorded_state"].decoded()))
    records.processors = records.nodes * np.maximum(records.more["cores_per_node"], 1)
    if jobs is None:
        records.start_s = np.full(len(records), np.nan)
    else:
        _add_jobs(records, Path(jobs))
    return workload_of(records, Path(path), "alibaba-gpu-v2020", options)


def read_alibaba_gpu_v2023(
    path: str | os.PathLike[str],
    *,
    mode: Mode = "repair",
    quarantine_path: str | os.PathLike[str] | None = None,
    limit_rows: int | None = None,
    count: Counted = "nodes",
    machine: int | None = None,
) -> Workload:
    """Read a pod list of Alibaba's GPU trace of 2023 (``openb_pod_list_*.csv``): a pod is a job on one node.

    Phases are those when the trace was taken; a pod that then ran is over at its deletion time. A share
    of a GPU counts as one. The trace has no limits and no users.

    Args:
        path: the pod list, plain or gzipped.
        mode: ``"repair"``, ``"strict"`` or ``"quarantine"``, see `hpcsim.ingest`.
        quarantine_path: where refused rows go; needed in that mode and only there.
        limit_rows: read this many pods only, refused ones counted.
        count: ``"processors"`` reads each pod by its cores.
        machine: size of the machine in what is counted; the cluster has 1,523 nodes.

    Raises:
        WorkloadError: it cannot be read, or (strict) has a fault.
    """
    options = ReadOptions(
        mode=mode, quarantine_path=quarantine_path, limit_rows=limit_rows, count=count, machine=machine
    )
    records = read_records(Path(path), _PODS, Findings(), limit_rows=limit_rows)
    records.nodes = np.ones(len(records), dtype=np.int64)
    records.processors = np.maximum(records.more["cores_per_node"], 1)
    states = records.coded.get("recorded_state")
    if states is not None:  # how a pod ended that ran when the trace was taken is not known
        records.coded["recorded_state"] = Coded.of([None if s == "Running" else s for s in states.decoded()])
    return workload_of(records, Path(path), "alibaba-gpu-v2023", options)


def _header(path: Path, names: tuple[str, ...]) -> tuple[str, ...] | None:
    """Return the column names of a table without a header, None where it has one; refuse another table's."""
    first = column_names(path)
    if first and first[0] == names[0]:
        return None
    if len(first) != len(names):
        cause = f"{path} has {len(first)} columns, and {names[0]}, {names[1]}, ... are {len(names)}."
        raise WorkloadError(cause, "Give pai_task_table.csv, and jobs=pai_job_table.csv.", path=str(path), line=1)
    return names


def _add_jobs(records: Records, path: Path) -> None:
    """Set submit times and users by the job table."""
    table = read_records(path, _JOBS, Findings(), names=_header(path, JOB_COLUMNS))
    starts = dict(zip(table.job_id.tolist(), table.submit_s.tolist(), strict=True))
    users = dict(zip(table.job_id.tolist(), table.coded["user_id"].decoded().tolist(), strict=True))
    found = np.array([starts.get(job_id, np.nan) for job_id in records.job_id.tolist()], dtype=np.float64)
    is_missing = np.isnan(found)
    records.changes.append((_NO_JOB, is_missing, records.job_id, "kept"))
    records.submit_s = np.where(is_missing, records.submit_s, found)
    records.coded["user_id"] = Coded.of([users.get(job_id) for job_id in records.job_id.tolist()])
