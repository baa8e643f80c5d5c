"""The page on looking at results keeps its word: its Python runs, its commands exist."""

from __future__ import annotations

import re
import runpy
from pathlib import Path

import pytest
from typer.main import get_command

from hpcsim.cli import app

PAGE = (Path(__file__).resolve().parents[1] / "docs" / "results.md").read_text(encoding="utf-8")


def test_python_runs_and_says_what_the_page_says(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    script = tmp_path / "page.py"
    script.write_text(
        "\n".join(re.findall(r"^```python\n(.*?)^```", PAGE, flags=re.MULTILINE | re.DOTALL)), encoding="utf-8"
    )
    runpy.run_path(str(script))
    printed = capsys.readouterr().out
    assert "1 min 30 s (64.3 %)" in printed
    assert "job 2" in printed
    assert printed.splitlines()[-1].split() == ["2", "3", "50.0", "90.0", "0.0"]


@pytest.mark.parametrize("line", re.findall(r"^hpcsim .*", PAGE, flags=re.MULTILINE))
def test_commands_and_their_options_exist(line: str) -> None:
    _, name, *words = line.split()
    command = get_command(app).commands[name]  # type: ignore[attr-defined]
    options = {option for parameter in command.params for option in parameter.opts}
    assert {word for word in words if word.startswith("-")} <= options
