"""Every snippet of the README and of docs/ is run, page by page: commands in order, then the Python."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest

from tests.docs.blocks import LANGUAGES, PAGES, Block, blocks, name_of
from tests.docs.props import NEEDS_LOGS, REPLACED, lay_out

SLOW = {"docs/testing.md", "docs/tutorial.md"}
RUN = [page for page in PAGES if any(block.language not in {"text", ""} for block in blocks(page))]
NOT_RUN = {
    "README.md": 1,
    "docs/ablation.md": 1,
    "docs/advisor-in-the-simulator.md": 2,
    "docs/evaluation-results.md": 2,
    "docs/surrogate-study.md": 1,
    "docs/learning.md": 1,
    "docs/sweeps.md": 2,
}
"""Blocks that no test can run, by page: whoever adds one says so here, and why beside it."""

PYTHON_ELSEWHERE = {"docs/learning.md"}
"""Pages whose Python needs more than a folder with a log; tests/learning/test_learning_page.py runs this one's."""

SLOWEST_S = 300


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_every_block_says_what_it_is(page: Path) -> None:
    """A block without a language would be shown and never run."""
    fences = [line for line in page.read_text(encoding="utf-8").splitlines() if line.startswith("```")]
    found = list(blocks(page))
    assert len(fences) == 2 * len(found)
    assert {block.language for block in found} <= LANGUAGES
    assert sum(bool(block.reason) for block in found) == NOT_RUN.get(name_of(page), 0)


@pytest.mark.parametrize(
    "page", [pytest.param(page, marks=[pytest.mark.slow] * (name_of(page) in SLOW), id=name_of(page)) for page in RUN]
)
def test_page_does_what_it_says(page: Path, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    shared = request.getfixturevalue("shared") if name_of(page) in NEEDS_LOGS else None
    environment = os.environ | lay_out(name_of(page), tmp_path, shared)
    environment["PATH"] = f"{tmp_path}/bin:{Path(sys.executable).parent}:{environment['PATH']}"
    written: list[str] = []
    for block in blocks(page):
        if block.reason:
            continue
        text = block.text
        for old, new in REPLACED.get(name_of(page), []):
            text = text.replace(old, new)
        where = f"{name_of(page)}:{block.line}"
        if block.title:
            (tmp_path / block.title).write_text(text, encoding="utf-8")
        if block.language == "console":
            _run(["bash", "-euo", "pipefail", "-c", text], where, tmp_path, environment)
        elif block.language == "python" and not block.title and name_of(page) not in PYTHON_ELSEWHERE:
            written.append(text)
        elif block.language == "toml":
            tomllib.loads(text)
        elif block.language == "json":
            json.loads(text)
    if written:
        _run_python(written, name_of(page), tmp_path, environment)


def _run_python(written: list[str], where: str, folder: Path, environment: dict[str, str]) -> None:
    """Run the snippets *written* on a page, one after the other; those that hold tests are tested."""
    prelude = Path(__file__).with_name("preludes") / Path(where).with_suffix(".txt").name
    before = prelude.read_text(encoding="utf-8") if prelude.exists() else ""
    script = folder / "test_page.py"
    script.write_text("\n".join([before, *written]), encoding="utf-8")
    is_test = any("def test_" in text for text in written)
    program = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"] if is_test else [sys.executable]
    _run([*program, str(script)], where, folder, environment)


def _run(command: list[str], where: str, folder: Path, environment: dict[str, str]) -> None:
    run = subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, timeout=SLOWEST_S, check=False
    )
    assert run.returncode == 0, f"{where}\n{run.stdout[-2000:]}\n{run.stderr[-2000:]}"


def _options(block: Block) -> list[tuple[list[str], set[str]]]:
    """Return the words behind `hpcsim` of each command of a block, and the options that it is given."""
    lines = block.text.replace("\\\n", " ").splitlines()
    calls = [shlex.split(line, comments=True) for line in lines if line.startswith("hpcsim ")]
    return [(call[1:], {word for word in call[2:] if word.startswith("--")}) for call in calls]


@pytest.mark.parametrize("page", [page for page in PAGES if name_of(page) in NOT_RUN], ids=name_of)
def test_commands_that_are_not_run_exist(page: Path) -> None:
    from typer.main import get_command

    from hpcsim.cli import app

    root: Any = get_command(app)
    for block in blocks(page):
        for words, options in _options(block) if block.reason else []:
            command = root
            for part in words[: 1 + hasattr(root.commands[words[0]], "commands")]:
                command = command.commands[part]
            known = {option for parameter in command.params for option in parameter.opts}
            assert options <= known


def test_pages_agree_with_the_files_they_quote(root: Path) -> None:
    """The study on the page on tuning is the example that its command runs."""
    (study,) = (block for block in blocks(root / "docs" / "tuning.md") if block.language == "toml")
    example = tomllib.loads((root / "examples" / "tune.toml").read_text(encoding="utf-8"))
    assert tomllib.loads(study.text) == example
