"""`hpcsim --version`, `list` and `workload info`."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import Result

import hpcsim
from hpcsim import registry

Cli = Callable[..., Result]
Files = Callable[..., Path]


def test_version(cli: Cli) -> None:
    assert cli("--version").stdout == f"hpcsim {hpcsim.__version__}\n"


def test_start_up_loads_nothing_that_it_does_not_use() -> None:
    code = "import sys, hpcsim.cli; print(*({'pandas', 'pyarrow', 'pydantic', 'rich', 'networkx'} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout.strip() == ""


def test_list_names_every_policy_with_its_summary(cli: Cli) -> None:
    shown = cli("list", "policies").stdout
    entries = json.loads(cli("list", "--json").stdout)
    assert [entry["name"] for entry in entries] == registry.names("policies")
    assert all(entry["name"] in shown and entry["summary"] for entry in entries)


def test_list_of_an_unknown_group(cli: Cli) -> None:
    done = cli("list", "polices")
    assert done.exit_code == 2
    assert "Did you mean 'policies'?" in done.stderr


def test_workload_info_counts_by_hand(cli: Cli, write_log: Files) -> None:
    """Four rows: one has no processors, one no run time; 10 x 2 + 30 x 4 node-seconds over 100 s x 4 processors."""
    path = write_log([(1, 0, 10, 2), (2, 10, 30, 4), (3, 20, 10, -1), (4, 100, 0, 1)])
    facts = json.loads(cli("workload", "info", path, "--json").stdout)
    assert (facts["rows"], facts["kept"], facts["refused"], facts["usable"]) == (4, 3, 1, 2)
    assert facts["processors"] == 4
    assert facts["offered_load"] == pytest.approx((10 * 2 + 30 * 4) / (100 * 4))
    assert facts["submit_span_s"] == 100
    assert facts["users"] == 1
    assert facts["nodes"]["p100"] == 4
    assert sum(rule["rows"] for rule in facts["rules"] if rule["effect"] == "refused") == 1


def test_workload_info_of_a_log_that_names_no_machine(cli: Cli, write_log: Files) -> None:
    facts = json.loads(cli("workload", "info", write_log([(1, 0, 10, 2)], header=""), "--json").stdout)
    assert facts["processors"] == 2
    assert facts["offered_load"] is None
    assert "machine-from-widest-job" in [rule["rule"] for rule in facts["rules"]]


def test_workload_info_table(cli: Cli, trace: Path) -> None:
    done = cli("workload", "info", trace)
    assert done.exit_code == 0
    assert done.stdout.startswith(trace.name)
    assert max(map(len, done.stdout.splitlines())) <= 80


@pytest.mark.parametrize("command", [["run"], ["compare", "--policy", "easy"], ["workload", "info"]])
def test_quarantine_writes_the_refused_rows(cli: Cli, write_log: Files, command: list[str]) -> None:
    path = write_log([(1, 0, 10, 2), (2, 10, 10, -1)])
    kept = path.parent / "refused.swf"
    assert cli(*command, path, "--quarantine", kept, "--mode", "quarantine").exit_code == 0
    assert cli(*command, path, "--quarantine", kept).exit_code == 0
    rows = [line for line in kept.read_text().splitlines() if not line.startswith(";")]
    assert [row.split()[0] for row in rows] == ["2"]


def test_list_of_an_empty_group_says_so(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registry, "names", lambda group: [])
    assert cli("list", "advisors").stdout.startswith("Nothing is registered under 'advisors'. ")
    assert json.loads(cli("list", "advisors", "--json").stdout) == []


def test_list_shows_no_marks_of_docstrings(cli: Cli) -> None:
    assert "Backfilling with reservations for" in cli("list", "policies").stdout
