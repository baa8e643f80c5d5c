"""`hpcsim run`: what it prints, what it writes, how it finds machine and policy."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import Result

from hpcsim import Cluster

Cli = Callable[..., Result]
Shell = Callable[..., subprocess.CompletedProcess[str]]
GREEDY = "for job in system.queue:\n    if system.fits(job):\n        yield Start(job)"


def test_table_names_trace_machine_policy_and_the_waits(cli: Cli, trace: Path) -> None:
    """FCFS on 4 processors: starts 0, 100, 150, 170, so waits 0, 99, 148, 167; their mean is 103.5 s."""
    done = cli("run", trace, "--policy", "fcfs")
    assert done.exit_code == 0
    assert done.stdout.startswith(f"fcfs, {trace.name} on 4 processors\n")
    cells = [re.split(r"\s{2,}", line.strip(), maxsplit=1) for line in done.stdout.splitlines()]
    rows = {row[0]: row[1] for row in cells if len(row) == 2}
    assert rows["jobs started"] == "4"
    assert rows["mean wait"].split() == ["1", "min", "44", "s", "104"]
    assert rows["longest wait"].split() == ["2", "min", "47", "s", "167"]
    assert rows["makespan"].split() == ["3", "min", "20", "s", "200"]


def test_the_logs_own_machine_is_used_and_said_so(cli: Cli, trace: Path) -> None:
    assert cli("run", trace).stderr == "Machine: 4 processors, as the log's header says.\n"


def test_nodes_means_processors_on_such_a_log_and_says_so(cli: Cli, trace: Path) -> None:
    done = cli("run", trace, "--nodes", 8)
    assert "--nodes 8 means 8 processors" in done.stderr
    assert "on 8 processors" in done.stdout


def test_cluster_file_gives_the_machine(cli: Cli, trace: Path, tmp_path: Path) -> None:
    Cluster.of_processors(6, name="tiny").save(tmp_path / "c.toml")
    done = cli("run", trace, "--cluster", tmp_path / "c.toml")
    assert "on tiny, 6 processors" in done.stdout
    assert done.stderr == ""


def test_cluster_of_nodes_under_a_log_of_processors_is_said(cli: Cli, trace: Path, tmp_path: Path) -> None:
    Cluster.of_nodes(6).save(tmp_path / "c.toml")
    assert "This log counts processors" in cli("run", trace, "--cluster", tmp_path / "c.toml").stderr


def test_json_is_the_saved_summary_and_nothing_else(shell: Shell, trace: Path, tmp_path: Path) -> None:
    done = shell("run", trace, "--json", "--out", tmp_path / "out", "--check")
    assert done.returncode == 0
    assert json.loads(done.stdout) == json.loads((tmp_path / "out" / "summary.json").read_text())
    assert done.stderr.splitlines()[-1] == f"Saved in {tmp_path / 'out'}"


def test_json_stays_pure_when_a_policy_prints(shell: Shell, trace: Path, policy_file: Callable[[str], Path]) -> None:
    done = shell("run", trace, "--json", "--policy", f"{policy_file('print(1)' + chr(10) + GREEDY)}:Mine")
    assert json.loads(done.stdout)["jobs_started"] == 4


def test_policy_from_a_file(cli: Cli, trace: Path, policy_file: Callable[[str], Path]) -> None:
    done = cli("run", trace, "--policy", f"{policy_file(GREEDY)}:Mine")
    assert done.stdout.startswith("Mine, ")


def test_policy_from_a_module(cli: Cli, trace: Path) -> None:
    assert cli("run", trace, "--policy", "hpcsim.policies.orders:SJF").stdout.startswith("SJF, ")


def test_set_changes_the_policy(cli: Cli, trace: Path) -> None:
    """Backfilling without reservations starts job 4 beside job 2; with depth 0 nothing is backfilled."""

    def waits(*options: object) -> float:
        return float(json.loads(cli("run", trace, "--json", "--policy", "backfill", *options).stdout)["mean_wait_s"])

    assert waits() == pytest.approx((0 + 99 + 148 + 97) / 4)
    assert waits("--set", "depth=0") == pytest.approx((0 + 99 + 148 + 167) / 4)
    assert waits("--set", "order=sjf", "--set", "depth=0") == pytest.approx((0 + 119 + 98 + 117) / 4)


def test_limit_and_until_cut_the_run(cli: Cli, trace: Path) -> None:
    assert json.loads(cli("run", trace, "--limit", 2, "--json").stdout)["jobs_started"] == 2
    assert json.loads(cli("run", trace, "--until", 50, "--json").stdout)["jobs_started"] == 1


def test_out_can_be_written_twice(cli: Cli, trace: Path, tmp_path: Path) -> None:
    for _ in range(2):
        assert cli("run", trace, "--out", tmp_path / "a" / "b").exit_code == 0


def test_commonest_reason_of_rejection_stands_under_the_table(cli: Cli, write_log: Callable[..., Path]) -> None:
    """Two jobs want 9 of 4 processors, one wants 8."""
    done = cli("run", write_log([(1, 0, 5, 8), (2, 1, 5, 9), (3, 2, 5, 9), (4, 3, 5, 1)]))
    reason = "Commonest reason of rejection (2 of 3): wants 9 processors, the most it can ever have is 4."
    assert re.search(r"\n  rejected +3 *\n", done.stdout)
    assert done.stdout.splitlines()[-1] == reason
    assert "rejection" not in cli("run", write_log([(1, 0, 5, 4)])).stdout


def test_load_as_run_and_as_logged_are_told_apart(cli: Cli, write_log: Callable[..., Path]) -> None:
    """Over 10 s on 4 processors the log offers 4 x 10 + 8 x 5 = 80 of 40; of these 8 x 5 can never run."""
    path = write_log([(1, 0, 10, 4), (2, 10, 5, 8)])
    assert re.search(r"offered load, as logged +200.0 %", cli("workload", "info", path).stdout)
    assert re.search(r"offered load, as run +100.0 %", cli("run", path).stdout)
