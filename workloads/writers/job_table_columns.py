"""The columns of PM100's and Adastra's job tables, from those of a generated workload."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hpcsim.workloads.models.synth_presets import PM100, Machine
from hpcsim.workloads.writers.power_series import (
    CPU_W,
    MEMORY_W,
    STEP_S,
    WITHOUT_PARTS,
    Lists,
    node_series,
    part_series,
)

Columns = dict[str, NDArray[Any]]

GB, MB = 10**9, 10**6
LOCAL_S = 7200
"""Adastra's table is in French summer time, without saying so."""

CPU_NODE_W, MEMORY_NODE_W = 140.0, 74.26
"""Adastra's table has these constants for processors and memory, times node-seconds."""

FIRST_GROUP = 25_200
NUM_TASKS, REQ_NODES, THREADS = 221_781 / 231_238, 26_296 / 231_238, 904 / 231_238
"""Shares of PM100's rows that have a value in columns ``num_tasks``, ``req_nodes``, ``threads_per_core``."""

REASONS = {
    "COMPLETED": ("None", "0:0"),
    "FAILED": ("NonZeroExitCode", "1:0"),
    "CANCELLED": ("None", "0:15"),
    "TIMEOUT": ("TimeLimit", "0:0"),
    "OUT_OF_MEMORY": ("OutOfMemory", "0:125"),
    "NODE_FAIL": ("NodeFail", "1:0"),
}
"""State -> Slurm's reason and ``code:signal``."""


def table_columns(machine: Machine, jobs: Columns, held: list[list[int]], rng: np.random.Generator) -> Any:
    """Return some rows of the table as Arrow; *held* are the node ids of each, *rng* draws what nothing depends on."""
    import pyarrow as pa

    is_pm100 = machine is PM100
    columns: dict[str, Any] = _times(machine, jobs, is_pm100)
    columns |= _outcome(jobs) | _identity(jobs, rng) | _resources(jobs, GB if is_pm100 else MB)
    columns |= _sparse(jobs, held, rng, is_pm100) | _placement(jobs, held)
    columns |= _series(jobs, rng) if is_pm100 else _energies(machine, jobs)
    columns = {name: pa.array(values) if isinstance(values, np.ndarray) else values for name, values in columns.items()}
    return pa.table({name: columns[name] for name in ORDER})


ORDER = (
    *("job_id", "submit_time", "eligible_time", "start_time", "end_time", "run_time", "time_limit", "job_state"),
    *("state_reason", "derived_ec", "user_id", "group_id", "partition", "qos", "priority", "shared"),
    *("num_nodes_req", "num_nodes_alloc", "num_cores_req", "num_cores_alloc", "cores_per_task", "num_tasks"),
    *("threads_per_core", "num_gpus_req", "num_gpus_alloc", "mem_req", "mem_alloc", "req_nodes", "nodes"),
    *("cores_allocated", "cores_alloc_layout", "req_switch"),
    *("node_power_consumption", "cpu_power_consumption", "mem_power_consumption"),
)
"""The columns as the table has them."""


def _times(machine: Machine, jobs: Columns, is_pm100: bool) -> dict[str, Any]:
    """Return submits, starts and ends, and what stands in the column of the limit: minutes, or for Adastra an epoch."""
    import pyarrow as pa

    end_s = jobs["start_s"] + jobs["recorded_run_s"]
    epoch_s = machine.unix_start_s + (0 if is_pm100 else LOCAL_S)
    kind = pa.timestamp("us", tz="UTC" if is_pm100 else None)
    times = {"submit_time": jobs["submit_s"], "eligible_time": jobs["submit_s"], "start_time": jobs["start_s"]}
    result: dict[str, Any] = {
        name: pa.array((column + epoch_s) * 1_000_000).cast(kind)
        for name, column in (times | {"end_time": end_s}).items()
    }
    limit = jobs["limit_s"] // 60 if is_pm100 else machine.unix_start_s + jobs["submit_s"]
    return result | {"run_time": jobs["recorded_run_s"], "time_limit": limit}


def _outcome(jobs: Columns) -> dict[str, Any]:
    import pyarrow as pa

    states = jobs["recorded_state"].tolist()
    return {
        "job_state": pa.array(states, pa.string()),
        "state_reason": pa.array([REASONS[state][0] for state in states], pa.string()),
        "derived_ec": pa.array([REASONS[state][1] for state in states], pa.string()),
    }


def _identity(jobs: Columns, rng: np.random.Generator) -> dict[str, Any]:
    import pyarrow as pa

    count = len(jobs["job_id"])
    partition = np.where(jobs["limit_s"] <= 7200, "0", np.where(jobs["nodes"] > 16, "2", "1"))
    return {
        "job_id": jobs["job_id"].astype(np.int64),
        "user_id": jobs["user_id"].astype(np.int64),
        "group_id": jobs["group_id"].astype(np.int64) + FIRST_GROUP,
        "partition": pa.array(partition.tolist(), pa.string()),
        "qos": pa.array(["normal"] * count, pa.string()),
        "priority": rng.integers(1_000, 200_000, count),
        "shared": pa.array(["OK"] * count, pa.string()),
        "req_switch": np.zeros(count, dtype=np.int64),
    }


def _resources(jobs: Columns, memory_unit: int) -> dict[str, Any]:
    nodes = jobs["nodes"].astype(np.int64)
    return {
        "num_nodes_req": nodes,
        "num_nodes_alloc": nodes,
        "num_cores_req": jobs["cores_requested"].astype(np.int64),
        "num_cores_alloc": jobs["cores_allocated"].astype(np.int64),
        "cores_per_task": (jobs["cores_requested"] // jobs["tasks"]).astype(np.int64),
        "num_gpus_req": jobs["gpus_requested"].astype(np.int64),
        "num_gpus_alloc": jobs["gpus_allocated"].astype(np.int64),
        "mem_req": np.maximum(1, jobs["memory_requested_bytes"] // memory_unit).astype(np.int64),
        "mem_alloc": np.maximum(1, jobs["memory_allocated_bytes"] // memory_unit).astype(np.int64),
    }


def _sparse(jobs: Columns, held: list[list[int]], rng: np.random.Generator, is_pm100: bool) -> dict[str, Any]:
    """Return the columns that are empty in some or most rows."""
    import pyarrow as pa

    count = len(held)
    named = (rng.random(count) < REQ_NODES).tolist()
    lists = [str(nodes) if is_named else None for is_named, nodes in zip(named, held, strict=True)]
    has_threads = rng.random(count) < THREADS if is_pm100 else np.ones(count, dtype=bool)
    return {
        "num_tasks": pa.array(jobs["tasks"].astype(np.float64), mask=rng.random(count) >= NUM_TASKS),
        "threads_per_core": pa.array(np.full(count, 4.0 if is_pm100 else 2.0), mask=~has_threads),
        "req_nodes": pa.array(lists, pa.string()),
    }


def _placement(jobs: Columns, held: list[list[int]]) -> dict[str, Any]:
    import pyarrow as pa

    cores = (jobs["cores_allocated"] // jobs["nodes"]).tolist()
    rows = list(zip(held, cores, strict=True))
    return {
        "nodes": pa.array(held, pa.list_(pa.int64())),
        "cores_allocated": pa.array([json.dumps(dict.fromkeys(nodes, each)) for nodes, each in rows], pa.string()),
        "cores_alloc_layout": pa.array(
            [json.dumps(dict.fromkeys(nodes, f"0-{each - 1}")) for nodes, each in rows], pa.string()
        ),
    }


def _series(jobs: Columns, rng: np.random.Generator) -> dict[str, Any]:
    node = node_series(jobs["mean_power_w"], jobs["recorded_run_s"], rng)
    has_parts = rng.random(len(jobs["nodes"])) >= WITHOUT_PARTS
    return {
        "node_power_consumption": node.to_arrow(),
        "cpu_power_consumption": part_series(jobs["nodes"], node, CPU_W, has_parts, rng).to_arrow(),
        "mem_power_consumption": part_series(jobs["nodes"], node, MEMORY_W, has_parts, rng).to_arrow(),
    }


def _energies(machine: Machine, jobs: Columns) -> dict[str, Any]:
    """Return joules over the whole run and all nodes; a job that has just begun draws little more than an idle node."""
    run_s, node_s = jobs["recorded_run_s"], jobs["recorded_run_s"] * jobs["nodes"]
    idle_w = jobs["nodes"] * machine.idle_w
    busy_w = idle_w + (jobs["mean_power_w"] - idle_w) * (1 - np.exp(-run_s / (2 * STEP_S)))
    lists = {"node": busy_w * run_s, "cpu": CPU_NODE_W * node_s, "mem": MEMORY_NODE_W * node_s}
    offsets = np.arange(len(run_s) + 1, dtype=np.int32)
    return {
        f"{part}_power_consumption": Lists(np.rint(joules).astype(np.int64), offsets).to_arrow()
        for part, joules in lists.items()
    }
