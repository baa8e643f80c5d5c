"""A small log, and two ways to call the command line: in this process and as a real one."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from hpcsim.cli import app

HEADER = "; Version: 2.2\n; MaxProcs: 4\n; MaxNodes: 4\n"
JOBS = ((1, 0, 100, 4), (2, 1, 50, 2), (3, 2, 20, 4), (4, 3, 30, 2))
"""Job id, submit, run time, processors; the limit is twice the run time."""


def _swf_row(job_id: int, submit_s: int, run_s: int, processors: int) -> str:
    """Return one line of 18 fields; the user is number 7."""
    head = f"{job_id} {submit_s} -1 {run_s} {processors} -1 -1 {processors} {2 * run_s} -1 1 7"
    return f"{head} 1 1 1 -1 -1 -1\n"


@pytest.fixture
def write_log(tmp_path: Path) -> Callable[..., Path]:
    """Write jobs (id, submit, run time, processors) as a log whose name has a blank and an accent."""

    def write(jobs: Sequence[tuple[int, int, int, int]], header: str = HEADER) -> Path:
        path = tmp_path / "journal d'été.swf"
        path.write_text(header + "".join(_swf_row(*job) for job in jobs), encoding="utf-8")
        return path

    return write


@pytest.fixture
def trace(write_log: Callable[..., Path]) -> Path:
    """Four jobs on a machine of four processors."""
    return write_log(JOBS)


@pytest.fixture
def cli() -> Callable[..., Result]:
    """Call the command line in this process; standard output and error are kept apart."""

    def call(*arguments: object) -> Result:
        return CliRunner().invoke(app, [str(argument) for argument in arguments])

    return call


@pytest.fixture
def shell() -> Callable[..., subprocess.CompletedProcess[str]]:
    """Call the command line as a process of its own."""

    def call(*arguments: object) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "hpcsim.cli", *map(str, arguments)]
        return subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)

    return call


@pytest.fixture
def policy_file(tmp_path: Path) -> Callable[[str], Path]:
    """Write a policy file whose class `Mine` has the given body."""

    def write(body: str) -> Path:
        path = tmp_path / "my policy.py"
        lines = "".join(f"        {line}\n" for line in body.splitlines())
        path.write_text(
            "from hpcsim import Policy, Start\n\n\nclass Mine(Policy):\n    def schedule(self, system):\n" + lines,
            encoding="utf-8",
        )
        return path

    return write
