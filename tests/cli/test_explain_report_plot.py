"""`hpcsim explain`, `report` and `plot` on saved runs."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import Result

from hpcsim.results.page import document

Cli = Callable[..., Result]


@pytest.fixture
def runs(cli: Cli, trace: Path, tmp_path: Path) -> Path:
    """FCFS and EASY on the small log, saved."""
    assert cli("compare", trace, "--policy", "fcfs", "--policy", "easy", "--out", tmp_path / "runs").exit_code == 0
    return tmp_path / "runs"


def test_explain_says_why_in_words_and_as_a_strip(cli: Cli, runs: Path) -> None:
    """Job 4 (2 of 4) starts at 100 s beside job 2 under EASY; until then job 1 holds all nodes."""
    done = cli("explain", runs / "easy", 4)
    assert done.exit_code == 0
    lines = done.stdout.splitlines()
    assert lines[0] == "Job 4 (2 nodes, limit 1 min) started 1 min 37 s after its submit under EASY."
    assert lines[1] == "  1 min 37 s (100.0 %): too few nodes were free; held by job 1 of user 7 (1 min 37 s)."
    assert lines[3] == f"[{'N' * 72}]"
    assert lines[-1] == "  N  too few nodes were free"


def test_explain_as_json_and_in_total(cli: Cli, runs: Path) -> None:
    """Under FCFS job 4 waits 97 s for job 1, 50 s behind job 3 though it fits, and 20 s for job 3."""
    data = json.loads(cli("explain", runs / "fcfs", 4, "--json").stdout)
    assert {cause: seconds for cause, seconds in data["parts"].items() if seconds} == {
        "too-few-free": 117,
        "policy": 50,
    }
    every = json.loads(cli("explain", runs / "fcfs", "--all", "--json").stdout)
    assert every["all"]["all"]["waited_s"] == 414 == every["user"]["7"]["waited_s"]
    assert every["width"]["2-4"]["jobs"] == 4
    table = cli("explain", runs / "fcfs", "--all").stdout
    assert "by user" in table
    assert "policy" in table


@pytest.mark.parametrize(
    ("arguments", "words"),
    [((), "Say which job"), ((4, "--all"), "Say which job"), ((99,), "no job 99"), ((9, "--row"), "no row 9")],
)
def test_explain_refuses_with_a_sentence(cli: Cli, runs: Path, arguments: tuple[object, ...], words: str) -> None:
    done = cli("explain", runs / "easy", *arguments)
    assert done.exit_code == 2
    assert words in done.stderr


def test_report_takes_runs_or_the_folder_that_holds_them(cli: Cli, runs: Path, tmp_path: Path) -> None:
    for arguments in ([runs], [runs / "easy", runs / "fcfs"]):
        path = tmp_path / "new" / "page.html"
        done = cli("report", *arguments, "--out", path, "--title", "Mine & yours")
        assert (done.exit_code, done.stdout) == (0, f"{path}\n")
        text = path.read_text(encoding="utf-8")
        assert "<h1>Mine &amp; yours</h1>" in text
        assert ("plotly" in text) is document.is_available()


def test_report_without_plotly_is_the_small_page(cli: Cli, runs: Path, tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setattr(document, "is_available", lambda: False)
    done = cli("report", runs, "--out", tmp_path / "page.html")
    assert done.exit_code == 0
    assert "hpcsim-des[report]" in done.stderr
    assert "<script" not in (tmp_path / "page.html").read_text(encoding="utf-8")


def test_run_writes_a_report(cli: Cli, trace: Path, tmp_path: Path) -> None:
    done = cli("run", trace, "--report", tmp_path / "page.html")
    assert f"Report in {tmp_path / 'page.html'}" in done.stderr
    assert "journal d&#x27;été.swf on 4 processors" in (tmp_path / "page.html").read_text(encoding="utf-8")


def test_a_folder_that_is_no_run_is_said(cli: Cli, tmp_path: Path) -> None:
    for command in (("report", tmp_path), ("explain", tmp_path, 1)):
        done = cli(*command)
        assert done.exit_code == 2
        assert f"{tmp_path} has no jobs.parquet" in done.stderr


def test_two_runs_of_one_name_are_refused(cli: Cli, runs: Path) -> None:
    done = cli("report", runs, runs / "easy")
    assert done.exit_code == 2
    assert "Two of the runs are called 'easy'" in done.stderr


def test_plot_writes_the_file_that_was_named(cli: Cli, runs: Path, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib", reason="needs the extra report")
    path = tmp_path / "new" / "waits.svg"
    done = cli("plot", "ecdf", runs, "-o", path)
    assert (done.exit_code, done.stdout) == (0, f"{path}\n")
    assert path.read_text(encoding="utf-8").startswith("<?xml")
    assert "ends in none of" in cli("plot", "ecdf", runs, "-o", tmp_path / "x.doc").stderr
