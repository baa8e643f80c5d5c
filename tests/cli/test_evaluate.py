"""`hpcsim evaluate`, as people type it."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import Result

KEYS = {"policy", "suite", "mode", "training_seed"} | {
    "mean_bounded_slowdown",
    "mean_wait_s",
    "max_wait_s",
    "utilisation",
    "per_sequence",
}


@pytest.fixture(scope="module")
def saved(shared: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two published sequences, all rules, and a noise band of three draws."""
    from typer.testing import CliRunner

    from hpcsim.cli import app

    arguments = ["evaluate", "--suite", "rls-lublin-1", "--sequences", "2", "--noise", "3", "--json"]
    done = CliRunner().invoke(app, [*arguments, "--data", str(shared / "traces")])
    assert done.exit_code == 0, done.output
    file = tmp_path_factory.mktemp("evaluation") / "saved.json"
    file.write_text(done.stdout)
    return file


def test_records_have_the_keys_that_are_documented(saved: Path) -> None:
    found = json.loads(saved.read_text())
    assert all(set(record) >= KEYS for record in found)
    assert [record["policy"] for record in found][:4] == ["fcfs", "sjf", "f1", "saf"]
    assert len(found[-1]["draws"]) == 3
    assert all(len(record["per_sequence"]) == 2 for record in found)
    assert all(record["per_sequence"][0]["decision_us"] > 0 for record in found)


def test_saved_records_are_shown_as_tables_and_as_a_page(
    cli: Callable[..., Result], saved: Path, tmp_path: Path
) -> None:
    shown = cli("evaluate", "--from", saved, "--out", tmp_path / "page.html")
    assert shown.exit_code == 0, shown.output
    for words in ("Profile, starvation, speed", "RLScheduler", "58.64", "Noise band: saf with 5% noise", "longest"):
        assert words in shown.stdout
    assert "<svg" in (tmp_path / "page.html").read_text()
    assert cli("evaluate", "--from", saved, "--brief", "--out", tmp_path / "page.md").exit_code == 0
    text = (tmp_path / "page.md").read_text()
    assert "| saf |" in text
    assert "Profile" not in text


def test_something_to_show_is_asked_for(cli: Callable[..., Result], saved: Path) -> None:
    for arguments in ([], ["--suite", "windows-fresh", "--from", str(saved)]):
        done = cli("evaluate", *arguments)
        assert done.exit_code == 2
        assert "Say which suites to run, or which files to show" in done.stderr
    done = cli("evaluate", "--from", saved.with_name("none.json"))
    assert done.exit_code == 2
    assert "There is no file" in done.stderr


def test_what_would_be_ignored_is_refused(cli: Callable[..., Result], saved: Path) -> None:
    for arguments in (["--policy", "easy"], ["--only"], ["--json"]):
        done = cli("evaluate", "--from", saved, *arguments)
        assert done.exit_code == 2
        assert "With --from nothing is run" in done.stderr


def test_a_reference_that_nobody_tests_is_told_before_the_run(cli: Callable[..., Result]) -> None:
    done = cli("evaluate", "--suite", "windows-fresh", "--sequences", "1", "--reference", "sfa")
    assert done.exit_code == 2
    assert "The reference 'sfa' is not tested. Did you mean 'sjf'?" in done.stderr
    assert "simulations" not in done.stderr
