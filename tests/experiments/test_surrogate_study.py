"""The surrogate study: its plan, resuming, tables, verdicts by hand, and files without a truth."""

from __future__ import annotations

import json
import math
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from hpcsim import registry
from hpcsim.errors import ExperimentError, HpcsimError
from hpcsim.experiments.surrogate_study import PRESETS, Cell, Preset, cells, run_study
from hpcsim.experiments.surrogate_study.plan import BESIDE_RAW, SAME_ROWS
from hpcsim.experiments.surrogate_study.verdicts import compared, comparisons, verdicts
from hpcsim.surrogates.study.data import prepared

needs_advisor = pytest.mark.skipif(find_spec("lightgbm") is None, reason="pip install 'hpcsim-des[advisor]'")

TINY = Preset(
    jobs=400,
    seeds=2,
    test_jobs=6,
    most_nodes=16,
    epochs=1,
    families=("lightgbm", "scaling-law", "app-mean"),
    inputs=(),
    variants=("uniform",),
    rates=(0.5,),
    engines=("loggrid", "random", "random-shared"),
    budget=5,
    engine_jobs=2,
    mobo_jobs=0,
)


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("study") / "tiny"
    run_study("synth-pm100", folder, preset=TINY)
    return folder


def table(folder: Path, name: str) -> pd.DataFrame:
    return pd.read_csv(folder / "tables" / f"{name}.csv")


def test_plan_varies_one_factor_at_a_time() -> None:
    base = Cell(jobs=200)
    for cell in cells(PRESETS["full"]):
        around = {"family", "epochs"} if cell.factor == "family" else set()
        around |= {"inputs": {"family", "inputs", "epochs"}, "sampling": {"variant", "rate"}}.get(cell.factor, set())
        around |= {"family", "engine", "budget", "jobs"} if cell.factor == "engine" else set()
        changed = {name for name in base.__slots__ if getattr(cell, name) != getattr(base, name)}
        assert changed - {"factor", "label", "seed"} <= around


def test_presets_hold_what_is_promised() -> None:
    for name, jobs in (("smoke", 0), ("demo", 1), ("full", 20)):
        found = [cell for cell in cells(PRESETS[name]) if cell.engine == "mobo"]
        assert {cell.jobs for cell in found} == ({jobs} if jobs else set())
    full = cells(PRESETS["full"])
    assert {cell.seed for cell in full} == set(range(5))
    assert {cell.budget for cell in full if cell.engine == "mobo"} == {300}
    assert {cell.family for cell in full} == set(registry.names("surrogates"))


def test_key_follows_from_everything_but_names() -> None:
    cell = Cell()
    assert cell.key("log") == Cell(factor="family", label="another").key("log")
    others = {Cell(rate=0.5).key("log"), Cell(seed=1).key("log"), Cell(engine="mobo").key("log"), cell.key("other")}
    assert len({cell.key("log"), *others}) == 5


@needs_advisor
def test_every_table_has_a_row_a_cell_and_seed(study: Path) -> None:
    for name in ("self_graded", "truth_graded", "cost"):
        found = table(study, name)
        assert len(found) == len(cells(TINY))
        assert not found.duplicated(["factor", "label", "seed"]).any()
    assert {path.stem for path in (study / "plots").glob("*.png")} >= {"fronts", "hypervolume", "sampling"}
    page = (study / "study.md").read_text()
    assert "graded by its own predictions" in page
    assert "+24 %" in page
    assert "**H2** " in page


@needs_advisor
def test_figures_are_within_their_bounds(study: Path) -> None:
    truth, own, cost = (table(study, name) for name in ("truth_graded", "self_graded", "cost"))
    assert truth["hv_ratio"].between(0, 1 + 1e-9).all()
    assert (truth[["edp_regret_median", "energy_regret_median"]] >= 0).all().all()
    assert (own["front_size"] <= own["evaluations"]).all()
    assert own.loc[own["engine"] == "exact", "evaluations"].eq(TINY.most_nodes).all()
    assert own.loc[own["factor"] == "engine", "evaluations"].max() <= TINY.most_nodes
    assert cost.loc[cost["factor"] == "sampling", "realised_rate"].between(0.3, 0.7).all()


@needs_advisor
def test_finished_study_is_not_run_again_and_a_stopped_one_goes_on(study: Path) -> None:
    before = {path.name: path.stat().st_mtime_ns for path in (study / "cells").iterdir()}
    csv = (study / "tables" / "truth_graded.csv").read_bytes()
    lost = min(before)
    (study / "cells" / lost).unlink()
    with pytest.raises(ExperimentError, match="holds a study already"):
        run_study("synth-pm100", study, preset=TINY)
    run = []
    run_study("synth-pm100", study, preset=TINY, resume=True, progress=lambda *told: run.append(told))
    assert [told[:2] for told in run] == [(0, 1)]
    after = {path.name: path.stat().st_mtime_ns for path in (study / "cells").iterdir()}
    assert after.keys() == before.keys()
    assert all(after[name] == before[name] for name in before if name != lost)
    assert (study / "tables" / "truth_graded.csv").read_bytes() == csv


@needs_advisor
def test_damaged_cell_is_named(study: Path) -> None:
    path = min((study / "cells").iterdir())
    whole = path.read_text()
    path.write_text(whole[:50])
    with pytest.raises(ExperimentError, match=f"{path.name} is damaged"):
        run_study("synth-pm100", study, preset=TINY, resume=True)
    path.write_text(whole)


def test_what_cannot_be_studied_is_said(tmp_path: Path) -> None:
    with pytest.raises(ExperimentError, match="Did you mean 'synth-pm100'"):
        run_study("synth-pm10", tmp_path / "a")
    with pytest.raises(ExperimentError, match=r"no preset 'smok'\. Did you mean 'smoke'"):
        run_study("synth-pm100", tmp_path / "a", preset="smok")
    (tmp_path / "mine").write_text("x")
    with pytest.raises(ExperimentError, match="is not empty and holds no study"):
        run_study("synth-pm100", tmp_path)


@needs_advisor
def test_real_file_has_no_truth_and_says_so(tmp_path: Path) -> None:
    """A file as PM100's: accuracy and cost are told, grades by the truth stay empty, H1 rests on errors."""
    workload = registry.make("models", "synth-pm100", jobs=400, seed=3)
    path = tmp_path / "job_table.parquet"  # PM100's and Adastra's look alike: the reader is named
    registry.find("writers", "job-table")(workload, path)
    small = Preset(**{**{name: getattr(TINY, name) for name in TINY.__slots__}, "seeds": 1, "families": ("app-mean",)})
    run_study(str(path), tmp_path / "out", preset=small, reader="pm100")
    found = table(tmp_path / "out", "truth_graded")
    assert "hv_ratio" not in found
    assert "lightgbm, raw+post-run" in set(found["label"])  # the file has peaks of power
    assert "All seeds have this one log" in (tmp_path / "out" / "study.md").read_text()
    assert found["run_rmse_log"].notna().all()
    with pytest.raises(ExperimentError, match="another log or another preset"):
        run_study("synth-pm100", tmp_path / "out", preset=small, resume=True)


def test_paired_interval_by_hand() -> None:
    """Gains 1, 2, 3: mean 2, standard error 1 / sqrt 3, t(0.975, 2) = 4.3027: 2 -+ 2.4842; t = 3.4641, p = 0.0742."""
    found = compared("H2", "a", "b", "m", [1, 2, 3, math.nan])
    assert (found.pairs, found.gain) == (3, 2)
    assert (found.low, found.high) == pytest.approx((2 - 2.4842, 2 + 2.4842), abs=1e-3)
    assert found.p_value == pytest.approx(0.0742, abs=1e-4)
    assert found.shown == "none"
    assert compared("H2", "a", "b", "m", [1.0]).shown == "no interval"
    assert compared("H2", "a", "b", "m", [1, 1.1, 0.9]).shown == "better"
    assert compared("H2", "a", "b", "m", [-1, -1.1, -0.9]).shown == "worse"


def engine_cell(engine: str, shares: list[float], seed: int = 0) -> tuple[Cell, dict[str, Any]]:
    trace = [{"evaluations": 4, "by_job": [0.1] * len(shares)}, {"evaluations": 8, "by_job": shares}]
    return Cell(factor="engine", engine=engine, seed=seed), {"trace": trace, "truth_graded": {}}


def family_cell(family: str, inputs: str, seed: int, ratio: float) -> tuple[Cell, dict[str, Any]]:
    answer = {"truth_graded": {"hv_ratio": ratio, "run_rmse_log": 1 - ratio}}
    return Cell(factor="inputs", family=family, inputs=inputs, seed=seed), answer


def test_no_is_an_answer() -> None:
    """MOBO gains 0.1 on chance and loses as much to SOBO; embeddings lose a hundredth on each seed."""
    cells_ = [engine_cell("mobo-fixed", [0.8, 0.81, 0.79]), engine_cell("random", [0.7, 0.7, 0.7])]
    cells_ += [engine_cell("sobo-power", [0.9, 0.92, 0.89])]
    for seed in range(3):
        cells_ += [family_cell("lightgbm", "raw", seed, 0.5), family_cell("tabnet", "raw", seed, 0.3)]
        cells_ += [family_cell("lightgbm", "raw+embedding", seed, 0.49 - 0.001 * seed)]
    found = comparisons(cells_)
    decided = verdicts(found)
    assert decided["H1"].startswith("no, 0 of 1")  # better than TabNet, which decides nothing
    assert "lightgbm, raw+embedding is worse than lightgbm, raw" in decided["H1"]
    assert decided["H2"].startswith("no, 1 of 2")
    assert "mobo-fixed is worse than sobo-power" in decided["H2"]
    assert {one.measure for one in found if one.claim == "H2"} == {"HV share at 8"}


def test_a_job_searched_on_every_seed_of_one_log_counts_once() -> None:
    """Two jobs, three seeds: gains 0.1 and 0.3 each time. Six pairs of several logs, two of one log."""
    cells_ = []
    for seed in range(3):
        cells_ += [engine_cell("mobo-fixed", [0.8, 0.9], seed), engine_cell("random", [0.7, 0.6], seed)]
    several, one = (comparisons(cells_, is_one_log=is_one)[0] for is_one in (False, True))
    assert (several.pairs, one.pairs) == (6, 2)
    assert several.gain == pytest.approx(one.gain) == pytest.approx(0.2)
    assert (one.low, one.high) == pytest.approx((0.2 - 12.706 * 0.1, 0.2 + 12.706 * 0.1), abs=1e-3)  # t(0.975, 1)


@pytest.mark.filterwarnings("ignore:.*there are no jobs")
def test_a_folder_whose_study_never_got_a_result_can_be_used_again(tmp_path: Path) -> None:
    empty = tmp_path / "empty.swf"
    empty.write_text("")
    for data in (str(empty), "poisson"):
        with pytest.raises(HpcsimError, match="can be judged"):
            run_study(data, tmp_path / "out")


def test_yes_needs_every_comparison() -> None:
    cells_ = [engine_cell("mobo", [0.8, 0.81, 0.79]), engine_cell("random", [0.7, 0.7, 0.7])]
    assert verdicts(comparisons(cells_))["H2"].startswith("yes, 1 of 1")
    assert verdicts(comparisons(cells_))["H1"].startswith("not decided")


@needs_advisor
def test_trial_is_blind_to_the_truth_of_the_jobs_it_judges() -> None:
    """Scaling the hidden laws of the judged jobs changes their grades and not what is predicted of them."""
    workload = registry.make("models", "synth-pm100", jobs=400, seed=1)
    other = workload.select(np.arange(len(workload)), "same jobs")
    other.columns["scaling_a"] = workload.columns["scaling_a"] * 0.5
    order = {"family": "lightgbm", "parameters": {}, "sampler": None, "engine": "exact", "budget": None}
    order |= {"jobs": 6, "seed": 0}
    trial = registry.find("studies", "node-advisor")
    first, second = (trial(log, test_jobs=6, most_nodes=16).run(order) for log in (workload, other))
    assert first["self_graded"] == second["self_graded"]
    assert first["truth_graded"] != second["truth_graded"]
    assert json.dumps(first["fronts"]["predicted"]) == json.dumps(second["fronts"]["predicted"])


def test_tabnet_decides_nothing_and_both_ways_of_learning_do() -> None:
    """Embeddings beside raw features beat raw trees and lose to TabNet: yes, as long as both ways of learning win."""
    cells_ = []
    for seed in range(3):
        cells_ += [family_cell("lightgbm", "raw", seed, 0.5), family_cell("tabnet", "raw", seed, 0.9)]
        cells_ += [family_cell("lightgbm", "raw+embedding", seed, 0.6 + 0.001 * seed)]
    assert verdicts(comparisons(cells_))["H1"].startswith("yes, 1 of 1")
    lost = [family_cell("lightgbm", SAME_ROWS, seed, 0.4 + 0.001 * seed) for seed in range(3)]
    assert verdicts(comparisons([*cells_, *lost]))["H1"].startswith("no, 1 of 2")


def test_inputs_on_the_same_rows_are_not_cross_fitted() -> None:
    split, same = (Cell(inputs=inputs, epochs=2).order()["parameters"] for inputs in BESIDE_RAW)
    assert split == {"inputs": "raw+embedding", "epochs": 2}
    assert same == split | {"cross_fit": False}


def test_engines_are_compared_at_evaluations_that_both_have_made() -> None:
    """One stopped after 6 evaluations, the other has rows at 4 and 8: 4 is what both have, not 4 against 6."""
    short = engine_cell("mobo-fixed", [0.9, 0.9])
    short[1]["trace"][1]["evaluations"] = 6
    (found,) = comparisons([short, engine_cell("random", [0.7, 0.6])])
    assert (found.measure, found.gain) == ("HV share at 4", 0)


def test_nothing_is_learned_from_jobs_that_still_ran() -> None:
    """A job that is judged was submitted after all that its surrogate learned from had ended."""
    workload = registry.make("models", "synth-pm100", jobs=1_000, seed=1)
    data = prepared(workload, test_jobs=50, most_nodes=32)
    assert data.train["end_s"].max() < data.tested["submit_s"].min()
    assert data.funnel["submitted earlier"] > len(data.train) > 0.9 * data.funnel["submitted earlier"]


@needs_advisor
def test_embedding_costs_only_where_there_is_one(study: Path) -> None:
    assert table(study, "cost")["embed_ms"].isna().all()
