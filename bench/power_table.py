"""Writes a table like PM100's: the same columns and types, made-up jobs, power lists as long as the runs."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

FIRST_SUBMIT_S = 1_588_694_159
ROWS_AT_ONCE = 10_000


def write_table(path: Path, jobs: int, seed: int = 0, mean_run_s: float = 6000.0) -> int:
    """Write *jobs* rows; return how many power samples the three lists hold together."""
    rng = np.random.default_rng(seed)
    writer, samples = None, 0
    for first in range(0, jobs, ROWS_AT_ONCE):
        table, added = _part(rng, first, min(ROWS_AT_ONCE, jobs - first), mean_run_s)
        samples += added
        writer = writer or pq.ParquetWriter(path, table.schema)
        writer.write_table(table)
    if writer is not None:
        writer.close()
    return samples


def _part(rng: np.random.Generator, first: int, jobs: int, mean_run_s: float) -> tuple[pa.Table, int]:
    submit = FIRST_SUBMIT_S + 60 * np.arange(first, first + jobs)
    start, run = submit + rng.integers(0, 7200, jobs), 1 + rng.exponential(mean_run_s, jobs).astype(np.int64)
    nodes = 2 ** rng.integers(0, 5, jobs)
    times = {"submit_time": submit, "eligible_time": submit, "start_time": start, "end_time": start + run}
    lengths = run // 20
    power = {
        name: pa.ListArray.from_arrays(
            np.concatenate(([0], np.cumsum(lengths))).astype(np.int32),
            (np.repeat(nodes * watts, lengths) + 10 * rng.integers(0, 9, lengths.sum())).astype(np.int64),
        )
        for name, watts in (("node", 700), ("cpu", 180), ("mem", 40))
    }
    columns = {
        "job_id": pa.array(np.arange(first, first + jobs)),
        **{name: pa.array(values * 10**6).cast(pa.timestamp("us", tz="UTC")) for name, values in times.items()},
        "run_time": pa.array(run),
        "time_limit": pa.array(np.array([30, 240, 1440])[rng.integers(0, 3, jobs)]),
        "job_state": pa.array(np.array(["COMPLETED", "FAILED", "TIMEOUT"])[rng.integers(0, 3, jobs)]),
        "user_id": pa.array(rng.integers(0, 500, jobs)),
        "group_id": pa.array(np.full(jobs, 25200)),
        "partition": pa.array(np.full(jobs, "1")),
        "qos": pa.array(np.full(jobs, "2")),
        "num_nodes_req": pa.array(nodes),
        "num_nodes_alloc": pa.array(nodes),
        "num_cores_req": pa.array(nodes * 128),
        "num_cores_alloc": pa.array(nodes * 128),
        "num_gpus_req": pa.array(nodes * 4),
        "num_gpus_alloc": pa.array(nodes * 4),
        "mem_req": pa.array(nodes * 237),
        "mem_alloc": pa.array(nodes * 237),
        **{f"{name}_power_consumption": lists for name, lists in power.items()},
    }
    return pa.table(columns), 3 * int(lengths.sum())
