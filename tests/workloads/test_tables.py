"""Tables by a column map, and the named profiles: F-DATA, Intrepid, Alibaba; values by hand."""

from __future__ import annotations

import gzip
import math
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from hpcsim.errors import HpcsimWarning, WorkloadError
from hpcsim.workload import Workload
from hpcsim.workloads.readers.alibaba_dag import levels, parse_name
from hpcsim.workloads.readers.alibaba_gpu import read_alibaba_gpu_v2020, read_alibaba_gpu_v2023
from hpcsim.workloads.readers.alibaba_v2018 import read_alibaba_v2018
from hpcsim.workloads.readers.fdata import read_fdata
from hpcsim.workloads.readers.intrepid import read_intrepid
from hpcsim.workloads.readers.table import read_table

MAP = {"job_id": "id", "submit_s": "queued", "run_s": "ran", "limit_s": "asked_min", "nodes": "n"}
CSV = "id,queued,ran,asked_min,n,who\n7,2024-01-01T00:00:00,60,2,4,ann\n8,2024-01-01 00:00:10,90.5,1,2,\n"


def rules(workload: Workload) -> dict[str, int]:
    return {rule.rule: rule.rows for rule in workload.ledger.rules}


@pytest.fixture
def read(tmp_path: Path):
    def read(text: str, reader=read_table, **options) -> Workload:
        path = tmp_path / "jobs.csv"
        path.write_bytes(gzip.compress(text.encode()) if options.pop("gz", False) else text.encode())
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", HpcsimWarning)
            return reader(path, **options)

    return read


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
@pytest.mark.parametrize("gz", [False, True])
def test_a_csv_by_a_map(read, delimiter, gz):
    """Limits of 2 and 1 minutes by a factor of 60; the second job ran for 90.5 s."""
    columns = {**MAP, "user_id": "who"}
    workload = read(CSV.replace(",", delimiter), columns=columns, factors={"limit_s": 60}, gz=gz)
    assert workload.job_id.tolist() == [7, 8]
    assert workload.submit_s.tolist() == [1704067200, 1704067210]
    assert workload.run_s.tolist() == [60, 90.5]
    assert workload.limit_s.tolist() == [120, 60]
    assert workload.nodes.tolist() == [4, 2]
    assert workload.user_id.tolist() == ["ann", None]


def test_a_map_as_text_and_a_zone(read):
    columns = ",".join(f"{ours}={theirs}" for ours, theirs in MAP.items())
    workload = read(CSV, columns=columns, factors="limit_s=60", zone="Asia/Tokyo", machine=8)
    assert workload.submit_s[0] == 1704067200 - 9 * 3600
    assert (workload.limit_s[0], workload.machine_nodes) == (120, 8)


@pytest.mark.parametrize("unit", ["s", "ms", "us", "ns"])
@pytest.mark.parametrize("zone", [None, "UTC", "Asia/Tokyo"])
def test_parquet_of_any_types(tmp_path, unit, zone):
    """Timestamps of every unit, with a zone and without; durations, categories and nulls."""
    path = tmp_path / "jobs.parquet"
    stamps = pd.to_datetime(pd.Series([1704067200, 1704067210]), unit="s").astype(f"datetime64[{unit}]")
    if zone:
        stamps = stamps.dt.tz_localize("UTC").dt.tz_convert(zone)
    frame = pd.DataFrame(
        {
            "submit_s": stamps,
            "run_s": pd.to_timedelta([60, 90], unit="s").astype(f"timedelta64[{unit}]"),
            "limit_s": [120.0, np.nan],
            "nodes": pd.array([4, 2], dtype="Int32"),
            "user_id": pd.Categorical(["ann", None]),
            "partitions": [["a", "b"], []],
        }
    )
    frame.to_parquet(path)
    workload = read_table(path)
    assert workload.submit_s.tolist() == [1704067200, 1704067210]
    assert workload.run_s.tolist() == [60, 90]
    assert workload.limit_s.tolist() == [120, 90]
    assert workload.nodes.tolist() == [4, 2]
    assert workload.user_id.tolist() == ["ann", None]
    assert workload.partitions[0] == ("a", "b")
    assert workload.job_id.tolist() == [1, 2]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({}, r"No column of .*jobs.csv is known to be submit_s \(or start_s\). Map it"),
        ({"columns": {"submit_s": "queud"}}, "No column of .* is known to be run_s"),
        ({"columns": MAP | {"nodes": "N"}}, "has no column 'N'. It has: id, queued, ran"),
        ({"columns": MAP | {"node": "n"}}, "No job has a 'node'. Did you mean 'nodes'"),
        ({"columns": "submit_s"}, "columns has 'submit_s' without a value. Write columns="),
        ({"columns": MAP, "factors": {"limit_s": -1}}, "The factor of 'limit_s' is -1"),
        ({"columns": MAP, "factors": "limit_s=x"}, "The factor of 'limit_s' is 'x'"),
        ({"columns": MAP, "carry": "whom"}, "has no column 'whom'. Did you mean 'who'"),
        ({"columns": MAP, "zone": "Nowhere"}, "no time zone 'Nowhere'"),
    ],
)
def test_maps_that_do_not_fit(read, options, message):
    with pytest.raises(WorkloadError, match=message):
        read(CSV, **options)


def test_rows_that_are_ragged_or_hold_no_numbers(read):
    """Line 3 has a field too few, line 4 no node count, line 5 no time."""
    text = "submit_s,run_s,nodes\n0,60,4\n1,60\n2,60,many\nsoon,60,1\n4,01:00:00,1\n"
    workload = read(text)
    assert workload.submit_s.tolist() == [0, 4]
    assert workload.run_s.tolist() == [60, 3600]
    lines = {rule.rule: rule.examples[0].line for rule in workload.ledger.rules}
    assert lines == {"ragged-row": 3, "no-submit-time": 5, "no-nodes": 4, "limit-from-run-time": 2}


def test_refused_rows_of_csv_and_of_parquet_in_quarantine(tmp_path):
    frame = pd.DataFrame({"submit_s": [0, 1], "run_s": [60, -5], "nodes": [1, 1]})
    target = tmp_path / "refused"
    frame.to_csv(tmp_path / "a", index=False)
    frame.to_parquet(tmp_path / "b")
    read_table(tmp_path / "a", mode="quarantine", quarantine_path=target)
    assert target.read_text().splitlines()[1:] == ["; line 3: end-before-start, end_s: not known", "1,-5,1"]
    read_table(tmp_path / "b", mode="quarantine", quarantine_path=target)
    assert target.read_text().splitlines()[1:] == ["; row 2: end-before-start, end_s: not known"]


def test_carried_columns(read):
    workload = read(CSV, columns=MAP, carry="who,asked_min")
    assert workload.who.tolist() == ["ann", None]
    assert workload.asked_min.tolist() == [2, 1]


def test_a_damaged_parquet_file(tmp_path):
    path = tmp_path / "jobs.parquet"
    pd.DataFrame({"submit_s": range(1000), "run_s": range(1000), "nodes": 1}).to_parquet(path)
    whole = path.read_bytes()
    for cut in (4, 12, len(whole) // 2, len(whole) - 1):
        path.write_bytes(whole[:cut])
        with pytest.raises(WorkloadError, match=r"is no Parquet file that can be read: .*Fetch it again"):
            read_table(path)


def test_the_intrepid_excerpt(shared):
    """3,000 jobs of 512 (1,561), 64 (449) and other nodes, on 40,960; the first ran for 7,560 s."""
    workload = read_intrepid(shared / "data/ANL-Intrepid-2009-excerpt-first3000.csv.gz")
    assert (len(workload), workload.machine_nodes, workload.limits_are_run_times) == (3000, 40960, True)
    counts = dict(zip(*np.unique(workload.nodes, return_counts=True), strict=True))
    assert counts == {
        512: 1561,
        64: 449,
        1024: 379,
        2048: 186,
        4096: 172,
        8192: 117,
        256: 39,
        16384: 38,
        128: 33,
        32768: 26,
    }
    assert (workload.job_id[0], workload.submit_s[2], workload.run_s[0]) == (1, 1590, 7560)


def test_f_data(read):
    """Japanese time without a zone, 9 h before UTC; the third job had not ended."""
    text = (
        "jid,usr,jnam,adt,sdt,edt,elpl,nnuma,cnumat,cnumr,exit state,pclass\n"
        "j1,u1,n1,2023-05-01 09:00:00,2023-05-01 09:01:00,2023-05-01 10:01:00,7200,12,576,480,completed,compute-bound\n"
        "j2,u1,n1,2023-05-01 09:00:05,2023-05-01 09:01:00,2023-05-01 09:02:00,600,1,48,48,failed,memory-bound\n"
        "j3,u1,n1,2023-05-01 09:00:05,2023-05-01 09:01:00,,600,1,48,48,failed,memory-bound\n"
    )
    workload = read(text, read_fdata, carry="pclass")
    assert workload.job_id.tolist() == ["j1", "j2"]
    assert workload.submit_s.tolist() == [1682899200, 1682899205]
    assert (workload.run_s.tolist(), workload.limit_s.tolist()) == ([3600, 60], [7200, 600])
    assert (workload.nodes.tolist(), workload.cores_per_node.tolist()) == ([12, 1], [40, 48])
    assert workload.end_state.tolist() == [0, 1]
    assert workload.pclass.tolist() == ["compute-bound", "memory-bound"]
    assert rules(workload) == {"still-running": 1}


@pytest.mark.parametrize(
    ("name", "parsed"),
    [
        ("M1", (1, ())),
        ("R2_1", (2, (1,))),
        ("M5_3_4", (5, (3, 4))),
        ("task_Nzg3ODAwNDgzMTAwNTc2NTQ2Mw==", None),
        ("MergeTask", None),
        ("R5_Stg1", None),
        ("", None),
    ],
)
def test_task_names(name, parsed):
    assert parse_name(name) == parsed


@pytest.mark.parametrize(
    ("names", "depths"),
    [
        (["M1", "R2_1", "M3_1", "J4_2_3"], [0, 1, 1, 2]),
        (["J3_2", "M2_1", "M1"], [2, 1, 0]),
        (["M1_9", "task_x"], [0, 0]),
        (["M1_1"], [0]),
        ([f"M{n}_{n - 1}" for n in range(5000, 0, -1)], list(range(4999, -1, -1))),
    ],
)
def test_levels_of_a_graph(names, depths):
    assert levels(names) == depths


def test_a_circle_of_tasks_ends():
    assert max(levels(["M1_2", "M2_3", "M3_1"])) == 2


def test_alibaba_tasks_of_2018(shared):
    """Of nine tasks one failed, one ran, one waited, one ends before its start. plan_cpu 50 x 1 instance
    is half a core, one processor; 4 x 100 are four. All of j_1 is submitted with its first task, at 86400."""
    workload = read_alibaba_v2018(shared / "samples/alibaba_v2018_batch_task.csv", dependencies=True)
    assert workload.job_id.tolist()[:4] == ["j_1/M1", "j_1/R2_1", "j_1/M3_1", "j_1/J4_2_3"]
    assert workload.submit_s.tolist() == [86400, 86400, 86400, 86400, 87120]
    assert workload.run_s.tolist() == [62, 17, 67, 71, 5]
    assert workload.nodes.tolist() == [2, 1, 4, 1, 1]
    assert workload.after.tolist() == [(), ("j_1/M1",), ("j_1/M1",), ("j_1/R2_1", "j_1/M3_1"), ()]
    assert rules(workload) == {"not-terminated": 3, "end-before-start": 1, "limit-from-run-time": 5}
    assert workload.limits_are_run_times


def test_alibaba_jobs_of_2018(shared):
    """j_1 is widest at its second level, 1 + 4 processors, and lasts from 86400 to 86602."""
    workload = read_alibaba_v2018(shared / "samples/alibaba_v2018_batch_task.csv", per="job")
    assert workload.job_id.tolist() == ["j_1", "j_2"]
    assert (workload.nodes.tolist(), workload.run_s.tolist()) == ([5, 1], [202, 5])


def test_another_table_of_2018(shared):
    with pytest.raises(WorkloadError, match=r"is the trace's table of instances\. Give its table of tasks"):
        read_alibaba_v2018(shared / "samples/alibaba_v2018_batch_instance.csv")


def test_alibaba_gpu_tasks_of_2020(shared, read):
    """600 percent are 6 cores, 50 percent half a GPU, which takes one; 29.296875 GB are 31,457,280,000 bytes."""
    workload = read_alibaba_gpu_v2020(shared / "samples/alibaba_gpu_v2020_pai_task_table.csv")
    assert workload.job_id.tolist() == ["4f057009a5d481acec67b088"]
    assert (workload.submit_s[0], workload.run_s[0], workload.nodes[0]) == (1739162, 38, 1)
    assert (workload.cores_per_node[0], workload.gpus_per_node[0]) == (6, 1)
    assert workload.memory_bytes_per_node[0] == 31457280000
    bare = "a,worker,3.0,Terminated,100.0,160.0,200.0,1.0,,T4\nb,ps,1.0,Failed,100.0,160.0,200.0,1.0,,T4\n"
    tasks = read(bare, read_alibaba_gpu_v2020)
    assert (tasks.nodes.tolist(), tasks.run_s.tolist()) == ([3], [60])
    assert rules(tasks)["not-terminated"] == 1


def test_alibaba_gpu_jobs_of_2020_give_submit_times_and_users(tmp_path, read):
    jobs = tmp_path / "jobs"
    jobs.write_text("job_name,inst_id,user,status,start_time,end_time\na,x,ann,Terminated,40.0,160.0\n")
    text = "a,worker,3.0,Terminated,100.0,160.0,200.0,1.0,,T4\nc,ps,1.0,Terminated,100.0,160.0,200.0,1.0,,T4\n"
    workload = read(text, read_alibaba_gpu_v2020, jobs=jobs)
    assert (workload.submit_s.tolist(), workload.recorded_wait_s.tolist()) == ([40, 100], [60, 0])
    assert workload.user_id.tolist() == ["ann", None]
    with pytest.raises(WorkloadError, match=r"Give pai_task_table\.csv, and jobs=pai_job_table\.csv"):
        read("a,x,ann,Terminated,40.0,160.0\n", read_alibaba_gpu_v2020)


def test_alibaba_pods_of_2023(shared):
    """8,152 pods, 897 of them never scheduled. The second: created 427061, deleted 12902960, 6,000 milli-CPUs."""
    workload = read_alibaba_gpu_v2023(shared / "data/alibaba-gpu-v2023-openb_pod_list_default.csv.gz")
    assert (workload.ledger.rows, len(workload)) == (8152, 8152 - 897)
    assert rules(workload)["never-started"] == 897
    assert (workload.submit_s[1], workload.run_s[1], workload.nodes[1]) == (427061, 12902960 - 427061, 1)
    assert (workload.cores_per_node[1], workload.gpus_per_node[1]) == (6, 1)
    assert workload.memory_bytes_per_node[0] == 16384 * 2**20
    counts = np.bincount(workload.gpus_per_node)
    assert counts.sum() == len(workload)
    assert workload.recorded_state.tolist().count("Failed") == 1870
    assert math.isclose(float(workload.end_state.sum()), 1870)
