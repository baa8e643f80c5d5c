"""The README keeps its word: its Python runs, its commands exist."""

from __future__ import annotations

import re
import runpy
import shlex
from pathlib import Path

import pytest
from typer.testing import CliRunner

ROOT = Path(__file__).resolve().parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")


def blocks(language: str) -> list[str]:
    """Return the code blocks of one language, in order."""
    return re.findall(rf"^```{language}\n(.*?)^```", README, flags=re.MULTILINE | re.DOTALL)


def commands(program: str) -> list[str]:
    """Return the command lines of the console blocks that call *program*, without remarks."""
    lines = "".join(blocks("console")).splitlines()
    return [line.partition("#")[0].strip() for line in lines if line.startswith(f"{program} ")]


def test_readme_has_what_these_tests_run() -> None:
    assert len(blocks("python")) >= 3
    assert len(commands("make")) >= 2
    assert len(commands("hpcsim")) >= 3


def test_python_blocks_run_one_after_the_other(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    script = tmp_path / "readme.py"
    script.write_text("\n".join(blocks("python")), encoding="utf-8")
    runpy.run_path(str(script), run_name="readme")
    printed = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in printed[:3]] == ["fcfs", "easy", "conservative"]
    assert all(float(number) > 0 for number in printed[3:])


def test_promised_lengths_are_kept() -> None:
    first, policy, *_ = blocks("python")
    assert len(first.strip().splitlines()) <= 10
    assert len(policy.strip().splitlines()) <= 15


@pytest.mark.parametrize("command", commands("make"))
def test_make_targets_exist(command: str) -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    assert f"\n{command.split()[1]}:" in makefile


@pytest.mark.parametrize("command", commands("hpcsim"))
def test_command_lines_work(command: str, shared: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from hpcsim.cli import app

    for log in (shared / "traces").iterdir():
        (tmp_path / log.name).symlink_to(log)
    monkeypatch.chdir(tmp_path)
    outcome = CliRunner().invoke(app, shlex.split(command)[1:])
    assert outcome.exit_code == 0, outcome.output
    assert outcome.stdout.strip()


@pytest.mark.parametrize("target", re.findall(r"\]\(((?!https?:)[^)]+)\)", README))
def test_links_lead_somewhere(target: str) -> None:
    assert (ROOT / target).exists()
