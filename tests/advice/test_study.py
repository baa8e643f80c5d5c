"""The study of advice: its plan, its parts, its tables by hand, and the same bytes however it was run."""

from __future__ import annotations

import json
import math
import os
import shutil
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from hpcsim import registry
from hpcsim.cli import app
from hpcsim.errors import ExperimentError
from hpcsim.experiments.advice_study import plan, runs
from hpcsim.experiments.advice_study.figures import jackknife
from hpcsim.experiments.advice_study.headroom import headroom
from hpcsim.experiments.advice_study.pictures import APART, ticks
from hpcsim.experiments.advice_study.plan import FIRST_SEED, PRESETS, USERS, Preset, Scenario, cells, only
from hpcsim.experiments.advice_study.scenes import IDLE_W
from hpcsim.experiments.advice_study.study import known_headroom, run
from hpcsim.experiments.advice_study.tables import on_common_horizon, paired
from hpcsim.experiments.advice_study.targets import GREEN, OURS, graded
from hpcsim.results.statistics.student import mean_interval
from hpcsim.scaling import LAWS

needs_advisor = pytest.mark.skipif(find_spec("lightgbm") is None, reason="pip install 'hpcsim-des[advisor]'")

TINY = Preset(2, 40, 150, ("base", "adoption"))
NAMES = ("headroom", "system", "paired", "classes", "targets")


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("study") / "whole"
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(PRESETS, "smoke", TINY)
        run("smoke", folder)
    return folder


def table(folder: Path, name: str) -> pd.DataFrame:
    return pd.read_csv(folder / "tables" / f"{name}.csv")


def tables(folder: Path) -> dict[str, bytes]:
    return {name: (folder / "tables" / f"{name}.csv").read_bytes() for name in NAMES}


def test_plan_varies_one_factor_at_a_time() -> None:
    base = Scenario()
    for cell in cells(PRESETS["full"]):
        changed = {name for name in Scenario.__slots__ if getattr(cell.scenario, name) != getattr(base, name)}
        assert len(changed - {"nodes"}) <= 1
    assert PRESETS["full"].seeds >= 10
    law = {cell.arm.parameters.get("margin") for cell in cells(only(PRESETS["full"], ["margin"], 1))}
    assert law == {None, *plan.LAW_MARGINS}
    assert {"fcfs", "ppo-gtrxl"} <= {cell.scenario.policy for cell in cells(PRESETS["demo"])}


def test_a_part_of_a_preset_has_cells_of_the_whole() -> None:
    full = PRESETS["full"]
    part = only(full, ["widths", "base"], 3)
    assert {cell.key for cell in cells(part)} < {cell.key for cell in cells(full)}
    assert {cell.seed for cell in cells(part)} == {FIRST_SEED, FIRST_SEED + 1, FIRST_SEED + 2}
    assert {cell.scenario.users for cell in cells(part)} == {"habit-driven", *plan.WIDTHS}
    assert only(full, [], None) == full


@pytest.mark.parametrize(
    ("factors", "seeds", "told"),
    [(["width"], None, "Did you mean 'widths'"), (["base"], 11, "has 10 seeds"), (["base"], 0, "has 10 seeds")],
)
def test_parts_that_are_not_there_are_refused(factors: list[str], seeds: int | None, told: str) -> None:
    with pytest.raises(ExperimentError, match=told):
        only(PRESETS["full"], factors, seeds)


@needs_advisor
def test_there_is_a_row_a_run_and_who_declines_changes_nothing(study: Path) -> None:
    system, ratios = table(study, "system"), table(study, "paired")
    assert len(system) == len(cells(TINY)) == len(list((study / "cells").iterdir()))
    by_arm = ratios.set_index("arm")
    declined = "semi-parametric, qa(2, 1), adoption 0%"
    for name in ("turnaround_s", "total_energy_j", "busy_energy_j", "wait_s"):
        assert by_arm.loc[[USERS, declined], name].tolist() == [1, 1]
    assert math.isnan(by_arm.loc[declined, "advised_turnaround_s"])
    half = by_arm.loc["semi-parametric, qa(2, 1), adoption 50%"]
    assert half["others_turnaround_s"] > 0
    assert (system["total_energy_j"] >= system["energy_j"]).all()
    assert set(table(study, "classes")["class"]) >= {"heavy users", "light users"}
    assert {path.stem for path in study.glob("*.png")} == {
        "turnaround-energy-base",
        "turnaround-energy-base-adoption",
    }


@needs_advisor
def test_part_by_part_and_in_two_processes_give_the_same_bytes(study: Path, tmp_path: Path) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(PRESETS, "smoke", TINY)
        first = run("smoke", tmp_path / "parts", factors=["base"], workers=2)
        assert first.missing == len(cells(TINY)) - len(cells(only(TINY, ["base"], None)))
        looked = run("smoke", tmp_path / "parts", tables_only=True)
        assert (len(looked.system), looked.missing) == (len(first.system), first.missing)
        told: list[str] = []
        run("smoke", tmp_path / "parts", factors=["adoption"], resume=True, tell=told.append)
        assert "2 of 12 runs have finished before" in told[0]  # the users' own, of both seeds
    assert tables(tmp_path / "parts") == tables(study)


@needs_advisor
def test_a_broken_cell_is_told_and_run_again(study: Path, tmp_path: Path) -> None:
    folder = tmp_path / "copy"
    shutil.copytree(study, folder)
    victim = min((folder / "cells").glob("*.json"))
    whole = victim.read_bytes()
    victim.write_bytes(whole[:40])
    headroom_file = folder / "tables" / "headroom.csv"
    headroom_file.write_bytes(headroom_file.read_bytes()[:-30])  # the last row is not whole
    told: list[str] = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(PRESETS, "smoke", TINY)
        run("smoke", folder, resume=True, tell=told.append)
    assert f"{len(cells(TINY)) - 1} of {len(cells(TINY))} runs" in told[0]
    assert victim.read_bytes() == whole
    assert tables(folder) == tables(study)


DAMAGED = ["", "[]", '"x"', "{}", '{"turnaround_s": 5}', "scenario,seed,jobs,offe\nbase,1,"]


@pytest.mark.parametrize("text", DAMAGED)
def test_damaged_files_count_as_none(tmp_path: Path, text: str) -> None:
    (tmp_path / "cells").mkdir()
    cell = cells(TINY)[0]
    (tmp_path / "cells" / f"{cell.key}.json").write_text(text)
    (tmp_path / "headroom.csv").write_text(text)
    assert runs.read(tmp_path, cell) is None
    assert known_headroom(tmp_path / "headroom.csv") is None


def test_headroom_of_jobs_that_scale_ideally_and_not_at_all() -> None:
    """Constant run time on any count: one node is enough, a quarter of the four asked for."""
    log = registry.make("models", "synth-pm100", jobs=60, nodes=16, preset="habit-driven", seed=1)
    columns = dict(log.columns)
    columns["nodes"] = np.full(60, 4)
    columns["allowed_nodes"] = np.array([(1, 2, 4)] * 60 + [()], dtype=object)[:60]
    columns["scaling_law"] = np.full(60, LAWS.index("power-law"))
    columns["run_s"] = np.full(60, 3_600.0)
    columns["waiting_share"] = np.full(60, 1.0)
    for exponent, share in ((1.0, 1.0), (0.0, 0.25)):
        columns["scaling_a"] = np.full(60, exponent)
        found = headroom(replace(log, columns=columns), 16, IDLE_W)
        assert found["efficiency"] == pytest.approx(share)
        assert found["least_node_s"] == pytest.approx(share)
        assert found["busy_energy_bound"] == pytest.approx(share)  # cores that wait draw as if they worked
        assert found["total_energy_bound"] == pytest.approx(1) if share == 1 else found["total_energy_bound"] < 1


def runs_of(**arms: list[tuple[float, float]]) -> pd.DataFrame:
    """Return a table of runs: of each arm the (turnaround, energy) of seeds 0, 1, ..."""
    rows = []
    for arm, found in arms.items():
        for seed, (turnaround_s, energy_j) in enumerate(found):
            row: dict[str, Any] = {
                "scenario": "base",
                "arm": arm,
                "factor": "base",
                "seed": seed,
                "nodes": 2,
                "end_s": 10.0,
            }
            row |= dict.fromkeys((*paired.__globals__["PAIRED"], "cost", "co2_kg", "offered_load"), 1.0)
            row |= dict.fromkeys(("killed_share", "killed_by_advice_share", "losing_users_share", "changed_share"), 0.0)
            row |= {f"{who}_own_turnaround_s": 1.0 for who in ("advised", "others")}
            rows.append(row | {"turnaround_s": turnaround_s, "energy_j": energy_j})
    return on_common_horizon(pd.DataFrame(rows))


def test_a_run_that_ends_sooner_pays_for_its_idle_nodes() -> None:
    table = runs_of(users=[(1, 100.0)], quick=[(1, 100.0)])
    table.loc[1, "end_s"] = 4.0
    found = on_common_horizon(table)
    assert found["total_energy_j"].tolist() == [100.0, 100.0 + 6 * 2 * IDLE_W]
    assert found["own_total_energy_j"].tolist() == [100.0, 100.0]
    assert found["total_cost"].tolist() == pytest.approx([1, 1 + 12 * IDLE_W / 100])


def test_no_ratio_changes_with_what_else_was_run() -> None:
    """A run that takes ten times as long makes nobody else idle until its end, and the users pay against it."""
    table = runs_of(users=[(1, 100.0)], quick=[(1, 50.0)], slow=[(9, 300.0)])
    table.loc[2, "end_s"] = 100.0
    ratios = paired(on_common_horizon(table)).set_index("arm")["total_energy_j"]
    assert ratios.to_dict() == pytest.approx({"users": 1, "quick": 0.5, "slow": 300 / (100 + 90 * 2 * IDLE_W)})
    alone = paired(on_common_horizon(table[table["arm"] != "slow"])).set_index("arm")["total_energy_j"]
    assert alone.to_dict() == pytest.approx({"users": 1, "quick": 0.5})


def test_a_run_without_the_users_own_has_no_ratio() -> None:
    table = runs_of(users=[(1, 100.0)], quick=[(1, 50.0), (2, 70.0)])
    assert table["own_total_energy_j"].tolist()[:2] == [100.0, 100.0]
    assert math.isnan(table["own_total_energy_j"].iloc[2])
    assert paired(table).set_index("arm").loc["quick", "total_energy_j"] == pytest.approx(0.5)


@pytest.mark.parametrize(("low", "high"), [(0.45, 1.6), (0.28, 45), (0.9, 1.1), (0.05, 200)])
def test_labels_of_an_axis_stand_apart(low: float, high: float) -> None:
    found = ticks(low, high)
    assert len(found) >= 3
    assert 1 in found
    assert np.diff(np.log(found)).min() >= APART * math.log(high / low)


def test_targets_are_met_missed_or_not_known() -> None:
    ours, green, oracle, law = OURS.name, GREEN.name, "oracle, qa(2, 1)", "scaling-law, qa(2, 1)"
    two = {
        USERS: [(1.0, 1.0), (1.0, 1.0)],
        ours: [(0.6, 0.95), (0.5, 0.97)],
        green: [(0.7, 0.99), (0.9, 0.99)],
        oracle: [(0.5, 0.94), (0.4, 0.96)],
        law: [(0.5, 0.9), (0.5, 0.9)],
    }
    runs = runs_of(**two)
    runs.loc[runs["arm"] == law, ["killed_share", "killed_by_advice_share"]] = [0.02, 0.05]
    runs.loc[runs["arm"] == ours, "killed_share"] = 0.03
    found = graded(runs).set_index(["target", "arm", "part"])
    assert found.loc[("killed share less one law's", ours, "mean"), "value"] == pytest.approx(-0.04)
    assert found.loc[("turnaround", ours, "mean"), "value"] == pytest.approx(math.sqrt(0.3))
    assert found.loc[("turnaround", ours, "mean"), "met"]
    assert not found.loc[("turnaround", ours, "upper end"), "met"]  # two seeds leave it wide
    assert not found.loc[("total energy", green, "mean"), "met"]
    share = found.loc[("Oracle's gain of turnaround, share", ours, "mean")]
    assert share["value"] == pytest.approx((1 - math.sqrt(0.3)) / (1 - math.sqrt(0.2)))
    assert found.loc[("total energy less the Oracle's", ours, "mean"), "value"] == pytest.approx(0.01)
    assert found.loc[("turnaround over one law's", ours, "upper end"), "value"] == pytest.approx(math.sqrt(1.2))
    one = graded(runs_of(**{arm: values[:1] for arm, values in two.items()})).set_index(["target", "arm", "part"])
    assert one.loc[("turnaround", ours, "upper end"), "met"] is None
    assert not len(graded(runs_of(**{USERS: [(1, 1)]})))


def test_jackknife_of_a_mean_is_its_student_interval() -> None:
    values = np.array([0.1, 0.4, 0.2, 0.9])
    found = jackknife(lambda ours, _: float(ours.mean()), values, values)
    assert found == pytest.approx(tuple(mean_interval(values)[:3]))


def _dies(*_: Any) -> list[str]:
    os._exit(9)


def test_a_killed_worker_is_one_sentence(tmp_path: Path) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(PRESETS, "smoke", TINY)
        patch.setattr(runs, "run_group", _dies)
        patch.setattr(runs, "headroom_row", lambda _: {"scenario": "base", "seed": 1000})
        with pytest.raises(ExperimentError, match=r"A worker was killed.*--resume"):
            run("smoke", tmp_path / "study")


def told(*arguments: str) -> str:
    ran = CliRunner().invoke(app, ["advise-study", *arguments])
    assert ran.exit_code != 0
    assert ran.exception is None or isinstance(ran.exception, SystemExit | ExperimentError), ran.exception
    return f"{ran.output} {ran.exception}"


def test_mistakes_are_one_sentence_with_a_remedy(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "notes.txt").write_text("x")
    (tmp_path / "bad").mkdir()
    (tmp_path / "bad" / "study.json").write_text("{")
    (tmp_path / "list").mkdir()
    (tmp_path / "list" / "study.json").write_text("[]")
    (tmp_path / "old").mkdir()
    (tmp_path / "old" / "study.json").write_text(json.dumps({"preset": "demo"}))
    new = str(tmp_path / "new")
    assert "Add --out DIR" in told()
    assert "Did you mean 'smoke'" in told("--preset", "smok", "--out", new)
    assert "Known: base" in told("--cells", "rules", "--out", new)
    assert "has 2 seeds" in told("--seeds", "3", "--out", new)
    assert "is a file" in told("--out", str(tmp_path / "file"))
    assert "something else than a study" in told("--out", str(tmp_path / "other"))
    assert "Go on with --preset demo" in told("--out", str(tmp_path / "old"), "--resume")
    assert "Add --resume" in told("--out", str(tmp_path / "old"))
    (tmp_path / "odd").mkdir()
    (tmp_path / "odd" / "study.json").write_text('{"preset": ["x"]}')
    assert "There is no study in" in told("--out", new, "--tables-only")
    for name in ("bad", "list", "odd"):
        assert "is no study of advice" in told("--out", str(tmp_path / name), "--resume")
    assert not (tmp_path / "new").exists()
