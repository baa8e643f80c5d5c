"""Sweeps in one process: what is run, what is kept, what is refused."""

from __future__ import annotations

import errno
import json
import math
import shutil
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from hpcsim import Cluster, make_policy, registry, simulate
from hpcsim.errors import ClusterError, DiskFull, ExperimentError, WorkloadError
from hpcsim.experiments import batch
from hpcsim.experiments.experiment import Experiment
from hpcsim.experiments.sweep import Sweep
from hpcsim.results import storage
from tests.experiments.conftest import SMALL, lasting_bytes

RunHere = Callable[..., Sweep]


def of(**change: Any) -> Experiment:
    return Experiment.of(SMALL | change)


def test_cell_is_what_simulate_gives(sweep_here: RunHere, small: Experiment) -> None:
    sweep = sweep_here(small)
    table = sweep.table()
    assert table[["policy", "workload", "seed"]].values.tolist() == [
        ["fcfs", "poisson", 1],
        ["easy", "poisson", 1],
        ["fcfs", "poisson", 2],
        ["easy", "poisson", 2],
    ]
    assert set(table["status"]) == {"finished"}
    for row in table.itertuples():
        workload = registry.make("models", "poisson", jobs=60, nodes=16, load=0.9, seed=row.seed)
        direct = simulate(workload, Cluster.of_nodes(16), make_policy(row.policy), seed=row.seed)
        assert row.mean_wait_s == direct.summary()["mean_wait_s"]
        assert sweep.result(row.cell).jobs.equals(direct.jobs)
        assert sweep.result(row.cell).provenance["seed"] == row.seed


def test_table_is_read_back_from_the_folder(sweep_here: RunHere, small: Experiment) -> None:
    sweep = sweep_here(small)
    again = Sweep.load(sweep.folder)
    assert again.table().equals(sweep.table())
    written = pd.read_csv(sweep.folder / "table.csv")
    assert written["mean_wait_s"].tolist() == sweep.table()["mean_wait_s"].tolist()
    assert again.table(metrics=("max_wait_s",)).columns[-1] == "max_wait_s"
    with pytest.raises(ExperimentError, match="Did you mean 'max_wait_s'"):
        again.table(metrics=("max_wait",))


def test_grid_loads_windows_clusters_and_nested_plug_ins(sweep_here: RunHere) -> None:
    experiment = of(
        policies=[{"name": "fcfs"}, {"name": "backfill", "grid": {"depth": [1, 9], "order": ["saf", {"name": "sjf"}]}}],
        workloads=[
            {
                "model": "poisson",
                "label": "w",
                "parameters": {"nodes": 16},
                "grid": {"jobs": [40, 50]},
                "loads": [0.5, 1.5],
                "windows": [{"jobs": 10}, {"skip": 10}],
            }
        ],
        clusters=[{"nodes": 16}, {"nodes": 32, "label": "twice"}],
        seeds=[7],
    )
    table = sweep_here(experiment).table()
    assert len(table) == 5 * 2 * 2 * 2 * 2
    assert list(table.columns[1:10]) == [
        *("policy", "policy.depth", "policy.order", "workload", "workload.jobs"),
        *("window", "seed", "load", "cluster"),
    ]
    assert set(table["policy"]) == {"fcfs"} | {f"backfill depth={d} order={o}" for d in (1, 9) for o in ("saf", "sjf")}
    assert set(table["policy.depth"]) == {None, 1, 9}
    assert set(table["window"]) == {"jobs 1-10", "jobs 11-"}
    assert set(table["cluster"]) == {"16 nodes", "twice"}


def test_order_by_name_is_that_order(sweep_here: RunHere) -> None:
    sweep = sweep_here(of(policies=[{"name": "backfill", "parameters": {"order": {"name": "sjf"}}}]))
    result = sweep.result(sweep.cells[0][0])
    assert result.provenance["policy"]["parameters"]["order"]["class"] == "SJF"


def test_load_is_met_and_window_is_the_right_jobs(sweep_here: RunHere) -> None:
    entry = SMALL["workloads"][0] | {"loads": [1.7], "windows": [{"skip": 20, "jobs": 30}]}
    sweep = sweep_here(of(workloads=[entry], policies=[{"name": "easy"}], seeds=[3]))
    result = sweep.result(sweep.cells[0][0])
    given = registry.make("models", "poisson", jobs=60, nodes=16, load=0.9, seed=3)
    assert result.jobs["job_id"].tolist() == given.columns["job_id"][20:50].tolist()
    assert result.summary()["offered_load"] == pytest.approx(1.7, rel=1e-3)
    assert result.provenance["workload"]["provenance"]["transformations"][0] == "jobs 21 to 50 by arrival"


def test_log_is_read_with_its_own_machine(shared: Path, sweep_here: RunHere) -> None:
    log = str(shared / "samples" / "head200-KTH-SP2-1996-2.1-cln.swf")
    sweep = sweep_here(of(workloads=[{"file": log, "parameters": {"limit_rows": 50}}], seeds=[4, 5]))
    table = sweep.table()
    assert len(table) == 2, "a log has one replicate unless it lists seeds: no policy here draws anything"
    assert set(table["workload"]) == {"head200-KTH-SP2-1996-2.1-cln"}
    result = sweep.result(table["cell"][0])
    assert (result.nodes, result.counted, len(result.jobs)) == (100, "processors", 50)


def test_seeds_of_one_log_are_runs_of_their_own(shared: Path, sweep_here: RunHere) -> None:
    log = str(shared / "samples" / "head200-KTH-SP2-1996-2.1-cln.swf")
    entry = {"file": log, "parameters": {"limit_rows": 20}, "seeds": [4, 5]}
    table = sweep_here(of(workloads=[entry], policies=[{"name": "easy"}])).table()
    assert table["seed"].tolist() == [4, 5]
    assert table["cell"].nunique() == 2


def test_workload_is_generated_once_for_all_cells(tmp_path: Path, sweep_here: RunHere) -> None:
    (tmp_path / "model.py").write_text(
        "from pathlib import Path\nfrom hpcsim import Workload\n\n"
        "def counted(*, seed=0):\n"
        f"    with Path({str(tmp_path / 'calls')!r}).open('a') as file: file.write('x')\n"
        "    return Workload.of(submit_s=[0, seed], run_s=[5, 5], nodes=[1, 2])\n"
    )
    experiment = of(
        workloads=[{"model": f"{tmp_path / 'model.py'}:counted", "loads": [0.5, 0.9]}],
        clusters=[{"nodes": 2}],
        policies=[{"name": name} for name in ("fcfs", "easy", "sjf")],
    )
    sweep_here(experiment)
    assert (tmp_path / "calls").read_text() == "xx", "once for each of two seeds, not for each of twelve cells"
    sweep_here(experiment, resume=True)
    assert (tmp_path / "calls").read_text() == "xx"


def test_same_bytes_again_and_in_another_order(tmp_path: Path, small: Experiment, sweep_here: RunHere) -> None:
    first = lasting_bytes(sweep_here(small, tmp_path / "a").folder)
    with ThreadPoolExecutor(3) as executor:
        batch.run(small, tmp_path / "b", executor=executor)
    assert first == lasting_bytes(tmp_path / "b")
    assert len(first) == 1 + 4 * 7


def test_failed_cell_keeps_its_error_and_the_rest_goes_on(tmp_path: Path, sweep_here: RunHere) -> None:
    policy = tmp_path / "fails.py"
    policy.write_text(
        "from hpcsim.policies.backfill import EASY\n\nclass Fails(EASY):\n"
        "    def schedule(self, system):\n        if any(job.row == 30 for job in system.queue):\n"
        "            raise KeyError('no such thing')\n        return super().schedule(system)\n"
    )
    experiment = of(policies=[{"name": f"{policy}:Fails"}, {"name": "easy"}])
    sweep = sweep_here(experiment)
    table = sweep.table().set_index("policy")
    assert list(table.loc["easy", "status"]) == ["finished"] * 2
    assert list(table.loc["Fails", "status"]) == ["failed"] * 2
    assert "no such thing" in table.loc["Fails", "error"].iloc[0]
    assert math.isnan(table.loc["Fails", "mean_wait_s"].iloc[0])
    key = table.loc["Fails", "cell"].iloc[0]
    record = json.loads((sweep.folder / "failed" / f"{key}.json").read_text())
    assert "fails.py" in record["traceback"]
    assert storage.read_record(sweep.folder / "partial" / key, "provenance")["complete"] is False
    with pytest.raises(ExperimentError, match=r"is failed: .*no such thing"):
        sweep.result(key)

    policy.write_text("from hpcsim.policies.backfill import EASY\n\nclass Fails(EASY):\n    pass\n")
    mended = sweep_here(experiment, resume=True).table()
    assert set(mended["status"]) == {"finished"}


def test_resume_skips_what_has_finished(sweep_here: RunHere, small: Experiment) -> None:
    folder = sweep_here(small).folder
    before = {path: path.stat().st_mtime_ns for path in (folder / "cells").iterdir()}
    told = []
    sweep_here(small, resume=True, progress=told.append)
    assert [(p.cells, p.found, p.done) for p in told] == [(4, 4, 0)]
    assert {path: path.stat().st_mtime_ns for path in (folder / "cells").iterdir()} == before


def test_sweep_that_grows_keeps_its_cells(sweep_here: RunHere, small: Experiment) -> None:
    sweep_here(small)
    told = []
    sweep_here(of(seeds=[1, 2, 3], name="more"), resume=True, progress=told.append)
    assert [(p.cells, p.found, p.done) for p in told] == [(6, 4, 0), (6, 4, 1), (6, 4, 2)]


def test_folder_with_a_sweep_needs_resume(sweep_here: RunHere, small: Experiment) -> None:
    folder = sweep_here(small).folder
    with pytest.raises(ExperimentError, match=r"holds a sweep already. Add --resume"):
        sweep_here(small, folder)


def test_foreign_folder_is_left_alone(tmp_path: Path, sweep_here: RunHere, small: Experiment) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.tex").write_text("x")
    with pytest.raises(ExperimentError, match=r"holds 'thesis.tex'"):
        sweep_here(small, tmp_path / "mine")
    with pytest.raises(ExperimentError, match="is a file"):
        sweep_here(small, tmp_path / "mine" / "thesis.tex")
    assert [entry.name for entry in (tmp_path / "mine").iterdir()] == ["thesis.tex"]
    with pytest.raises(ExperimentError, match="no sweep in"):
        Sweep.load(tmp_path / "mine")


@pytest.mark.parametrize(
    "name", ["jobs.parquet", "attempts.parquet", "timeline.parquet", "summary.json", "provenance.json", "ingest.json"]
)
def test_truncated_file_is_named_and_its_cell_run_again(name: str, sweep_here: RunHere, small: Experiment) -> None:
    sweep = sweep_here(small)
    whole = lasting_bytes(sweep.folder)
    key = sweep.cells[1][0]
    path = sweep.folder / "cells" / key / name
    path.write_bytes(path.read_bytes()[:-20])
    damaged = Sweep.load(sweep.folder).table().set_index("cell").loc[key]
    assert damaged["status"] == "damaged"
    assert name in damaged["error"]
    assert math.isnan(damaged["mean_wait_s"])
    said: list[str] = []
    sweep_here(small, resume=True, notice=said.append)
    assert len(said) == 1
    assert name in said[0]
    assert lasting_bytes(sweep.folder) == whole


def test_result_of_something_else_is_not_read(sweep_here: RunHere, small: Experiment) -> None:
    sweep = sweep_here(small)
    whole = lasting_bytes(sweep.folder)
    (mine, _), (other, _), (third, _), _ = sweep.cells
    cells = sweep.folder / "cells"
    shutil.rmtree(cells / mine)
    shutil.copytree(cells / other, cells / mine)
    (cells / third / "notes.txt").write_text("hello")
    (cells / "stray").mkdir()
    table = sweep.table().set_index("cell")
    assert "holds the result of something else" in table.loc[mine, "error"]
    assert "notes.txt" in table.loc[third, "error"]
    assert [path.name for path in sweep.foreign()] == ["stray"]
    said: list[str] = []
    sweep_here(small, resume=True, notice=said.append)
    assert len(said) == 3
    assert (cells / "stray").is_dir(), "what is not ours is left alone"
    assert lasting_bytes(sweep.folder) == whole


def test_truncated_plan_is_named(sweep_here: RunHere, small: Experiment) -> None:
    plan = sweep_here(small).folder / "sweep.json"
    plan.write_text(plan.read_text()[:-50])
    with pytest.raises(ExperimentError, match=r"sweep.json"):
        Sweep.load(plan.parent)
    sweep_here(small, resume=True)
    plan.write_text("[1]")
    with pytest.raises(ExperimentError, match="is no plan"):
        Sweep.load(plan.parent)


def test_leftovers_of_killed_workers_are_swept_up(sweep_here: RunHere, small: Experiment) -> None:
    cells = sweep_here(small).folder / "cells"
    (cells / ".0123.abcd.draft").mkdir()
    (cells / ".0123.abcd.draft" / "jobs.parquet").write_bytes(b"PAR1")
    sweep_here(small, resume=True)
    assert len(list(cells.iterdir())) == 4


def test_disk_full_stops_the_sweep_and_resume_goes_on(
    tmp_path: Path, sweep_here: RunHere, small: Experiment, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = lasting_bytes(sweep_here(small, tmp_path / "whole").folder)
    writer, written = storage._write_table, []

    def fill(path: Path, table: Any) -> None:
        written.append(path)
        if len(written) > 9:  # in the third cell, of four tables each
            raise OSError(errno.ENOSPC, "No space left on device")
        writer(path, table)

    monkeypatch.setattr(storage, "_write_table", fill)
    with pytest.raises(DiskFull, match=r"No space left on device. Free some space, .* --resume"):
        sweep_here(small)
    monkeypatch.undo()
    sweep = Sweep.load(tmp_path / "sweep")
    assert sorted(sweep.table()["status"]) == ["finished", "finished", "missing", "missing"]
    sweep_here(small, resume=True)
    assert lasting_bytes(sweep.folder) == whole


def test_second_sweep_in_the_folder_is_refused(sweep_here: RunHere, small: Experiment, tmp_path: Path) -> None:
    refused: list[str] = []

    def try_another(_: object) -> None:
        with ThreadPoolExecutor(1) as executor, pytest.raises(ExperimentError) as caught:
            batch.run(small, tmp_path / "sweep", executor=executor, resume=True)
        refused.append(str(caught.value))

    sweep_here(small, progress=try_another)
    assert len(refused) == 5
    assert "Another sweep is running in" in refused[0]
    assert "process " in refused[0]
    assert set(sweep_here(small, resume=True).table()["status"]) == {"finished"}


@pytest.mark.parametrize(
    ("change", "error", "words"),
    [
        ({"baseline": "esay"}, ExperimentError, "baseline names the policy 'esay'.*Did you mean 'easy'"),
        ({"baseline": {"cluster": "64"}}, ExperimentError, "Known: none"),
        ({"policies": [{"name": "easy"}, {"name": "easy"}]}, ExperimentError, "Two of the policies are called 'easy'"),
        ({"clusters": [{"nodes": 4}, {"nodes": 4}]}, ExperimentError, "Two of the clusters are called '4 nodes'"),
        ({"clusters": [{"file": "no.toml"}]}, ClusterError, "no.toml"),
        ({"workloads": [{"file": "no.swf"}]}, ExperimentError, "Cannot read the log no.swf"),
        ({"clusters": [{"nodes": 4, "power_caps_w": [100.0]}]}, ClusterError, "no watts are known"),
        ({"workloads": [{"model": "poisson", "parameters": {"jobs": 0}}]}, WorkloadError, "0 jobs"),
    ],
)
def test_what_makes_no_sense_is_refused_before_any_run(
    change: dict[str, Any], error: type[Exception], words: str, sweep_here: RunHere, tmp_path: Path
) -> None:
    with pytest.raises(error, match=words):
        sweep_here(of(**change))
    cells = tmp_path / "sweep" / "cells"
    assert not cells.exists() or not list(cells.iterdir())


def test_log_without_a_machine_asks_for_one(tmp_path: Path, sweep_here: RunHere) -> None:
    log = tmp_path / "log.swf"
    log.write_text("1 0 -1 10 4 -1 -1 4 20 -1 1 7 1 1 1 -1 -1 -1\n")
    with pytest.raises(ExperimentError, match=r"does not say how large its machine is. Add \[\[clusters\]\]"):
        sweep_here(of(workloads=[{"file": str(log)}]))


def test_warnings_of_readers_are_passed_on(tmp_path: Path, sweep_here: RunHere) -> None:
    log = tmp_path / "log.swf"
    good = "1 0 -1 10 4 -1 -1 4 20 -1 1 7 1 1 1 -1 -1 -1\n"
    log.write_text("; MaxProcs: 8\n" + good + good.replace("10 4", "-10 4"))
    said: list[str] = []
    sweep_here(of(workloads=[{"file": str(log)}], seeds=[1]), notice=said.append)
    assert any("log.swf" in text for text in said)


def test_log_of_any_format_is_told_by_its_content(tmp_path: Path, sweep_here: RunHere) -> None:
    (tmp_path / "log.csv").write_text("submit_s,run_s,limit_s,nodes\n0,100,100,1\n0,50,50,1\n")
    described = Experiment.of(
        {"policies": [{"name": "easy"}], "workloads": [{"file": "log.csv"}], "clusters": [{"nodes": 1}]},
        folder=tmp_path,
    )
    table = sweep_here(described).table()
    assert (table["workload"][0], table["status"][0], table["mean_wait_s"][0]) == ("log.csv", "finished", 50)
