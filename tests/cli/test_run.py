"""`hpcsim run`: what it prints, what it writes, how it finds machine and policy."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest
from typer.testing import Result

from hpcsim import Cluster
from hpcsim.registry import names

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


def test_set_reaches_the_parts_of_a_policy_by_name(cli: Cli, trace: Path, tmp_path: Path) -> None:
    """The record of the run says what was made of it."""
    options = ("order=wfp3", "order.compat=rlscheduler", "estimates=user-quantile", "estimates.quantile=0.5")
    settings = [word for option in options for word in ("--set", option)]
    assert cli("run", trace, "--policy", "backfill", *settings, "--out", tmp_path / "out").exit_code == 0
    record = json.loads((tmp_path / "out" / "provenance.json").read_text())["policy"]["parameters"]
    assert record["order"] == {"class": "WFP3", "compat": "rlscheduler"}
    assert (record["estimates"]["class"], record["estimates"]["quantile"]) == ("UserQuantile", 0.5)


@pytest.mark.parametrize("name", names("policies"))
def test_every_policy_can_be_run_by_its_name(cli: Cli, trace: Path, name: str) -> None:
    done = cli("run", trace, "--policy", name, "--check", "--json")
    assert json.loads(done.stdout)["jobs_started"] == 4


@pytest.mark.parametrize("group", ["orders", "estimators"])
def test_every_part_can_be_set_by_its_name(cli: Cli, trace: Path, group: str) -> None:
    for name in names(group):
        extra = ("--set", "order.function=operator:is_") if name == "by-function" else ()
        part = {"orders": "order", "estimators": "estimates"}[group]
        assert cli("run", trace, "--policy", "easy", "--set", f"{part}={name}", *extra, "--json").exit_code == 0


def test_placement_chooses_the_nodes(cli: Cli, write_log: Callable[..., Path], tmp_path: Path) -> None:
    """Job 3 wants two processors when 0, 2 and 3 are free: the lowest ids, or the two beside each other."""
    log = write_log([(1, 0, 10, 1), (2, 0, 99, 1), (3, 20, 5, 2)])
    placed = {}
    for name in names("placements"):
        done = cli("run", log, "--placement", name, "--check", "--out", tmp_path / name)
        assert done.exit_code == 0, done.output
        placed[name] = pd.read_parquet(tmp_path / name / "jobs.parquet")["node_ids"].iloc[2]
    assert (placed["first-fit"], placed["best-fit"], placed["contiguous"]) == ("0,2", "2-3", "2-3")
    assert cli("run", log, "--placement", "best-fti").stderr.count("Did you mean 'best-fit'?") == 1


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        (("order=wfp33",), "Did you mean 'wfp3'?"),
        (("order.compat=rlscheduler",), "Add --set order=NAME"),
        (("order=wfp3", "order.compta=1"), "Did you mean 'compat'?"),
        (("order=multifactor", "order.half_life_s=-1"), "half_life_s is -1"),
        (("protocol=rlscheduler", "reservations=2"), "has one reservation"),
    ],
)
def test_settings_that_make_no_sense_are_refused_in_a_sentence(
    cli: Cli, trace: Path, settings: tuple[str, ...], message: str
) -> None:
    words = [word for setting in settings for word in ("--set", setting)]
    done = cli("run", trace, "--policy", "easy", *words)
    assert done.exit_code != 0
    assert message in done.stderr


def test_limit_and_until_cut_the_run(cli: Cli, trace: Path) -> None:
    assert json.loads(cli("run", trace, "--limit", 2, "--json").stdout)["jobs_started"] == 2
    assert json.loads(cli("run", trace, "--until", 50, "--json").stdout)["jobs_started"] == 1


def test_grace_lets_jobs_run_over_their_limits(cli: Cli, write_log: Callable[..., Path]) -> None:
    """A job of 100 s whose limit of 200 s is put at 60 s."""
    log = write_log([(1, 0, 100, 2)])
    text = log.read_text().replace(" 200 ", " 60 ")
    log.write_text(text)
    ends = [json.loads(cli("run", log, "--grace", grace, "--json").stdout) for grace in (0, 30, 60)]
    assert [figures["makespan_s"] for figures in ends] == [60, 90, 100]
    assert cli("run", log, "--grace", -1).exit_code == 2


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
