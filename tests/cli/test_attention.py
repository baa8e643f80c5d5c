"""`hpcsim attention`, as people type it."""

from __future__ import annotations

import csv
import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import Result

DAY_S = 86_400


@pytest.fixture
def log(write_log: Callable[..., Path]) -> Path:
    """Ten crowded days on a machine of 4: more is asked for than there is, so jobs wait."""
    jobs = [(at, at * 3000, 4000 + 500 * (at % 7), 1 + at % 4) for at in range(1, 10 * DAY_S // 3000)]
    return write_log(jobs)


def test_a_week_as_page_and_table(cli: Callable[..., Result], log: Path, tmp_path: Path) -> None:
    page, table = tmp_path / "new folder" / "week.html", tmp_path / "week.csv"
    done = cli("attention", log, "--from", 2, "--days", 3, "--warm-up", 1, "--out", page, "--csv", table)
    assert done.exit_code == 0, done.output
    assert "Memory " in done.stdout
    assert "Gate of block 1, attention" in done.stdout
    text = page.read_text()
    assert "Attention over past decisions" in text
    assert "days 2 to 5" in text
    times_s = [float(row["time_s"]) for row in csv.DictReader(table.read_text().splitlines())]
    assert len(times_s) > 10
    first_s = 3000
    assert first_s + 2 * DAY_S <= min(times_s) <= max(times_s) < first_s + 5 * DAY_S


def test_figures_as_json(cli: Callable[..., Result], log: Path) -> None:
    done = cli("attention", log, "--from", 1, "--days", 2, "--json")
    found = json.loads(done.stdout)
    assert found["decisions"] > found["differ_from_rule"] >= 0
    assert found["rule"] == "saf"
    assert set(found["attention_on_the_past"]) == {"block 1, head 1", "block 1, head 2"}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--policy", "easy"], "'easy' decides by no network"),
        (["--from", "99"], "No job was submitted in these days. The log has days 0 to"),
        (["--days", "0"], "There is no span of 0 days"),
        (["--days", "nan"], "There is no span of nan days"),
        (["--warm-up", "-1"], "--warm-up is -1. Give days, 0 or more"),
        (["--from", "-3"], "--from is -3. Give days, 0 or more"),
        (["--out", "/dev/null/x.html"], "Cannot write"),
        (["--policy", "ppo-gtrxl:checkpoint=none"], "There is no checkpoint 'none'"),
    ],
    ids=str,
)
def test_what_makes_no_sense_is_told(cli: Callable[..., Result], log: Path, arguments: list[str], message: str) -> None:
    done = cli("attention", log, *arguments)
    assert done.exit_code == 2
    assert message in done.stderr.replace("\n", " ")


def test_it_needs_no_torch(log: Path, tmp_path: Path) -> None:
    (tmp_path / "torch.py").write_text("raise ImportError('torch was imported')")
    command = [sys.executable, "-m", "hpcsim.cli", "attention", str(log), "--out", str(tmp_path / "x.html")]
    done = subprocess.run(
        command,
        env=os.environ | {"PYTHONPATH": str(tmp_path)},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "x.html").stat().st_size > 10_000
