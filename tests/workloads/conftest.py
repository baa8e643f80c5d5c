"""Fixtures for logs that are written by the test itself."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from pathlib import Path

import pytest

from hpcsim.errors import HpcsimWarning
from hpcsim.workload import Workload
from hpcsim.workloads.readers.swf import read_swf


def quietly(path: Path, **options) -> Workload:
    """Read a log whose warnings are not what the test is about."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", HpcsimWarning)
        return read_swf(path, **options)


@pytest.fixture(scope="session")
def read() -> Callable[..., Workload]:
    return quietly


@pytest.fixture
def read_text(tmp_path: Path) -> Callable[..., Workload]:
    """Return a function that writes a text or bytes as a log and reads it."""

    def read_text(text: str | bytes, name: str = "log.swf", **options) -> Workload:
        path = tmp_path / name
        path.write_bytes(text.encode() if isinstance(text, str) else text)
        return quietly(path, **options)

    return read_text
