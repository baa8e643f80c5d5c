"""`hpcsim compare` and `hpcsim demo`: several policies in one table."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path

from typer.testing import Result

Cli = Callable[..., Result]
Shell = Callable[..., subprocess.CompletedProcess[str]]

ALL = ("--policy", "fcfs", "--policy", "easy", "--policy", "conservative")


def test_one_line_a_policy_in_the_order_given(cli: Cli, trace: Path) -> None:
    """EASY starts job 4 at 100 s beside job 2: mean wait 86 s against 103.5 s, 17 % less."""
    done = cli("compare", trace, *ALL)
    assert done.exit_code == 0
    lines = done.stdout.splitlines()
    assert lines[0] == f"{trace.name} on 4 processors, 4 jobs started"
    assert [line.split()[0] for line in lines[5:8]] == ["fcfs", "easy", "conservative"]
    assert "-17 %" in lines[6]
    assert max(map(len, lines)) <= 80


def test_json_has_every_policy(cli: Cli, trace: Path) -> None:
    rows = json.loads(cli("compare", trace, *ALL, "--json").stdout)
    assert list(rows) == ["fcfs", "easy", "conservative"]
    assert rows["fcfs"]["mean_wait_s"] == 103.5


def test_results_and_report_are_written(cli: Cli, trace: Path, tmp_path: Path) -> None:
    report = tmp_path / "new folder" / "r.html"
    done = cli("compare", trace, *ALL, "--out", tmp_path / "out", "--report", report)
    assert done.exit_code == 0
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == ["conservative", "easy", "fcfs"]
    assert "conservative" in report.read_text(encoding="utf-8")


def test_two_policies_of_one_name_are_refused(cli: Cli, trace: Path) -> None:
    done = cli("compare", trace, "--policy", "easy", "--policy", "easy")
    assert done.exit_code == 2
    assert "Two of the policies are called 'easy'" in done.stderr


def test_demo_ends_with_the_plain_path_of_its_report(shell: Shell, tmp_path: Path) -> None:
    folder = tmp_path / ("a long folder name " * 8).strip()
    done = shell("demo", "--out", folder, "--jobs", 300)
    assert done.returncode == 0
    assert done.stderr == ""
    last = done.stdout.splitlines()[-1]
    assert last == str(folder / "report.html")
    assert Path(last).is_file()
    assert all(name in done.stdout for name in ("fcfs", "easy", "conservative"))


def test_demo_is_the_same_for_the_same_seed(cli: Cli, tmp_path: Path) -> None:
    first, second, other = (cli("demo", "--out", tmp_path, "--jobs", 200, "--seed", seed).stdout for seed in (1, 1, 2))
    assert first == second
    assert first != other


def test_one_is_counted_in_the_singular(cli: Cli, write_log: Callable[..., Path]) -> None:
    path = write_log([(1, 0, 10, 1)], header="; MaxProcs: 1\n")
    done = cli("compare", path, "--policy", "easy")
    assert done.stdout.startswith(f"{path.name} on 1 processor, 1 job started\n")
    assert done.stderr == "Machine: 1 processor, as the log's header says.\n"
