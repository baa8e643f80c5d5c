"""Scripts under bench/ are run by hand and rarely; this keeps what they import from moving away under them."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

import pytest

BENCH = sorted((Path(__file__).parents[1] / "bench").glob("*.py"))


def test_there_are_benchmarks() -> None:
    assert len(BENCH) > 5


@pytest.mark.parametrize("path", BENCH, ids=lambda path: path.stem)
def test_every_benchmark_can_be_loaded(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    name = f"bench_{path.stem}"
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    monkeypatch.syspath_prepend(str(path.parent))
    monkeypatch.setitem(sys.modules, name, module)  # dataclasses look themselves up there
    try:
        spec.loader.exec_module(module)
    except ModuleNotFoundError as error:
        if str(error.name).startswith("hpcsim"):
            raise
        pytest.skip(f"{error.name} is not installed")
