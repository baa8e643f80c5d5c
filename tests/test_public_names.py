"""The public names: sorted by use, documented, and cheap to import."""

from __future__ import annotations

import ast
import inspect
import os
import subprocess
import sys
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path

import pytest

import hpcsim

HEAVY = (
    *("botorch", "dask", "gymnasium", "hypothesis", "lightgbm", "matplotlib", "moocore", "networkx", "pandas"),
    *("plotly", "pooch", "pyarrow", "pydantic", "rich", "safetensors", "sklearn", "torch", "typer", "xgboost"),
)
OPTIONAL = ("botorch", "gymnasium", "lightgbm", "plotly", "sklearn", "torch", "xgboost")


def groups() -> Iterator[list[str]]:
    """Yield the names of each commented group of ``__all__``, as the file lists them."""
    lines = inspect.getsource(hpcsim).partition("__all__ = [")[2].partition("\n]")[0].splitlines()[1:]
    for is_heading, block in groupby(lines, key=lambda line: line.strip().startswith("#")):
        if not is_heading:
            yield list(ast.literal_eval("[" + "".join(block) + "]"))


def test_groups_make_up_all_names() -> None:
    assert [name for group in groups() for name in group] == hpcsim.__all__
    assert len(set(hpcsim.__all__)) == len(hpcsim.__all__)


def test_each_group_is_sorted() -> None:
    assert len(list(groups())) >= 4
    for group in groups():
        assert group == sorted(group)


def test_nothing_public_is_left_out() -> None:
    public = {
        name
        for name, value in vars(hpcsim).items()
        if not name.startswith("_") and (inspect.isclass(value) or inspect.isfunction(value)) and name != "Any"
    }
    assert public <= set(hpcsim.__all__)


@pytest.mark.parametrize("name", [name for name in hpcsim.__all__ if name != "Decision"])
def test_public_name_is_documented(name: str) -> None:
    """All but ``Decision``, a union, which cannot carry a docstring."""
    text = getattr(hpcsim, name).__doc__ or ""
    assert len(text.split()) >= 4, f"hpcsim.{name} has no docstring of its own"
    assert not text.startswith(f"{name}("), f"hpcsim.{name} has only the docstring that dataclass makes up"


def test_front_page_is_a_table_of_contents() -> None:
    assert len(inspect.getsource(hpcsim).splitlines()) <= 75


def loaded_after(program: str, root: Path) -> set[str]:
    """Run *program* in a fresh interpreter; return the top-level modules that it has loaded."""
    program += "\nimport sys; print(*{name.partition('.')[0] for name in sys.modules})"
    run = subprocess.run(
        [sys.executable, "-c", program],
        env=os.environ | {"PYTHONPATH": str(root)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stderr
    return set(run.stdout.split())


def test_import_loads_simpy_and_numpy_alone(root: Path) -> None:
    loaded = loaded_after("import hpcsim", root)
    assert {"hpcsim", "simpy", "numpy"} <= loaded
    assert loaded.isdisjoint(HEAVY)


def test_run_loads_no_optional_package(root: Path) -> None:
    program = """
import hpcsim
assert "easy" in hpcsim.registry.names("policies")
workload = hpcsim.Workload.of(submit_s=[0, 1, 2], run_s=[10, 5, 3], nodes=[1, 2, 1])
result = hpcsim.simulate(workload, hpcsim.Cluster.of_nodes(2), hpcsim.make_policy("easy"))
assert result.jobs["start_s"].tolist() == [0, 10, 2]
"""
    assert loaded_after(program, root).isdisjoint(OPTIONAL)
