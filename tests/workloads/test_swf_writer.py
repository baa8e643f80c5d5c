"""What is written reads back equal; what a run did can be written as a log of its own."""

from __future__ import annotations

import gzip

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hpcsim.errors import WorkloadError
from hpcsim.workload import Workload
from hpcsim.workloads.models.poisson import poisson
from hpcsim.workloads.swf_fields import FIELDS
from hpcsim.workloads.writers.swf import write_swf

TRACES = [
    *("CTC-SP2-1996-3.1-cln", "KTH-SP2-1996-2.1-cln", "LLNL-Thunder-2007-1.1-cln", "METACENTRUM-2009-2"),
    *("NASA-iPSC-1993-3.1-cln", "SDSC-SP2-1998-4.2-cln", "lublin_256"),
]


def assert_equal(one: Workload, other: Workload) -> None:
    assert list(one.columns) == list(other.columns)
    for name, column in one.columns.items():
        assert column.dtype == other.columns[name].dtype, name
        np.testing.assert_array_equal(column, other.columns[name], err_msg=name)
    assert one.header == other.header
    assert (one.machine_nodes, one.counted) == (other.machine_nodes, other.counted)
    assert one.limits_are_run_times == other.limits_are_run_times


@pytest.mark.parametrize("trace", TRACES)
def test_round_trip_of_real_logs(shared, read, tmp_path, trace):
    workload = read(shared / "traces" / f"{trace}.swf.gz", limit_rows=20_000)
    write_swf(workload, tmp_path / "again.swf.gz")
    assert_equal(read(tmp_path / "again.swf.gz"), workload)


NUMBERS = st.sampled_from([-1, 0, 1, 5]) | st.integers(-1, 10**6) | st.integers(0, 10**8).map(lambda n: n / 1000)
COUNTS = st.sampled_from([-1, 0, 1, 64]) | st.integers(1, 9999)
ROWS = st.lists(
    st.tuples(*(COUNTS if name in {"allocated", "requested"} else NUMBERS for name in FIELDS)), min_size=1, max_size=6
)
COMMENTS = ["; MaxProcs: 64 (60+4)", ";MaxNodes:8", "; Note: a", ";   b: c", ";", "; words", "; Queue:", "; Note: é;"]
HEADERS = st.lists(st.sampled_from(COMMENTS), max_size=8)


@given(rows=ROWS, header=HEADERS, processors=st.none() | st.integers(1, 100))
def test_round_trip_of_any_log(tmp_path_factory, read, rows, header, processors):
    folder = tmp_path_factory.getbasetemp()
    (folder / "one.swf").write_text("\n".join([*header, *(" ".join(map(str, row)) for row in rows)]))
    workload = read(folder / "one.swf", processors=processors)
    write_swf(workload, folder / "two.swf")
    again = read(folder / "two.swf")
    if processors is not None:
        again.header, workload.header = {}, {}
    if len(workload):
        assert_equal(again, workload)


def test_no_jobs(read_text, read, tmp_path):
    workload = read_text("; MaxProcs: 8\n; Note: none\n")
    write_swf(workload, tmp_path / "none.swf")
    assert (tmp_path / "none.swf").read_text() == "; MaxProcs: 8\n; Note: none\n"


def test_another_machine_goes_into_the_header(read_text, read, tmp_path):
    line = "1 0 0 60 4 -1 -1 4 90 -1 1 1 1 1 -1 -1 -1 -1"
    write_swf(read_text(f"; MaxProcs: 8\n{line}\n", processors=16), tmp_path / "again.swf")
    assert (tmp_path / "again.swf").read_text() == f"; MaxProcs: 16\n{line}\n"


def test_generated_workload(read, tmp_path):
    workload = poisson(jobs=50, nodes=16, seed=3)
    write_swf(workload, tmp_path / "made.swf")
    again = read(tmp_path / "made.swf")
    for name in ("job_id", "submit_s", "run_s", "limit_s", "nodes", "user_id", "group_id", "app_id"):
        assert again.columns[name].tolist() == workload.columns[name].tolist()
    assert again.header == {"Version": ["2.2"], "MaxJobs": ["50"], "MaxRecords": ["50"], "MaxProcs": ["16"]}
    assert again.machine_nodes == 16


def test_words_become_numbers_and_no_limit_is_not_known(tmp_path):
    workload = Workload.of(
        submit_s=[0, 1, 2],
        run_s=[5, 6, 7],
        nodes=[1, 2, 3],
        limit_s=[10, np.inf, 30.5],
        job_id=["a.1", "b", "a.2"],
        user_id=np.array(["eve", None, "bob"], dtype=object),
        end_state=np.array([0, 1, 2]),
    )
    write_swf(workload, tmp_path / "words.swf")
    assert (tmp_path / "words.swf").read_text().splitlines()[3:] == [
        "1 0 -1 5 -1 -1 -1 1 10.0 -1 1 1 -1 -1 -1 -1 -1 -1",
        "2 1 -1 6 -1 -1 -1 2 -1.0 -1 0 -1 -1 -1 -1 -1 -1 -1",
        "3 2 -1 7 -1 -1 -1 3 30.5 -1 5 2 -1 -1 -1 -1 -1 -1",
    ]


def test_finished_run(read_text, read, tmp_path):
    """Waits, run times, processors and statuses are the run's; what was asked for stays the log's."""
    lines = [
        f"{i} {i} 99 50 3 -1 -1 {n} 40 -1 1 1 1 1 -1 -1 -1 -1" for i, n in [(1, 4), (2, 2), (3, 9), (4, 4), (5, 1)]
    ]
    workload = read_text("; MaxProcs: 8\n" + "\n".join(lines))
    jobs = pd.DataFrame(
        {
            "row": [0, 1, 2, 3],
            "start_s": [1.0, 2.5, np.nan, 45.0],
            "end_s": [41.0, 12.5, np.nan, np.nan],
            "wait_s": [0.0, 0.5, np.nan, 41.0],
            "run_s": [40.0, 10.0, np.nan, np.nan],
            "state": ["TIMEOUT", "COMPLETED", "REJECTED", "UNFINISHED"],
        }
    )
    write_swf(workload, tmp_path / "run.swf.gz", result_jobs=jobs)
    assert gzip.decompress((tmp_path / "run.swf.gz").read_bytes()).decode().splitlines() == [
        "; MaxProcs: 8",
        "; Note: waits, run times and statuses as simulated by hpcsim",
        "1 1 0.0 40 4 -1 -1 4 40 -1 0 1 1 1 -1 -1 -1 -1",
        "2 2 0.5 10 2 -1 -1 2 40 -1 1 1 1 1 -1 -1 -1 -1",
        "3 3 -1.0 -1 -1 -1 -1 9 40 -1 5 1 1 1 -1 -1 -1 -1",
        "4 4 41.0 -1 4 -1 -1 4 40 -1 -1 1 1 1 -1 -1 -1 -1",
    ]
    again = read(tmp_path / "run.swf.gz")
    assert again.run_s.tolist() == [40, 10]
    assert again.recorded_wait_s.tolist() == [0, 0.5]
    assert workload.header == {"MaxProcs": ["8"]}


def test_same_workload_same_bytes(tmp_path):
    for name in ("a.swf.gz", "b.swf.gz"):
        write_swf(poisson(jobs=20), tmp_path / name)
    assert (tmp_path / "a.swf.gz").read_bytes() == (tmp_path / "b.swf.gz").read_bytes()


def test_a_failed_write_leaves_the_old_file(tmp_path, monkeypatch):
    path = tmp_path / "log.swf"
    path.write_text("old")
    monkeypatch.setattr(pd.DataFrame, "to_csv", lambda *_, **__: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        write_swf(poisson(jobs=5), path)
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_nowhere_to_write(tmp_path):
    with pytest.raises(WorkloadError, match="Cannot write"):
        write_swf(poisson(jobs=5), tmp_path / "no" / "folder.swf")
