"""PM100 and Adastra: rows as published, units, faulty power lists, and data read under the wrong profile."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from hpcsim.cluster import Cluster, NodeGroup
from hpcsim.errors import SuspiciousWorkload, WorkloadError
from hpcsim.power import NodePower
from hpcsim.results.run import simulate
from hpcsim.scaling import has_truth
from hpcsim.workload import HIDDEN, Workload
from hpcsim.workloads.readers.pm100 import read_adastra, read_pm100
from hpcsim.workloads.readers.table import read_table
from hpcsim.workloads.readers.workload_file import read_workload
from hpcsim.workloads.transformations.moldable import make_moldable
from hpcsim.workloads.truth_files import truth_path
from hpcsim.workloads.writers.table import write_table
from hpcsim.workloads.writers.workload_file import write_workload

GIB = 2**30
ROW = {
    "job_id": 1,
    "submit_time": "2020-06-01T00:00:00Z",
    "start_time": "2020-06-01T00:10:00Z",
    "end_time": "2020-06-01T00:11:00Z",
    "run_time": 60,
    "time_limit": 30,
    "job_state": "COMPLETED",
    "user_id": 8,
    "group_id": 25200,
    "partition": "1",
    "qos": "0",
    "num_nodes_alloc": 2,
    "num_cores_req": 256,
    "num_cores_alloc": 256,
    "num_gpus_req": 8,
    "mem_req": 474,
    "node_power_consumption": [1400, 1500, 1600],
    "cpu_power_consumption": [300, 310],
    "mem_power_consumption": [],
}
TIMES = ("submit_time", "start_time", "end_time")


def write(path: Path, *rows: dict[str, Any], zone: bool = True) -> Path:
    frame = pd.DataFrame([ROW | row for row in rows])
    for name in TIMES:
        stamps = pd.to_datetime(frame[name], utc=True, format="ISO8601")
        frame[name] = stamps if zone else stamps.dt.tz_localize(None)
    frame.to_parquet(path)
    return path


def rules(workload: Workload) -> dict[str, int]:
    return {rule.rule: rule.rows for rule in workload.ledger.rules}


@pytest.fixture
def path(tmp_path) -> Path:
    return tmp_path / "jobs.parquet"


def test_units_of_pm100(path):
    """30 minutes, 474 GB and 8 GPUs on 2 nodes; (1400 + 1500 + 1600) W x 20 s = 90 kJ."""
    workload = read_pm100(write(path, {}))
    assert (workload.submit_s[0], workload.run_s[0], workload.recorded_wait_s[0]) == (1590969600, 60, 600)
    assert (workload.limit_s[0], workload.nodes[0]) == (1800, 2)
    assert (workload.cores_per_node[0], workload.gpus_per_node[0]) == (128, 4)
    assert workload.memory_bytes_per_node[0] == 237 * GIB
    assert workload.recorded_energy_j[0] == 90_000
    assert (workload.mean_power_w[0], workload.max_power_w[0]) == (1500, 1600)
    assert (workload.user_id[0], workload.partitions[0]) == (8, ("1",))
    assert not rules(workload)


def test_measured_power_is_the_power_of_a_replay_and_stays_so(path, tmp_path):
    """It stands where a generated log has it, hidden from policies; files and transformations keep it."""
    log = read_pm100(write(path, {}, {"node_power_consumption": []}))
    assert {"mean_power_w", "max_power_w"} <= set(log.columns) & set(HIDDEN)
    assert not has_truth(log)
    write_workload(log, tmp_path / "own.parquet")
    assert not truth_path(tmp_path / "own.parquet").exists()
    write_table(log, tmp_path / "table.csv")
    for again in (read_workload(tmp_path / "own.parquet"), read_table(tmp_path / "table.csv")):
        assert again.mean_power_w.tolist() == pytest.approx([1500, np.nan], nan_ok=True)
        assert again.max_power_w.tolist() == pytest.approx([1600, np.nan], nan_ok=True)
    moldable = make_moldable(log, nodes=980)
    assert moldable.mean_power_w[0] == 1500
    assert 800 <= moldable.mean_power_w[1] <= 2000


@pytest.mark.parametrize(
    ("samples", "energy", "mean", "rule"),
    [
        ([], None, None, "power-not-measured"),
        (None, None, None, "power-not-measured"),
        ([-1, 1000, np.nan], 20_000, 1000, "power-samples-dropped"),
        ([1_000_000], None, None, "power-absurd"),
        ([np.inf], None, None, "power-absurd"),
        ([1e308, 1e308], None, None, "power-absurd"),
        ([0, 0, 0], 0, 0, None),
    ],
)
def test_faulty_power_lists(path, samples, energy, mean, rule):
    """The row behind the faulty one keeps its own samples."""
    workload = read_pm100(write(path, {"node_power_consumption": samples}, {"node_power_consumption": [500.0]}))
    found = [workload.columns[name][0] for name in ("recorded_energy_j", "mean_power_w")]
    assert [None if np.isnan(value) else value for value in found] == [energy, mean]
    assert workload.recorded_energy_j[1] == 10_000
    assert (rule is None) or rule in rules(workload)


@pytest.mark.parametrize("lists", [[["a"], ["b"]], [[[1]], [[2]]], ["1", "2"], [1.0, 2.0], [[], []]])
def test_power_that_is_no_list_of_numbers_is_not_known(path, lists):
    workload = read_pm100(write(path, *({"node_power_consumption": power} for power in lists)))
    assert "mean_power_w" not in workload.columns
    assert rules(workload) == {"power-not-measured": 2}


def test_states_and_limits_that_are_dates(path):
    states = ("COMPLETED", "FAILED", "CANCELLED", "TIMEOUT", "OUT_OF_MEMORY", "NODE_FAIL")
    workload = read_pm100(write(path, *({"job_state": state} for state in states)))
    assert workload.end_state.tolist() == [0, 1, 2, 1, 1, 1]
    dated = read_pm100(write(path, {}, {"time_limit": 1_726_351_182}))
    assert dated.limit_s.tolist() == [1800, 60]
    assert rules(dated) == {"limit-is-a-date": 1, "limit-from-run-time": 1}


def test_rows_of_pm100_as_published(shared, path):
    """The printed rows lack submit and start; with eligible in their place they run 3 s, 1,159 s and 2 s.

    Job 680209 has one sample of 920 W, 18,400 J by the sampling step; 1440 minutes are a day.
    """
    lines = (shared / "samples/pm100_rows.jsonl").read_text().splitlines()
    printed = [json.loads(line) for line in lines]
    whole = [row for row in printed if "node_power_consumption" in row]
    rows = [
        {"submit_time": row["eligible_time"], "start_time": row["eligible_time"], "num_nodes_alloc": len(row["nodes"])}
        | {name: row[name] for name in ("job_id", "end_time", "time_limit", "num_gpus_req", "node_power_consumption")}
        | {"run_time": (pd.Timestamp(row["end_time"]) - pd.Timestamp(row["eligible_time"])).total_seconds()}
        for row in whole
    ]
    workload = read_pm100(write(path, *rows))
    assert workload.job_id.tolist() == [680209, 4921388]
    assert (workload.run_s.tolist(), workload.limit_s.tolist()) == ([3, 2], [86400, 86400])
    assert workload.mean_power_w.tolist() == [920, 860]
    assert workload.recorded_energy_j.tolist() == [18_400, 17_200]


def test_rows_of_adastra_as_published(shared, path):
    """2024-08-31T16:05:24 French time is 14:05:24 UTC. The first job took 94,618,545 J in 70,222 s, 1,347 W;
    the sixth 4,495 J in 8 s. No limit is one."""
    printed = [json.loads(line) for line in (shared / "samples/adastra_rows.jsonl").read_text().splitlines()]
    rows = [
        {"submit_time": row["eligible_time"], "start_time": row["eligible_time"], "num_nodes_alloc": len(row["nodes"])}
        | {name: row[name] for name in ("job_id", "job_state", "end_time", "time_limit", "num_gpus_req", "mem_req")}
        | {"node_power_consumption": row["node_power_consumption"], "num_cores_req": 64}
        | {"run_time": (pd.Timestamp(row["end_time"]) - pd.Timestamp(row["eligible_time"])).total_seconds()}
        for row in printed
    ]
    workload = read_adastra(write(path, *rows, zone=False))
    assert len(workload) == 10
    assert workload.submit_s[0] == 1725113124
    assert workload.run_s[[0, 5]].tolist() == [70222, 8]
    assert workload.recorded_energy_j[[0, 5]].tolist() == [94618545, 4495]
    assert workload.mean_power_w[[0, 5]].round(1).tolist() == [1347.4, 561.9]
    assert workload.memory_bytes_per_node[0] == 231561 * 2**20
    assert (workload.gpus_per_node[0], workload.limits_are_run_times) == (8, True)
    assert rules(workload)["limit-is-a-date"] == 10


def test_the_wrong_profile_is_warned_of_with_numbers(path):
    long = {"end_time": "2020-06-01T02:00:00Z", "run_time": 6600}
    write(path, *[long | {"node_power_consumption": [9_000_000], "time_limit": 1_726_351_182}] * 5)
    with pytest.warns(SuspiciousWorkload, match="100% of its power lists hold one entry, the median time_limit is 17"):
        read_pm100(path)
    write(path, *[long | {"node_power_consumption": [900] * 330}] * 5)
    with pytest.warns(SuspiciousWorkload, match="its power lists hold 330 entries each, as PM100's watts do"):
        read_adastra(path)


def test_neither_profile_is_guessed(path):
    from hpcsim import read

    with pytest.raises(WorkloadError, match="Name it: --format pm100 or --format adastra"):
        read(write(path, {}))
    assert len(read(path, format="pm100")) == 1


@pytest.mark.parametrize("lacking", ["num_nodes_alloc", "node_power_consumption", "end_time"])
def test_a_column_that_is_missing_is_named(path, lacking):
    write(path, {})
    pd.read_parquet(path).drop(columns=lacking).to_parquet(path)
    with pytest.raises(WorkloadError, match=f"has no column '{lacking}'"):
        read_pm100(path)


def test_samples_are_kept_on_request(tmp_path: Path) -> None:
    path = write(
        tmp_path / "jobs.parquet",
        {"node_power_consumption": [1400, None, -1, 1500]},
        {"job_id": 2, "node_power_consumption": []},
        {"job_id": 3, "node_power_consumption": [10**7]},
    )
    assert "power_series_w" not in read_pm100(path).columns
    workload = read_pm100(path, series=True)
    assert workload.columns["power_series_w"].tolist() == [(1400.0, 1450.0, 1450.0, 1500.0), (), ()]
    again = tmp_path / "again.parquet"
    write_workload(workload, again)
    assert [tuple(each) for each in read_workload(again).columns["power_series_w"]] == [
        (1400, 1450, 1450, 1500),
        (),
        (),
    ]
    with pytest.raises(WorkloadError, match="series is 'yes'"):
        read_pm100(path, series="yes")  # type: ignore[arg-type]


def test_measured_samples_are_what_a_simulation_draws(tmp_path: Path) -> None:
    """Samples of 20 s, 60 s of run time: 1400, 1500, 1600 W over 20 s each are 90 kJ."""
    workload = read_pm100(write(tmp_path / "jobs.parquet", {}), series=True)
    machine = Cluster(
        groups=(NodeGroup(nodes=2, cores=128, gpus=4, memory_bytes=256 * GIB, power=NodePower(idle_w=100, busy_w=500)),)
    )
    result = simulate(workload, machine, "easy")
    assert result.power is not None
    assert result.jobs["energy_j"].tolist() == [20 * (1400 + 1500 + 1600)]
    drawn = result.power.loc[result.power["time_s"] < workload.submit_s[0] + 60, "power_w"].tolist()
    assert drawn[-3:] == [1400, 1500, 1600]
