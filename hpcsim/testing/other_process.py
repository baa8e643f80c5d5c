"""Start a module of ours in an interpreter that finds the same modules as this one."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TextIO


def command(module: str) -> list[str]:
    """Return the command that runs *module*."""
    return [sys.executable, "-P", "-m", module]


def environment(**more: str) -> dict[str, str]:
    """Return this process's environment and *more*, with its own places to look for modules, and the current folder."""
    here = str(Path.cwd())
    paths = [*(path or here for path in sys.path), here]
    return {**os.environ, **more, "PYTHONPATH": os.pathsep.join(paths)}


@contextmanager
def answers_only() -> Iterator[TextIO]:
    """Yield a standard output that nobody else can write to: what others print goes to standard error.

    Others are a policy, a library in C and a program that either starts; they write to the file
    descriptor, which Python's own redirection does not reach.
    """
    assert sys.__stdout__ is not None
    assert sys.__stderr__ is not None
    sys.__stdout__.flush()
    ours = os.dup(sys.__stdout__.fileno())
    os.dup2(sys.__stderr__.fileno(), sys.__stdout__.fileno())
    with os.fdopen(ours, "w", encoding="utf-8") as answers:
        yield answers
