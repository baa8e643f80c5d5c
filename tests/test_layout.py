"""The three links: one name for each module, whichever way it is looked at."""

from __future__ import annotations

import importlib
import inspect
import os
import subprocess
import sys
from pathlib import Path

import pytest

from hpcsim import registry

PLUG_INS = ("policies", "surrogates", "workloads")


@pytest.mark.parametrize("name", PLUG_INS)
def test_link_resolves_to_the_sibling(root: Path, name: str) -> None:
    link = root / "hpcsim" / name
    assert link.is_symlink(), f"{link} is no link; clone with git config core.symlinks true"
    assert not link.readlink().is_absolute()
    assert link.resolve() == root / name
    assert (root / name / "__init__.py").is_file()


@pytest.mark.parametrize("name", PLUG_INS)
def test_package_comes_from_this_checkout(root: Path, name: str) -> None:
    package = importlib.import_module(f"hpcsim.{name}")
    assert Path(inspect.getfile(package)).resolve() == root / name / "__init__.py"


def test_class_is_one_class_by_every_route() -> None:
    package = importlib.import_module("hpcsim.policies")
    module = importlib.import_module("hpcsim.policies.backfill")
    assert package.EASY is module.EASY is registry.find("policies", "easy")
    assert registry.find("policies", "hpcsim.policies.backfill:EASY") is module.EASY
    assert module.EASY.__module__ == "hpcsim.policies.backfill"


@pytest.mark.parametrize("name", PLUG_INS)
def test_other_name_is_refused_with_a_sentence(root: Path, name: str) -> None:
    run = subprocess.run(
        [sys.executable, "-c", f"import {name}"],
        cwd=root,
        env=os.environ | {"PYTHONPATH": str(root)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 1
    assert f"ImportError: Import this package as hpcsim.{name}" in run.stderr.splitlines()[-1]


def test_users_own_policies_module_does_not_get_in_the_way(root: Path, tmp_path: Path) -> None:
    (tmp_path / "policies.py").write_text("MINE = True\n")
    program = "import policies; from hpcsim.policies import EASY; assert policies.MINE and EASY"
    subprocess.run(
        [sys.executable, "-c", program], cwd=tmp_path, env=os.environ | {"PYTHONPATH": str(root)}, check=True
    )
