"""`hpcsim compare` and `hpcsim demo`: several policies in one table."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import Result

from hpcsim.commands.policy_specs import split_spec

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


def test_one_policy_with_different_parameters(cli: Cli, trace: Path, tmp_path: Path) -> None:
    """The label is what was typed; of a file's class, the class and its parameters; so is the folder."""
    report = tmp_path / "r.html"
    specs = ("easy", "easy:depth=0", "backfill:order=sjf,depth = 5,reservations=2")
    typed = [text for spec in specs for text in ("--policy", spec)]
    done = cli("compare", trace, *typed, "--out", tmp_path / "out", "--report", report)
    assert done.exit_code == 0
    labels = ["easy", "easy:depth=0", "backfill:order=sjf,depth = 5,reservations=2"]
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == sorted(labels)
    assert "easy:depth=0 (new) against easy (old)" in done.stdout
    assert "easy:depth=0 (new) against easy (old)" in report.read_text(encoding="utf-8")
    rows = json.loads(cli("compare", trace, *typed, "--json").stdout)
    assert list(rows) == labels
    assert rows["easy"]["mean_wait_s"] < rows["easy:depth=0"]["mean_wait_s"]


def test_parameters_of_a_class_in_a_file(cli: Cli, trace: Path, policy_file: Callable[[str], Path]) -> None:
    path = policy_file("for job in system.queue[: self.depth]:\n    if system.fits(job):\n        yield Start(job)")
    path.write_text(path.read_text().replace("class Mine(Policy):\n", "class Mine(Policy):\n    depth: int = 1\n\n"))
    done = cli("compare", trace, "--policy", f"{path}:Mine", "--policy", f"{path}:Mine:depth=3")
    assert done.exit_code == 0
    assert "Mine:depth=3 (new) against Mine (old)" in done.stdout


@pytest.mark.parametrize(
    ("spec", "name", "settings"),
    [
        ("easy", "easy", []),
        ("module:Class", "module:Class", []),
        ("f.py:A:x=1,y=two", "f.py:A", ["x=1", "y=two"]),
        ("a:x=[1, 2],y='p,q',z={k=1,l=2}", "a", ["x=[1, 2]", "y='p,q'", "z={k=1,l=2}"]),
        ("a:order=f.py:Order", "a", ["order=f.py:Order"]),
    ],
)
def test_specs_are_split(spec: str, name: str, settings: list[str]) -> None:
    assert split_spec(spec) == (name, settings)


@pytest.mark.parametrize(
    ("spec", "said"),
    [
        ("easy:dept=3", "has no parameter 'dept'"),
        ("easy:depth=3,", "The parameter '' has no key and value"),
        ("easy:depth=3,fast", "The parameter 'fast' has no key and value"),
        ("esy:depth=3", "no policy called 'esy'"),
    ],
)
def test_wrong_parameters_are_said(cli: Cli, trace: Path, spec: str, said: str) -> None:
    done = cli("compare", trace, "--policy", spec)
    assert done.exit_code == 2
    assert said in done.stderr


def test_differences_are_in_table_and_json(cli: Cli, trace: Path) -> None:
    """EASY 86 s against 103.5 s: -17.5 s; the 4 jobs arrive within 3 s, too few days for an interval."""
    done = cli("compare", trace, *ALL)
    assert "easy (new) against fcfs (old)" in done.stdout
    assert "No intervals: the submits span 1 day, and 12 are needed; 4 jobs paired." in done.stdout
    assert "size 2 to 4" not in done.stdout
    assert "size 2 to 4" in cli("compare", trace, *ALL, "--classes").stdout
    against = json.loads(cli("compare", trace, *ALL, "--json").stdout)["easy"]["against"]
    assert against["policy"] == "fcfs"
    wait = against["measures"]["mean_wait_s"]
    assert (wait["old"], wait["new"], wait["difference"], wait["low"]) == (103.5, 86, -17.5, None)
    assert {entry["by"] for entry in against["classes"]} == {"all", "size", "length", "user"}


def test_intervals_fit_eighty_columns(cli: Cli, write_log: Callable[..., Path]) -> None:
    """Forty days of jobs that stand in each other's way every hour."""
    jobs = [(4 * hour + k, 3600 * hour + k, 1500, (4, 2, 4, 2)[k]) for hour in range(960) for k in range(4)]
    done = cli("compare", write_log(jobs), *ALL[:4], "--classes", "--window", "day")
    assert done.exit_code == 0
    assert "95 % intervals over 40 days" in done.stdout
    assert max(map(len, done.stdout.splitlines()[1:])) <= 80


def test_unequal_sets_are_refused_with_both_counts(cli: Cli, write_log: Callable[..., Path]) -> None:
    """At 160 s EASY has run job 4 beside job 2, FCFS has not."""
    path = write_log([(1, 0, 100, 4), (2, 1, 50, 2), (3, 2, 20, 4), (4, 3, 30, 2)])
    done = cli("compare", path, *ALL[:4], "--until", 160)
    assert done.exit_code == 2
    assert "'fcfs' finished 2 jobs and 'easy' 3" in done.stderr
    done = cli("compare", path, *ALL[:4], "--until", 160, "--allow-unequal")
    assert done.exit_code == 0
    assert "jobs started: fcfs 3, easy 4; jobs finished: fcfs 2, easy 3" in done.stdout
    assert "3 jobs paired" in done.stdout


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
