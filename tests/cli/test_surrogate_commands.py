"""`hpcsim surrogate`: what a person types and sees."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("lightgbm")


@pytest.fixture
def log(cli: Callable[..., Any], tmp_path: Path) -> tuple[Path, str]:
    path = tmp_path / "jobs.parquet"
    assert cli("workload", "generate", "synth-pm100", "--jobs", 400, "--nodes", 64, "--out", path).exit_code == 0
    return path, f"truth={path.with_suffix('.truth.parquet')}"


def test_fit_predict_explain(cli: Callable[..., Any], log: tuple[Path, str], tmp_path: Path) -> None:
    path, truth = log
    model = tmp_path / "modèle un"
    fit = cli("surrogate", "fit", path, "--read", truth, "--out", model)
    assert fit.exit_code == 0, fit.output
    for line in ("400 jobs", "of which 5 move with the node count", "90.0 %", "hpcsim surrogate predict"):
        assert line in fit.output
    predict = cli("surrogate", "predict", model, path, "--nodes", "1,4-5", "--job", 300)
    assert "Job 300: asked for" in predict.output
    plain = json.loads(cli("surrogate", "predict", model, path, "--nodes", "1,4-5", "--job", 300, "--json").stdout)
    assert plain[0]["nodes"] == [1, 4, 5]
    assert np.all(np.array(plain[0]["run_s_lower"]) < np.array(plain[0]["run_s_mean"]))
    explain = cli("surrogate", "explain", model)
    assert "Speed-up of applications" in explain.output
    assert "never seen" in explain.output
    assert json.loads(cli("surrogate", "explain", model, "--json").stdout)["card"]["surrogate"] == "semi-parametric"


def test_the_realised_rate_of_a_sample_is_printed(
    cli: Callable[..., Any], log: tuple[Path, str], tmp_path: Path
) -> None:
    fit = cli(
        *("surrogate", "fit", log[0], "--out", tmp_path / "m"), "--model", "app-mean", "--sample", "uniform:rate=0.5"
    )
    assert "mean 50.0000 %, asked for 50.0000 %" in fit.output


def test_a_log_without_power_says_so(cli: Callable[..., Any], log: tuple[Path, str], tmp_path: Path) -> None:
    fit = cli("surrogate", "fit", log[0], "--out", tmp_path / "m", "--model", "app-mean")
    assert "with a measured power" in fit.output
    assert json.loads((tmp_path / "m" / "card.json").read_text())["train"]["with_power"] == 0
    assert "not known" in cli("surrogate", "predict", tmp_path / "m", log[0], "--nodes", "2").output
    assert "follows a fixed rule" in cli("surrogate", "explain", tmp_path / "m").output


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("fit", "LOG", "--out", "m", "--model", "lightgmb"), "Did you mean 'lightgbm'?"),
        (("fit", "LOG", "--out", "m", "--model", "lightgbm:inputs=embeddings"), "Did you mean 'embedding'?"),
        (("fit", "LOG", "--out", "m", "--sample", "hardest:rate=0.5"), "no way of sampling called 'hardest'"),
        (("fit", "LOG", "--out", "LOG"), "is not a folder"),
        (("predict", "nowhere", "LOG", "--nodes", "1"), "holds no saved surrogate"),
        (("predict", "nowhere", "LOG", "--nodes", "0"), "no range of node counts"),
        (("predict", "nowhere", "LOG", "--nodes", "4-2"), "no range of node counts"),
        (("predict", "nowhere", "LOG", "--nodes", "1.5"), "'1.5' is no node count"),
        (("predict", "nowhere", "LOG", "--nodes", "1-999999999"), "too many node counts"),
        (("predict", "nowhere", "LOG", "--nodes", "1000000001"), "more nodes than any machine has"),
        (("predict", "nowhere", "LOG", "--nodes", "1-" + 30 * "9"), "more nodes than any machine has"),
        (("fit", "LOG", "--out", "m", "--seed", 20 * "9"), "Give a whole number from 0 to 2,147,483,647."),
        (
            ("fit", "LOG", "--out", "m", "--model", "semi-parametric:idle_w=much"),
            "The idle_w of a surrogate is 'much'",
        ),
        (("fit", "LOG", "--out", "m", "--model", "lightgbm:with_limit=perhaps"), "Give true or false."),
        (("fit", "LOG", "--out", "."), "holds 'jobs.parquet', which is not part of a saved surrogate"),
        (("explain", "nowhere"), "holds no saved surrogate"),
    ],
)
def test_mistakes_are_one_sentence(
    cli: Callable[..., Any],
    log: tuple[Path, str],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    arguments: tuple[str, ...],
    told: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    ran = cli("surrogate", *(log[0] if argument == "LOG" else argument for argument in arguments))
    assert ran.exit_code == 2
    assert told in ran.output
    assert ran.stderr.startswith("Error: ") or "\nError: " in ran.stderr


def test_no_figure_is_cut_in_a_narrow_terminal(
    cli: Callable[..., Any], log: tuple[Path, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "40")
    assert cli("surrogate", "fit", log[0], "--read", log[1], "--out", tmp_path / "m").exit_code == 0
    narrow = cli("surrogate", "predict", tmp_path / "m", log[0], "--nodes", "1,64,1000000000").output
    monkeypatch.setenv("COLUMNS", "400")
    wide = cli("surrogate", "predict", tmp_path / "m", log[0], "--nodes", "1,64,1000000000").output
    assert narrow.split() == wide.split()
    assert "1,000,000,000" in narrow
    assert "beyond" in narrow


def test_a_log_too_small_to_explain_anything_says_so(
    cli: Callable[..., Any], write_log: Callable[..., Path], tmp_path: Path
) -> None:
    """One job, without power: no feature, no watts, and no table without a row."""
    assert cli("surrogate", "fit", write_log([(1, 0, 100, 4)]), "--out", tmp_path / "m").exit_code == 0
    explain = cli("surrogate", "explain", tmp_path / "m")
    assert "no feature explains run time; too few jobs, or all alike" in explain.output
    assert "nothing is known of their watts" in explain.output
    assert json.loads(cli("surrogate", "explain", tmp_path / "m", "--json").stdout)["node"] is None


def test_a_job_that_is_not_there_is_named(cli: Callable[..., Any], log: tuple[Path, str], tmp_path: Path) -> None:
    cli("surrogate", "fit", log[0], "--out", tmp_path / "m", "--model", "app-mean")
    ran = cli("surrogate", "predict", tmp_path / "m", log[0], "--nodes", "2", "--job", "x7")
    assert ran.exit_code == 2
    assert "The log has no job 'x7'. Its first jobs are 1, 2, 3." in ran.output
