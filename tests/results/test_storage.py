"""Saved results: round trip, same bytes, nothing half-written, nothing foreign replaced."""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from hpcsim.errors import ResultError
from hpcsim.policies import EASY, FCFS
from hpcsim.results import storage
from hpcsim.results.result import Result
from hpcsim.results.run import simulate
from hpcsim.results.storage import FILES


def test_a_saved_result_is_loaded_as_it_was(easy, tmp_path):
    folder = tmp_path / "with blank é" / "out"
    easy.save(folder)
    loaded = Result.load(folder)
    assert sorted(entry.name for entry in folder.iterdir()) == sorted(FILES)
    for name in ("jobs", "attempts", "timeline"):
        pd.testing.assert_frame_equal(getattr(loaded, name), getattr(easy, name))
    assert loaded.summary() == easy.summary()
    assert loaded.provenance == storage.plain(easy.provenance)
    assert loaded.ingest == storage.plain(easy.ingest)
    assert repr(loaded) == repr(easy) == "<Result EASY: 5 jobs on 4 nodes>"


def test_the_same_seed_gives_the_same_bytes(workload, cluster, tmp_path):
    for name in ("a", "b"):
        simulate(workload, cluster, EASY(), seed=3).save(tmp_path / name)
    for name in FILES:
        if name != "timings.json":
            assert (tmp_path / "a" / name).read_bytes() == (tmp_path / "b" / name).read_bytes(), name


def test_json_has_no_nan(cluster, workload, tmp_path):
    result = simulate(workload.head(0), cluster, FCFS())
    result.save(tmp_path / "out")
    text = (tmp_path / "out" / "summary.json").read_text()
    assert "NaN" not in text
    assert json.loads(text)["mean_wait_s"] is None


def test_an_older_result_is_replaced_and_nothing_is_left_beside_it(easy, fcfs, tmp_path):
    easy.save(tmp_path / "out")
    fcfs.save(tmp_path / "out")
    assert Result.load(tmp_path / "out").policy_name == "FCFS"
    assert [entry.name for entry in tmp_path.iterdir()] == ["out"]


def test_a_folder_with_foreign_files_is_refused_untouched(easy, tmp_path):
    (tmp_path / "thesis.tex").write_text("mine")
    with pytest.raises(ResultError, match=r"thesis\.tex"):
        easy.save(tmp_path)
    assert [entry.name for entry in tmp_path.iterdir()] == ["thesis.tex"]


def test_a_file_in_the_place_of_the_folder_is_refused(easy, tmp_path):
    (tmp_path / "out").write_text("mine")
    with pytest.raises(ResultError, match="is a file"):
        easy.save(tmp_path / "out")


def test_a_full_disk_leaves_the_older_result_whole(easy, fcfs, tmp_path, monkeypatch):
    easy.save(tmp_path / "out")

    def no_space(path, record):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(storage, "_write_record", no_space)
    with pytest.raises(ResultError, match="No space left"):
        fcfs.save(tmp_path / "out")
    assert Result.load(tmp_path / "out").policy_name == "EASY"
    assert [entry.name for entry in tmp_path.iterdir()] == ["out"]


@pytest.mark.parametrize("name", FILES)
def test_a_truncated_file_is_named(easy, tmp_path, name):
    easy.save(tmp_path / "out")
    path = tmp_path / "out" / name
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
    with pytest.raises(ResultError, match=name):
        Result.load(tmp_path / "out")


@pytest.mark.parametrize("name", FILES)
def test_a_missing_file_is_named(easy, tmp_path, name):
    easy.save(tmp_path / "out")
    (tmp_path / "out" / name).unlink()
    with pytest.raises(ResultError, match=f"has no {name}"):
        Result.load(tmp_path / "out")


def test_a_missing_folder_is_named(tmp_path):
    with pytest.raises(ResultError, match=r"no result folder .*nowhere"):
        Result.load(tmp_path / "nowhere")


def test_foreign_content_under_our_names_is_refused(easy, tmp_path):
    easy.save(tmp_path / "out")
    pd.DataFrame({"x": [1]}).to_parquet(tmp_path / "out" / "jobs.parquet")
    with pytest.raises(ResultError, match=r"jobs\.parquet.*columns x"):
        Result.load(tmp_path / "out")
    easy.save(tmp_path / "out")
    (tmp_path / "out" / "summary.json").write_text("[]")
    with pytest.raises(ResultError, match=r"summary\.json"):
        Result.load(tmp_path / "out")


def test_csv_has_a_line_a_job(easy, tmp_path):
    easy.to_csv(tmp_path / "jobs.csv")
    lines = (tmp_path / "jobs.csv").read_text().splitlines()
    assert lines[0].startswith("row,job_id,submit_s,eligible_s,start_s")
    assert len(lines) == 6
    with pytest.raises(ResultError, match="Cannot write"):
        easy.to_csv(tmp_path / "nowhere" / "jobs.csv")


def test_a_swap_that_fails_brings_the_older_result_back(easy, fcfs, tmp_path, monkeypatch):
    easy.save(tmp_path / "out")
    rename = Path.rename

    def fail_on_draft(path, target):
        if path.suffix == ".draft":
            raise OSError(5, "Input/output error")
        return rename(path, target)

    monkeypatch.setattr(Path, "rename", fail_on_draft)
    with pytest.raises(ResultError, match="Input/output error"):
        fcfs.save(tmp_path / "out")
    assert Result.load(tmp_path / "out").policy_name == "EASY"
    assert [entry.name for entry in tmp_path.iterdir()] == ["out"]


def test_what_json_has_no_word_for_is_written_plainly():
    value = {1: math.nan, "b": (math.inf, -math.inf), "c": frozenset({"y", "x"}), "d": np.int64(3), "e": FCFS}
    assert storage.plain(value) == {"1": None, "b": ["inf", "-inf"], "c": ["x", "y"], "d": 3, "e": str(FCFS)}


@pytest.mark.parametrize("name", ["summary", "provenance", "ingest"])
def test_a_record_of_something_else_is_named(easy, tmp_path, name):
    path = tmp_path / "out" / f"{name}.json"
    easy.save(path.parent)
    record = json.loads(path.read_text())
    for foreign, lacking in (({}, next(iter(record))), (dict(list(record.items())[:-1]), list(record)[-1])):
        path.write_text(json.dumps(foreign))
        with pytest.raises(ResultError, match=rf"{name}\.json: it lacks '{lacking}'\."):
            Result.load(path.parent)


def test_required_keys_are_all_that_a_run_records(easy):
    assert tuple(easy.provenance) == storage.RECORDS["provenance"]
    assert tuple(easy.ingest) == storage.RECORDS["ingest"]
