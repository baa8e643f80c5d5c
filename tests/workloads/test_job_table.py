"""Generated logs written as the job tables of PM100 and Adastra: schema, units, consistency, truth apart."""

from __future__ import annotations

import hashlib
import json
import re
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest

from hpcsim.errors import SuspiciousWorkload, WorkloadError
from hpcsim.scaling import TRUTH
from hpcsim.workloads.models.lublin import lublin
from hpcsim.workloads.models.synth import synth_adastra, synth_pm100
from hpcsim.workloads.truth_files import read_truth, truth_path
from hpcsim.workloads.writers.job_table import write_job_table
from hpcsim.workloads.writers.workload_file import write_workload

INTEGERS = (
    *("job_id", "run_time", "time_limit", "user_id", "group_id", "priority", "num_nodes_req", "num_nodes_alloc"),
    *("num_cores_req", "num_cores_alloc", "cores_per_task", "num_gpus_req", "num_gpus_alloc", "mem_req", "mem_alloc"),
    "req_switch",
)
TEXTS = (
    *("job_state", "state_reason", "derived_ec", "partition", "qos", "shared", "req_nodes"),
    *("cores_allocated", "cores_alloc_layout"),
)
TIMES = ["submit_time", "eligible_time", "start_time", "end_time"]
FLOATS = ["num_tasks", "threads_per_core"]
LISTS = ["nodes", "node_power_consumption", "cpu_power_consumption", "mem_power_consumption"]


@pytest.fixture(scope="module")
def pm100(tmp_path_factory):
    workload = synth_pm100(jobs=2000, nodes=128, load=0.8, seed=4)
    path = tmp_path_factory.mktemp("pm100") / "jobs.parquet"
    write_job_table(workload, path)
    return workload, path, pd.read_parquet(path)


@pytest.fixture(scope="module")
def adastra(tmp_path_factory):
    workload = synth_adastra(jobs=2000, seed=4)
    path = tmp_path_factory.mktemp("adastra") / "jobs.parquet"
    write_job_table(workload, path)
    return workload, path, pd.read_parquet(path)


@pytest.mark.parametrize("table", ["pm100", "adastra"])
def test_columns_and_types_are_the_published_ones(table, request):
    _, path, frame = request.getfixturevalue(table)
    schema = pq.read_schema(path)
    assert len(frame) == 2000
    assert set(schema.names) == {*INTEGERS, *TEXTS, *TIMES, *FLOATS, *LISTS}
    assert len(schema.names) == 35
    zone = ", tz=UTC" if table == "pm100" else ""
    kinds = {"int64": INTEGERS, "string": TEXTS, f"timestamp[us{zone}]": TIMES, "double": FLOATS}
    for kind, names in kinds.items():
        assert {str(schema.field(name).type) for name in names} == {kind}
    assert {str(schema.field(name).type) for name in LISTS} == {"list<element: int64>"}


@pytest.mark.parametrize("table", ["pm100", "adastra"])
def test_truth_is_in_a_file_of_its_own(table, request):
    workload, path, frame = request.getfixturevalue(table)
    assert not set(frame.columns) & {*TRUTH, "app_id", "allowed_nodes"}
    truth = pd.read_parquet(truth_path(path))
    assert set(TRUTH) <= set(truth.columns)
    assert truth["job_id"].tolist() == frame["job_id"].tolist()
    plain = workload.select(np.arange(len(workload))[::-1], "reversed")
    for name in TRUTH:
        del plain.columns[name]
    again = read_truth(plain, truth_path(path))
    assert all((again.columns[name] == workload.columns[name][::-1]).all() for name in TRUTH)


@pytest.mark.parametrize("table", ["pm100", "adastra"])
def test_recorded_schedule_is_possible(table, request):
    """Nobody starts before the submit, and no node serves two jobs at once."""
    workload, _, frame = request.getfixturevalue(table)
    assert (frame["start_time"] >= frame["submit_time"]).all()
    run_s = (frame["end_time"] - frame["start_time"]).dt.total_seconds()
    assert (run_s == frame["run_time"]).all()
    assert (frame["run_time"] == np.minimum(workload.run_s, workload.limit_s)).all()
    assert (frame["nodes"].str.len() == frame["num_nodes_alloc"]).all()
    uses = frame[["nodes", "start_time", "end_time"]].explode("nodes").sort_values(["nodes", "start_time"])
    assert uses["nodes"].between(0, workload.machine_nodes - 1).all()
    follows = uses["nodes"].to_numpy()[1:] == uses["nodes"].to_numpy()[:-1]
    assert (uses["start_time"].to_numpy()[1:] >= uses["end_time"].to_numpy()[:-1])[follows].all()


def test_units_of_pm100(pm100):
    workload, _, frame = pm100
    assert frame["submit_time"].iloc[0] == pd.Timestamp("2020-05-05 15:55:59", tz="UTC")
    assert (frame["time_limit"] * 60 == workload.limit_s).all()
    assert frame["mem_alloc"].max() / frame["num_nodes_alloc"].max() <= 237
    assert (frame["num_cores_alloc"] == 128 * frame["num_nodes_alloc"]).all()
    assert frame["job_state"].tolist() == workload.recorded_state.tolist()
    assert frame["num_tasks"].isna().mean() == pytest.approx(1 - 221_781 / 231_238, abs=0.02)
    assert frame["req_nodes"].notna().mean() == pytest.approx(26_296 / 231_238, abs=0.03)
    held = json.loads(frame["cores_allocated"].iloc[7])
    assert held == {str(node): 128 for node in frame["nodes"].iloc[7]}
    assert frame["derived_ec"].map(lambda text: bool(re.fullmatch(r"\d+:\d+", text))).all()


def test_power_series_of_pm100(pm100):
    """One sample of all nodes every 20 s, steps of 10 W, whose mean is the job's true power."""
    workload, _, frame = pm100
    node, cpu, memory = (frame[f"{part}_power_consumption"] for part in ("node", "cpu", "mem"))
    assert (abs(node.str.len() - frame["run_time"] / 20) <= 1).all()
    long = (frame["run_time"] > 600).to_numpy()
    means = np.array([values.mean() for values in node[long]])
    assert means == pytest.approx(workload.mean_power_w[long], rel=0.02)
    assert all((values % 10 == 0).all() for values in node)
    assert 0 < ((cpu.str.len() < node.str.len()) & (cpu.str.len() > 0)).mean() < 0.4
    assert (cpu[long].str.len() == 0).mean() == pytest.approx(2867 / 231_238, abs=0.01)
    nodes = workload.nodes[long]
    for part, low, high in ((cpu, 46, 258), (memory, 36, 60)):
        watts = np.array([values.mean() if len(values) else np.nan for values in part[long]]) / nodes
        assert low <= np.nanmin(watts) <= np.nanmax(watts) <= high


def test_units_of_adastra(adastra):
    """Local time without a zone, joules in lists of one, megabytes, and an epoch where the limit should be."""
    _, _, frame = adastra
    assert frame["submit_time"].iloc[0] == pd.Timestamp("2024-09-01 00:00:00")
    node_s = frame["run_time"] * frame["num_nodes_alloc"]
    joules = {part: frame[f"{part}_power_consumption"].str[0] for part in ("node", "cpu", "mem")}
    assert (frame["node_power_consumption"].str.len() == 1).all()
    assert (joules["cpu"] == 140 * node_s).all()
    assert (joules["mem"] / node_s).median() == pytest.approx(74.26, abs=0.01)
    watts = joules["node"] / node_s
    short, long = watts[frame["run_time"] < 12], watts[frame["run_time"] > 7200]
    assert 560 <= short.median() <= 800
    assert 1150 <= long.median() <= 1450
    assert (frame["time_limit"] > 1e8).all()
    assert (frame["mem_alloc"] <= 231_561 * frame["num_nodes_alloc"]).all()
    assert (frame["threads_per_core"] == 2).all()


def test_same_workload_same_bytes(tmp_path: Path):
    hashes = set()
    for name in ("a.parquet", "b.parquet"):
        write_job_table(synth_pm100(jobs=300, seed=9), tmp_path / name)
        hashes.add(hashlib.sha256((tmp_path / name).read_bytes()).hexdigest())
    assert len(hashes) == 1


def test_other_workloads_are_refused(tmp_path: Path):
    with pytest.raises(WorkloadError, match="Only what synth-pm100 and synth-adastra generate"):
        write_job_table(lublin(jobs=5), tmp_path / "x.parquet")
    assert not list(tmp_path.iterdir())


def test_truth_of_another_log_is_refused(pm100, tmp_path: Path):
    _, path, _ = pm100
    with pytest.raises(WorkloadError, match="does not hold each job of the log once"):
        read_truth(synth_pm100(jobs=2001), truth_path(path))
    with pytest.raises(WorkloadError, match="cannot be read as the truth of a log"):
        read_truth(synth_pm100(jobs=5), tmp_path / "missing.parquet")
    with pytest.raises(WorkloadError, match="cannot be read as the truth of a log"):
        read_truth(synth_pm100(jobs=5), path)


def test_a_truth_from_before_is_told_and_left_alone(tmp_path: Path):
    path = tmp_path / "jobs.parquet"
    write_workload(synth_pm100(jobs=20, seed=1), path)
    truth = truth_path(path).read_bytes()
    with pytest.warns(SuspiciousWorkload, match=r"jobs\.truth\.parquet was there before"):
        write_workload(lublin(jobs=20, nodes=64), path)
    assert truth_path(path).read_bytes() == truth
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        write_workload(lublin(jobs=20, nodes=64), tmp_path / "other.parquet")
