"""Start a module of ours in an interpreter that finds the same modules as this one."""

from __future__ import annotations

import os
import sys
from pathlib import Path


def command(module: str) -> list[str]:
    """Return the command that runs *module*."""
    return [sys.executable, "-P", "-m", module]


def environment(**more: str) -> dict[str, str]:
    """Return this process's environment and *more*, with its own places to look for modules, and the current folder."""
    here = str(Path.cwd())
    paths = [*(path or here for path in sys.path), here]
    return {**os.environ, **more, "PYTHONPATH": os.pathsep.join(paths)}
