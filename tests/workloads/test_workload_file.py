"""hpcsim's own Parquet file: nothing lost, the truth apart."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from hpcsim import Workload
from hpcsim.errors import WorkloadError
from hpcsim.scaling import TABLE, TRUTH, scaling_of
from hpcsim.speedup import Table
from hpcsim.workloads.models.lublin import lublin
from hpcsim.workloads.models.synth import synth_pm100
from hpcsim.workloads.readers.swf import read_swf
from hpcsim.workloads.readers.workload_file import read_workload
from hpcsim.workloads.truth_files import truth_path
from hpcsim.workloads.writers.swf import write_swf
from hpcsim.workloads.writers.table import write_table
from hpcsim.workloads.writers.workload_file import write_workload


def assert_equal(one: Workload, two: Workload) -> None:
    assert one.sha256() == two.sha256()
    for name in ("machine_nodes", "counted", "limits_are_run_times", "header", "provenance"):
        assert getattr(one, name) == getattr(two, name), name


def test_round_trip_of_a_model(tmp_path):
    workload = lublin(jobs=300, estimates="tsafrir").head(200)
    write_workload(workload, tmp_path / "l.parquet")
    assert_equal(read_workload(tmp_path / "l.parquet"), workload)
    assert not truth_path(tmp_path / "l.parquet").exists()


def test_round_trip_of_a_real_log(tmp_path, shared, read):
    workload = read(shared / "samples" / "head200-SDSC-SP2-1998-4.2-cln.swf")
    write_workload(workload, tmp_path / "l.parquet")
    assert_equal(read_workload(tmp_path / "l.parquet"), workload)


def test_round_trip_with_texts_and_tuples(tmp_path):
    workload = Workload.of(
        submit_s=[0.5, 1],
        run_s=[1, 2],
        nodes=[1, 1],
        partitions=[("a", "b"), ()],
        name=["x", None],
        power_w=[1.5, float("nan")],
    )
    workload.columns["name"] = workload.columns["name"].astype(object)
    write_workload(workload, tmp_path / "l.parquet")
    again = read_workload(tmp_path / "l.parquet")
    assert again.partitions.tolist() == [("a", "b"), ()]
    assert list(again.jobs()) == list(workload.jobs())


def test_truth_comes_only_when_asked_for(tmp_path):
    workload = synth_pm100(jobs=200)
    path = tmp_path / "s.parquet"
    write_workload(workload, path)
    plain = read_workload(path)
    assert not set(plain.columns) & set(TRUTH)
    assert not set(pd.read_parquet(path).columns) & set(TRUTH)
    assert plain.allowed_nodes.tolist() == workload.allowed_nodes.tolist()
    full = read_workload(path, truth=truth_path(path))
    assert full.sha256() == workload.sha256()


def test_truth_of_another_log_is_refused(tmp_path):
    """A log that is written over another leaves the old one's truth where it was, under the same job ids."""
    path = tmp_path / "s.parquet"
    write_workload(synth_pm100(jobs=50), path)
    write_workload(lublin(jobs=50), path)
    with pytest.raises(WorkloadError, match="other node counts than the log"):
        read_workload(path, truth=truth_path(path))


def test_tables_hold_no_truth(tmp_path):
    write_table(synth_pm100(jobs=50), tmp_path / "s.csv")
    assert not set(pd.read_csv(tmp_path / "s.csv").columns) & set(TRUTH)


def test_measured_run_times_are_truth_as_well(tmp_path):
    workload = synth_pm100(jobs=3)
    workload.columns["scaling_law"][1] = TABLE
    workload.columns["scaling_table"] = np.array([None, ((1, 64), (10.0, 2.5)), None], dtype=object)
    path = tmp_path / "s.parquet"
    write_workload(workload, path)
    assert "scaling_table" not in read_workload(path).columns
    assert scaling_of(read_workload(path, truth=truth_path(path)), 1).law == Table((1, 64), (10.0, 2.5))


def test_first_rows(tmp_path):
    write_workload(lublin(jobs=30), tmp_path / "l.parquet")
    assert len(read_workload(tmp_path / "l.parquet", limit_rows=7)) == 7


def test_foreign_files_are_refused(tmp_path):
    pd.DataFrame({"a": [1]}).to_parquet(tmp_path / "other.parquet")
    (tmp_path / "text.parquet").write_text("no parquet")
    with pytest.raises(WorkloadError, match="is not a workload that this version of hpcsim wrote"):
        read_workload(tmp_path / "other.parquet")
    for name in ("text.parquet", "missing.parquet"):
        with pytest.raises(WorkloadError, match=r"is no Parquet file|There is no file"):
            read_workload(tmp_path / name)


def test_texts_that_are_damaged_are_one_sentence(tmp_path):
    """The name's bytes are no UTF-8, as one flipped bit makes them."""
    path = tmp_path / "w.parquet"
    write_workload(Workload.of(submit_s=[0], run_s=[1], nodes=[1], name=np.array(["abcd" * 9], dtype=object)), path)
    table = pq.read_table(path)
    bad = pa.StringArray.from_buffers(1, pa.py_buffer(np.array([0, 1], np.int32).tobytes()), pa.py_buffer(b"\xe3"))
    pq.write_table(table.set_column(table.column_names.index("name"), "name", bad), path)
    with pytest.raises(WorkloadError, match="is no Parquet file that can be read: "):
        read_workload(path)


def test_generated_logs_name_their_machine_in_swf(tmp_path):
    """Even where the widest job takes all of it: a reader could only guess that."""
    write_swf(lublin(jobs=2000, nodes=16, seed=1), tmp_path / "l.swf")
    again = read_swf(tmp_path / "l.swf")
    assert again.header["MaxProcs"] == ["16"]
    assert [rule.rule for rule in again.ledger.rules if "machine" in rule.rule] == []
