"""`hpcsim run --advisor`: what a person types and sees."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from hpcsim.cli import app
from hpcsim.registry import make


@pytest.fixture
def log(tmp_path: Path) -> Path:
    """A generated log with its truth beside it."""
    path = tmp_path / "log.parquet"
    ran = CliRunner().invoke(app, ["workload", "generate", "synth-pm100", "--jobs", "300", "--out", str(path)])
    assert ran.exit_code == 0, ran.output
    return path


def run(log: Path, *options: Any) -> Any:
    return CliRunner().invoke(app, ["run", str(log), *map(str, options)])


def test_advice_is_shown_with_its_reasons(log: Path) -> None:
    shown = run(log, "--read", f"truth={log.with_suffix('.truth.parquet')}", "--advisor", "fixed:nodes=2").output
    for line in ("on another node count", "  advised", "  kept-rigid"):
        assert line in shown


def test_without_the_truth_all_jobs_are_rigid_and_it_says_what_to_do(log: Path) -> None:
    shown = run(log, "--advisor", "scaling-law").output
    assert "No job could take advice" in shown
    assert "--read truth=" in shown


@pytest.mark.parametrize(
    ("spec", "told"),
    [
        ("scalin-law", "Did you mean 'scaling-law'?"),
        ("fixed", "fixed needs nodes"),
        ("fixed:nodes=0", "Give a whole number from 1"),
        ("scaling-law:speed=2", "has no parameter 'speed'"),
    ],
)
def test_mistakes_are_one_sentence(log: Path, spec: str, told: str) -> None:
    ran = run(log, "--advisor", spec)
    assert ran.exit_code != 0
    assert told in ran.output or told in str(ran.exception)


def test_saved_results_have_the_columns_of_advice(log: Path, tmp_path: Path) -> None:
    from hpcsim import Cluster, simulate
    from hpcsim.results.result import Result

    jobs = make("models", "synth-pm100", jobs=200, seed=1)
    result = simulate(jobs, Cluster.of_nodes(jobs.machine_nodes), "easy", advisor="scaling-law")
    result.save(tmp_path / "out")
    again = Result.load(tmp_path / "out")
    assert again.jobs["advice"].astype(str).tolist() == result.jobs["advice"].astype(str).tolist()
    assert again.summary() == result.summary()
