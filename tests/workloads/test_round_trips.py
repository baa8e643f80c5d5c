"""Logs of every format, written as SWF and as tables and read again: every field that both have is the same."""

from __future__ import annotations

import warnings
from pathlib import Path

import numpy as np
import pytest

from hpcsim import read
from hpcsim.errors import HpcsimWarning, WorkloadError
from hpcsim.workload import Workload
from hpcsim.workloads.writers.swf import write_swf
from hpcsim.workloads.writers.table import write_table
from tests.workloads.log_samples import SAMPLES

OPTIONS = {"sacct": {"zone": "Europe/Paris"}}


@pytest.fixture(params=sorted(SAMPLES))
def workload(request, tmp_path) -> Workload:
    path = tmp_path / "log"
    path.write_bytes(SAMPLES[request.param])
    return quietly(path, format=request.param, **OPTIONS.get(request.param, {}))


def quietly(path: Path, **options) -> Workload:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", HpcsimWarning)
        return read(path, **options)


def same(one: Workload, other: Workload, names: set[str]) -> None:
    for name in names & one.columns.keys():
        ours, theirs = one.columns[name].tolist(), other.columns[name].tolist()
        if name == "partitions":
            ours, theirs = ([tuple(value or ()) for value in values] for values in (ours, theirs))
        assert all(a == b or (a != a and b != b) for a, b in zip(ours, theirs, strict=True)), name  # noqa: PLR0124 - NaN


@pytest.mark.parametrize("ending", [".parquet", ".csv", ".csv.gz"])
def test_tables_keep_every_column_that_they_know(workload, tmp_path, ending):
    path = tmp_path / f"jobs{ending}"
    write_table(workload, path)
    again = quietly(path, format="table", count=workload.counted)
    known = {
        *("job_id", "submit_s", "run_s", "limit_s", "nodes", "recorded_wait_s", "end_state", "user_id", "group_id"),
        *("account", "qos", "name", "partitions", "recorded_state", "cores_per_node", "gpus_per_node"),
        *("memory_bytes_per_node", "recorded_energy_j", "limit_is_run_time"),
    }
    same(workload, again, known)
    assert again.limits_are_run_times == workload.limits_are_run_times
    assert len(again) == len(workload)


def test_swf_keeps_what_it_has_fields_for(workload, tmp_path):
    """Names become numbers there, and tasks lose theirs; times, sizes and ends stay. SWF counts processors."""
    path = tmp_path / "jobs.swf"
    write_swf(workload, path)
    again = quietly(path, format="swf")
    if not again.header.get("MaxProcs") and workload.machine_nodes:
        assert again.machine_nodes == workload.machine_nodes
    same(workload, again, {"submit_s", "run_s", "nodes", "recorded_wait_s", "end_state", "limit_is_run_time"})
    finite = np.isfinite(workload.limit_s)
    assert again.limit_s[finite].tolist() == workload.limit_s[finite].tolist()
    assert again.limits_are_run_times == workload.limits_are_run_times


def test_a_table_by_another_name(workload, tmp_path):
    with pytest.raises(WorkloadError, match=r"jobs\.xlsx names no kind of table\. End it in \.parquet, \.csv"):
        write_table(workload, tmp_path / "jobs.xlsx")


@pytest.mark.parametrize(
    "sample", ["sacct_parsable2_with_steps.txt", "pbs_accounting.log", "sacct_26col_noheader_allocations.txt"]
)
def test_the_samples_there_and_back(shared, tmp_path, sample):
    first = quietly(shared / "samples" / sample)
    write_table(first, tmp_path / "jobs.parquet")
    again = quietly(tmp_path / "jobs.parquet")
    assert again.provenance["reader"] == "table"
    same(first, again, set(first.columns) - {"recorded_exit_status"})
