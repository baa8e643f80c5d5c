"""What the first command of a new user says before there is an environment."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path


def test_first_run_says_only_what_is_missing(root: Path, tmp_path: Path) -> None:
    """No environment yet and no such interpreter: one sentence, and nothing of the shell's own."""
    (tmp_path / ".ci").mkdir()
    shutil.copy(root / ".ci" / "venv", tmp_path / ".ci" / "venv")
    for name in ("pyproject.toml", "constraints.txt"):
        shutil.copy(root / name, tmp_path / name)
    environment = os.environ | {"PYTHON": str(tmp_path / "no-python")}
    done = subprocess.run(
        [".ci/venv", "run"], cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 2
    assert done.stdout == ""
    (line,) = done.stderr.splitlines()
    assert line.startswith("hpcsim: Python 3.11 or newer")
