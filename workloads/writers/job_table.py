"""Writes a generated log as the job table that PM100 or Adastra publish: their columns, types and units."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hpcsim.errors import WorkloadError
from hpcsim.workload import Workload
from hpcsim.workloads.models.synth_presets import ADASTRA, PM100, Machine
from hpcsim.workloads.truth_files import truth_path, write_truth
from hpcsim.workloads.writers.atomic import replacing
from hpcsim.workloads.writers.job_table_columns import table_columns
from hpcsim.workloads.writers.recorded_schedule import recorded_run_s, schedule

ROWS_AT_ONCE = 5_000
MACHINES = {f"synth-{machine.name}": machine for machine in (PM100, ADASTRA)}


def write_job_table(workload: Workload, path: str | os.PathLike[str]) -> None:
    """Write *workload*, made by ``synth-pm100`` or ``synth-adastra``, as a Parquet job table.

    Names, types, units and quirks of the columns are those of the published table (PM100: minutes,
    GB, UTC, watts every 20 s; Adastra: MB, local time, joules in lists of one). Start times and nodes
    are a record without overlaps (`hpcsim.workloads.writers.recorded_schedule`). The truth goes into
    a file of its own beside it, ``NAME.truth.parquet``, keyed by ``job_id``. Rows are written some
    thousands at a time, so that the power series are never all in memory; the same workload gives the
    same bytes.

    Raises:
        WorkloadError: the workload is of another origin, or the file cannot be written.
    """
    import pyarrow.parquet as pq

    machine = MACHINES.get(str(workload.provenance.get("model")))
    if machine is None or "mean_power_w" not in workload.columns:
        raise WorkloadError(
            "Only what synth-pm100 and synth-adastra generate can be written as a job table.",
            "Write this workload as .swf or as hpcsim's own .parquet.",
        )
    start_s, held = schedule(workload, _nodes(workload, machine))
    seeds = np.random.SeedSequence(int(workload.provenance.get("seed", 0)), spawn_key=(len(workload),))
    starts = range(0, max(1, len(workload)), ROWS_AT_ONCE)
    with replacing(Path(path)) as file:
        writer: Any = None
        for first, seed in zip(starts, seeds.spawn(len(starts)), strict=True):
            rows = slice(first, first + ROWS_AT_ONCE)
            batch = table_columns(machine, _part(workload, rows, start_s), held[rows], np.random.default_rng(seed))
            writer = writer or pq.ParquetWriter(file, batch.schema, compression="zstd")
            writer.write_table(batch)
        writer.close()
    write_truth(workload, truth_path(path))


def _nodes(workload: Workload, machine: Machine) -> int:
    return workload.machine_nodes or machine.nodes


def _part(workload: Workload, rows: slice, start_s: NDArray[np.int64]) -> dict[str, NDArray[Any]]:
    """Return the columns of some rows, with what was recorded of them."""
    recorded = {"start_s": start_s, "recorded_run_s": recorded_run_s(workload)}
    return {name: column[rows] for name, column in (workload.columns | recorded).items()}
