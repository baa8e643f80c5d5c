"""`hpcsim check`: a page, an exit code, and an end to what has none."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from hpcsim.testing import CHECKS

QUICK = ("--examples", "10")


def test_sound_policy_exits_with_0(cli: Callable[..., Any]) -> None:
    outcome = cli("check", "fcfs", *QUICK)
    assert outcome.exit_code == 0, outcome.output
    lines = outcome.stdout.splitlines()
    assert lines[0] == "FCFS()"
    shown = [line.split()[0] for line in lines if line and line.split()[0] in {check.name for check in CHECKS}]
    assert shown == [check.name for check in CHECKS]
    assert lines[-1] == "All that it claims holds: 17 checks passed, 2 not declared."
    assert max(map(len, lines)) <= 80


def test_broken_policy_exits_with_1_and_shows_how(cli: Callable[..., Any], policy_file: Any) -> None:
    path = policy_file("print('a word to nobody')\nfor job in system.queue:\n    yield Start(job)")
    outcome = cli("check", f"{path}:Mine", *QUICK)
    assert outcome.exit_code == 1
    assert "never-over-allocates  failed" in outcome.stdout
    assert "    Workload, on Cluster.of_nodes(1):" in outcome.stdout
    assert "a word" not in outcome.stdout
    assert outcome.stdout.splitlines()[-1].startswith("Failed: never-over-allocates.")


@pytest.mark.parametrize("word", ["os.write(1, b'word\\n')", "os.system('echo word')"], ids=["itself", "a child"])
def test_policy_may_print_past_python(cli: Callable[..., Any], policy_file: Any, word: str) -> None:
    """As libraries in C do, or programs that it starts."""
    path = policy_file(
        f"import os\n{word}\nfor job in system.queue[:1]:\n    if system.fits(job):\n        yield Start(job)"
    )
    outcome = cli("check", f"{path}:Mine", "--only", "one-job", "--only", "rebuilt-elsewhere", "--json", *QUICK)
    assert outcome.exit_code == 0, outcome.output
    assert json.loads(outcome.stdout)["holds"] is True


def test_endless_policy_is_stopped_and_its_line_named(cli: Callable[..., Any], policy_file: Any) -> None:
    path = policy_file("while True:\n    pass\nyield")
    outcome = cli("check", f"{path}:Mine", "--only", "one-job", "--only", "drains", "--timeout", "5")
    assert outcome.exit_code == 1
    assert "drains   failed" in outcome.stdout
    assert "one-job  not tested  cannot say: drains did not end" in outcome.stdout
    assert f"It did not end within 5 s: it was in schedule ({path}, line " in outcome.stdout


def test_policy_that_ends_the_program_is_caught(cli: Callable[..., Any], policy_file: Any) -> None:
    path = policy_file("import os\nos._exit(0)\nyield")
    outcome = cli("check", f"{path}:Mine", "--only", "one-job")
    assert outcome.exit_code == 1
    assert "Its process ended with exit code 0. A policy must not end the program." in outcome.stdout


def test_json_has_the_same_outcomes(cli: Callable[..., Any]) -> None:
    outcome = cli("check", "backfill", "--set", "order=sjf", "--set", "reservations=0", "--json", *QUICK)
    assert outcome.exit_code == 0, outcome.output
    verdict = json.loads(outcome.stdout)
    assert verdict["holds"] is True
    assert verdict["policy"].startswith("Backfill(order=SJF(), backfill_order=None, reservations=0")
    assert [entry["check"] for entry in verdict["checks"]] == [check.name for check in CHECKS]
    assert {entry["status"] for entry in verdict["checks"]} == {"passed", "not declared"}


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["esay"], "Did you mean 'easy'?"),
        (["easy", "--set", "dept=3"], "Did you mean 'depth'?"),
        (["easy", "--only", "one-jobs"], "Did you mean 'one-job'?"),
        (["nowhere.py:Mine"], "There is no file nowhere.py."),
        (["json:JSONDecoder"], "is not a policy"),
    ],
)
def test_wrong_word_exits_with_2_and_a_sentence(cli: Callable[..., Any], arguments: list[str], words: str) -> None:
    outcome = cli("check", *arguments)
    assert outcome.exit_code == 2
    assert words in outcome.stderr
    assert len(outcome.stderr.splitlines()) == 1


def test_module_in_the_current_folder_is_found(
    shell: Callable[..., Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, root: Path
) -> None:
    (tmp_path / "mine.py").write_text("from hpcsim.policies import FCFS\nclass Mine(FCFS):\n    pass\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PYTHONPATH", str(root))
    outcome = shell("check", "mine:Mine", "--only", "rebuilt-elsewhere", *QUICK)
    assert outcome.returncode == 0, outcome.stderr
    assert not outcome.stderr
    assert [path.name for path in tmp_path.iterdir() if path.name != "__pycache__"] == ["mine.py"]
