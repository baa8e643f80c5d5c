"""The ablation: what it varies, ratios by hand, words that follow from intervals, a whole one, killed and resumed."""

from __future__ import annotations

import json
import math
import os
import signal
import subprocess
import sys
import time
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from hpcsim.errors import ExperimentError, MissingExtra
from hpcsim.experiments.ablation import BASE, BASELINE_PPO, PRESETS, VARIANTS, Preset, run_ablation
from hpcsim.experiments.ablation.cells import learning_curve
from hpcsim.experiments.ablation.markdown import markdown
from hpcsim.experiments.ablation.plan import BESIDE, Cell, cells, variants_of
from hpcsim.experiments.ablation.sentences import sentences
from hpcsim.experiments.ablation.tables import tables_of
from hpcsim.experiments.evaluation.fresh import SEED
from hpcsim.experiments.evaluation.sequences import Sequence
from hpcsim.policies.ppo_gtrxl.network_config import CORES, GATES, RECALIBRATIONS
from hpcsim.policies.ppo_gtrxl.presets import find_preset
from hpcsim.policies.ppo_gtrxl.training import VALIDATION_SEED, changed
from hpcsim.policies.ppo_gtrxl.training_config import SURROGATES
from hpcsim.policies.ppo_gtrxl.untrained import network_config
from hpcsim.workload import Workload

needs_torch = pytest.mark.skipif(find_spec("torch") is None, reason="pip install 'hpcsim-des[rl]'")

TINY = Preset(
    decisions=40,
    seeds=2,
    sequences=2,
    settings=dict(PRESETS["smoke"].settings) | {"training.jobs": 64, "training.sequences": 1},
    variants=(BASELINE_PPO,),
)


def settings_of(name: str) -> dict[str, Any]:
    [cell] = [one for one in cells(PRESETS["full"], variants_of(PRESETS["full"], [name]))[len(BESIDE) :]
              if one.label == name and one.seed == 0]  # fmt: skip
    return dict(cell.settings or {})


def test_without_torch_nothing_is_begun(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("hpcsim.experiments.ablation.study.find_spec", lambda _: None)
    with pytest.raises(MissingExtra, match=r"An ablation trains networks.* pip install 'hpcsim-des\[rl\]'"):
        run_ablation(tmp_path / "study", preset=TINY)
    assert not list(tmp_path.iterdir())


def test_variants_hold_every_choice_of_the_architecture() -> None:
    varied = [variant.settings for variant in VARIANTS.values()]
    for key, known in (("gate", GATES), ("recalibration", RECALIBRATIONS), ("core", CORES)):
        assert {settings.get(f"network.{key}", known[0]) for settings in varied} == set(known)
    assert {settings.get("training.surrogate", "truly") for settings in varied} == set(SURROGATES)
    assert {settings.get("network.memory", 16) for settings in varied} == {0, 16, 64}
    assert {settings.get("network.prior", "saf") for settings in varied} == {"saf", "none"}


def test_a_variant_differs_from_the_base_by_what_it_says_alone() -> None:
    base = settings_of(BASE)
    for name, variant in VARIANTS.items():
        mine = settings_of(name)
        assert {key: value for key, value in mine.items() if base.get(key, "not set") != value} == variant.settings
        assert base.keys() <= mine.keys()
        changed(find_preset("demo"), mine)  # the trainer takes it


def test_no_past_sees_one_decision_and_takes_as_large_steps() -> None:
    alone, base = (changed(find_preset("demo"), settings_of(name)) for name in ("no past", BASE))
    spans = [network_config(**one.network).span for one in (alone, base)]
    assert spans == [1, 32]
    assert alone.training.minibatch == base.training.minibatch * 16


def test_one_seed_is_done_before_the_next_begins() -> None:
    order = [cell.seed for cell in cells(PRESETS["demo"], variants_of(PRESETS["demo"])) if cell.settings]
    assert order == sorted(order)
    assert len(order) == 3 * len(VARIANTS)
    assert PRESETS["full"].seeds >= 5


def test_tests_are_on_workloads_that_training_never_draws() -> None:
    assert SEED not in (0, VALIDATION_SEED)
    assert not PRESETS["full"].variants


def test_key_follows_from_everything_but_the_name() -> None:
    cell = Cell(label="a", settings={"x": 1}, seed=0, sequences=2)
    assert cell.key == Cell(label="b", settings={"x": 1}, seed=0, sequences=2).key
    others = [Cell(label="a", settings={"x": 2}, seed=0, sequences=2), Cell(label="a", settings={"x": 1}, seed=1,
              sequences=2), Cell(label="a", settings={"x": 1}, seed=0, sequences=3),
              Cell(label="a", settings=None, seed=0, sequences=2), Cell(label="b", settings=None, seed=0,
              sequences=2)]  # fmt: skip
    assert len({cell.key, *(other.key for other in others)}) == 6


# -- figures by hand


def jobs() -> list[Sequence]:
    empty = Workload.of(submit_s=[0], run_s=[1], nodes=[1])
    return [Sequence(f"{source} {at}", empty, 1, source) for source in ("a", "b") for at in (0, 1)]


def network(label: str, seed: int, costs: list[float]) -> dict[str, Any]:
    return {
        "label": label, "seed": seed, "mean_bounded_slowdown": costs, "mean_wait_s": costs, "max_wait_s": costs,
        "decisions": 100, "updates": 2, "weights": 7, "train_cpu_s": 1.5, "ratio_error": 1e-7,
        "validation": {"ratio_to_saf": 0.9}, "curve": [{"decisions": 50, "ratio_to_saf": 0.95}],
    }  # fmt: skip


def rule(label: str, costs: list[float]) -> dict[str, Any]:
    return {"label": label, "seed": 0, "mean_bounded_slowdown": costs, "mean_wait_s": costs, "max_wait_s": costs}


def found(baseline: list[list[float]], base: list[float] | None = None) -> list[dict[str, Any]]:
    return [
        rule("saf", [2, 2, 4, 4]),
        rule("fcfs", [4, 4, 8, 8]),
        network(BASE, 0, [4, 4, 8, 8]),
        *(network(BASE, seed, base or [4, 4, 8, 8]) for seed in range(1, len(baseline))),
        *(network(BASELINE_PPO, seed, costs) for seed, costs in enumerate(baseline)),
    ]


def of(baseline: list[list[float]], base: list[float] | None = None) -> Any:
    return tables_of(found(baseline, base), jobs(), [VARIANTS[BASE], VARIANTS[BASELINE_PPO]])


def test_ratios_are_paired_by_seed_and_sequence() -> None:
    """Seed 0 costs 2 and 8 times its base on workload a, 4 times on b; seed 1 a quarter and as much, then 4 times.

    Means of the log2 by seed and workload: 2, 2; -1, 2: together 1.25. Of the base over SAF: 1, 1; 2, 1. One
    sequence of eight costs less than under the base of its seed, one as much.
    """
    table = of([[8, 32, 32, 32], [4, 4, 32, 32]], base=[16, 4, 8, 8]).networks.set_index("name")
    row = table.loc[BASELINE_PPO]
    assert row["to_base"] == pytest.approx(2**1.25)
    assert row["to_saf"] == pytest.approx(2**2.5)
    assert row["won"] == pytest.approx(1.5 / 8)
    assert table.loc[BASE, "to_saf"] == pytest.approx(2**1.25)
    assert math.isnan(table.loc[BASE, "to_base_low"])


def test_rules_stand_beside() -> None:
    rules = of([[4, 4, 8, 8], [4, 4, 8, 8]]).rules.set_index("name")
    assert dict(rules["to_saf"]) == pytest.approx({"saf": 1, "fcfs": 2})


@pytest.mark.parametrize(
    ("baseline", "verdict", "words"),
    [
        ([[8, 8, 16, 16], [8, 8, 16, 16]], "worse", "0.500 of its bounded slowdown (95 % interval 0.500 to 0.500)"),
        ([[2, 2, 4, 4], [2, 2, 4, 4]], "better", "2.000 of its bounded slowdown"),
        ([[2, 2, 32, 32], [32, 32, 4, 4]], "no difference shown", "workloads: no difference shown."),
    ],
)
def test_words_follow_from_intervals(baseline: list[list[float]], verdict: str, words: str) -> None:
    tables = of(baseline)
    assert tables.networks.set_index("name").loc[BASELINE_PPO, "verdict"] == verdict
    said = sentences(tables)
    assert words in said[1]
    shown = {"worse": "PPO-GTrXL is better.", "better": "PPO-GTrXL is worse."}.get(verdict, "no difference shown.")
    assert said[1].endswith(shown)
    first = f"{BASELINE_PPO} is not shown" if verdict == "no difference shown" else f"{BASELINE_PPO} {verdict}."
    assert first in said[0]


def test_one_seed_says_so() -> None:
    """Workloads alone would have given an interval; other trainings it would promise nothing about."""
    row = of([[8, 8, 16, 16]]).networks.set_index("name").loc[BASELINE_PPO]
    assert row["verdict"] == "one seed only"


def test_text_has_every_seed() -> None:
    text = markdown(of([[8, 8, 16, 16], [4, 4, 8, 8]]), TINY)
    line = next(line for line in text.splitlines() if line.startswith(f"| {BASELINE_PPO} "))
    assert "| 4.000 2.000 |" in line
    assert "| 100 | 7 | 2 |" in line
    assert "| fcfs | 2.000 |" in text


def test_curve_adds_decisions_up_and_takes_the_better_weights(tmp_path: Path) -> None:
    path = tmp_path / "progress.csv"
    path.write_text(
        "decisions,validation,validation_average,cpu_s,ratio_error\n"
        "10,,,1,1e-8\n20,0.9,0.8,2,3e-8\n30,0.7,0.75,4.5,2e-8\n"
    )
    assert learning_curve(path) == {
        "decisions": 60,
        "updates": 3,
        "train_cpu_s": 4.5,
        "ratio_error": 3e-8,
        "curve": [{"decisions": 30, "ratio_to_saf": 0.8}, {"decisions": 60, "ratio_to_saf": 0.7}],
    }


def test_what_cannot_be_run_is_told(tmp_path: Path) -> None:
    with pytest.raises(ExperimentError, match=r"There is no variant 'gate resid'. Did you mean 'gate residual'"):
        run_ablation(tmp_path / "new", variants=["gate resid"])
    with pytest.raises(ExperimentError, match=r"There is no preset 'smok'. Did you mean 'smoke'"):
        run_ablation(tmp_path / "new", preset="smok")
    with pytest.raises(ExperimentError, match="The base and the rules have not finished"):
        run_ablation(tmp_path / "new", runs=False)
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "thesis.tex").touch()
    with pytest.raises(ExperimentError, match="is not empty and holds no ablation"):
        run_ablation(tmp_path / "full")
    (tmp_path / "full" / "study.json").write_text('{"format": "another"}')
    with pytest.raises(ExperimentError, match="holds another study"):
        run_ablation(tmp_path / "full", resume=True)


# -- a whole one


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Run a tiny ablation in a process of its own, kill it without warning after two networks, and go on with it."""
    folder = tmp_path_factory.mktemp("ablation") / "tiny"
    script = f"from tests.experiments.test_ablation import *; run_ablation({str(folder)!r}, preset=TINY)"
    process = subprocess.Popen([sys.executable, "-c", script], start_new_session=True)
    deadline = time.monotonic() + 500
    while len(list(folder.glob("cells/*.json"))) < len(BESIDE) + 2 and process.poll() is None:
        assert time.monotonic() < deadline
        time.sleep(0.05)
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    done = {path.name: path.stat().st_mtime_ns for path in folder.glob("cells/*.json")}
    (folder / "killed.json").write_text(json.dumps(done))
    run_ablation(folder, preset=TINY, resume=True)
    return folder


@needs_torch
def test_what_was_done_before_a_kill_is_not_done_again(study: Path) -> None:
    before = json.loads((study / "killed.json").read_text())
    now = {path.name: path.stat().st_mtime_ns for path in study.glob("cells/*.json")}
    assert len(BESIDE) + 2 <= len(before) <= len(now) == len(BESIDE) + 4
    assert all(now[name] == at for name, at in before.items())


@needs_torch
def test_all_variants_learn_from_equally_many_decisions(study: Path) -> None:
    seeds = pd.read_csv(study / "tables" / "seeds.csv")
    assert list(seeds["decisions"]) == [TINY.decisions] * 4
    assert set(zip(seeds["variant"], seeds["seed"], strict=True)) == {
        (name, seed) for name in (BASE, BASELINE_PPO) for seed in (0, 1)
    }
    assert (seeds["ratio_error"] <= 1e-5).all()
    assert seeds.groupby("variant")["weights"].nunique().eq(1).all()


@needs_torch
def test_what_has_finished_is_compared_without_running(study: Path) -> None:
    """Of a network that is lacking the other seed remains, and its row says so."""
    [path] = [path for path in study.glob("cells/*.json")
              if (found := json.loads(path.read_text()))["label"] == BASELINE_PPO and found["seed"] == 1]  # fmt: skip
    text = path.read_text()
    path.unlink()
    table = run_ablation(study, preset=TINY, runs=False).tables.networks.set_index("name")
    path.write_text(text)
    assert dict(table["seeds"]) == {BASE: 2, BASELINE_PPO: 1}
    assert table.loc[BASELINE_PPO, "verdict"] == "one seed only"
    run_ablation(study, preset=TINY, runs=False)


@needs_torch
def test_page_and_tables_are_whole(study: Path) -> None:
    page = (study / "ablation.html").read_text()
    assert page.endswith("</html>\n")
    assert "data:image/png;base64," in page
    assert "<script" not in page
    assert BASELINE_PPO in page
    sequences = pd.read_csv(study / "tables" / "sequences.csv")
    assert len(sequences) == TINY.sequences * (len(BESIDE) + 4)
    assert (sequences["mean_bounded_slowdown"] >= 1).all()
    curves = pd.read_csv(study / "tables" / "curves.csv")
    assert curves.groupby(["variant", "seed"])["decisions"].max().eq(TINY.decisions).all()
    assert (study / "ablation.md").read_text().startswith("# Ablation of PPO-GTrXL")


@needs_torch
def test_study_is_not_overwritten_and_a_damaged_cell_is_named(study: Path, tmp_path: Path) -> None:
    with pytest.raises(ExperimentError, match="holds an ablation already"):
        run_ablation(study, preset=TINY)
    path = min(study.glob("cells/*.json"))
    text = path.read_text()
    path.write_text(text[:-20])
    with pytest.raises(ExperimentError, match="is damaged"):
        run_ablation(study, preset=TINY, resume=True)
    path.write_text(text)
