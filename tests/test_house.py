"""House rules that no linter knows: sizes, names, documentation, what may be committed."""

from __future__ import annotations

import ast
import hashlib
import importlib
import inspect
import pkgutil
import re
import subprocess
import tomllib
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import Any

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

import hpcsim

ROOT = Path(__file__).resolve().parents[1]
LINES_PER_FILE = 450
LINES_PER_FUNCTION = 60
BYTES_PER_FILE = 200_000
DRAWERS = {"base", "common", "helpers", "manager", "misc", "utils"}
FORBIDDEN = {
    "a path of one machine": re.compile(r"/(?:work|root|home)/\w"),
    "the name of somebody else's distribution": re.compile(r"pip install (?:-\S+ )*['\"]?hpcsim(?!-des|[\w.])"),
}


def committed() -> list[Path]:
    """Return every file that git tracks or would, links left out."""
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    names = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout.split("\0")
    paths = [ROOT / name for name in names if name]
    return [path for path in paths if path.is_file() and not path.is_symlink()]


def scripts() -> list[Path]:
    """Return every Python file of the project, each once, by its real path."""
    return [path for path in committed() if path.suffix == ".py"]


def identify(path: Path) -> str:
    return str(path.relative_to(ROOT))


def own_lines(function: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    """Return a function's length in lines without its docstring."""
    total = (function.end_lineno or function.lineno) - function.lineno + 1
    first = function.body[0]
    if ast.get_docstring(function) is not None:
        total -= (first.end_lineno or first.lineno) - first.lineno + 1
    return total


@pytest.mark.parametrize("path", scripts(), ids=identify)
def test_files_and_functions_are_short(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert len(text.splitlines()) <= LINES_PER_FILE
    functions = [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]
    long = {function.name: own_lines(function) for function in functions if own_lines(function) > LINES_PER_FUNCTION}
    assert not long


@pytest.mark.parametrize("path", scripts(), ids=identify)
def test_no_file_is_a_drawer(path: Path) -> None:
    assert not DRAWERS & {path.stem.strip("_"), path.parent.name}


def modules() -> Iterator[str]:
    """Yield the name of every module of the package, the plug-ins among them."""
    yield "hpcsim"
    for module in pkgutil.walk_packages(hpcsim.__path__, "hpcsim."):
        yield module.name


def public_members(owner: Any) -> Iterator[tuple[str, Any]]:
    """Yield public classes, functions, methods and properties that *owner* defines itself."""
    module = getattr(owner, "__module__", owner.__name__)
    for name, value in vars(owner).items():
        plain = value.__func__ if isinstance(value, classmethod | staticmethod) else value
        is_ours = isinstance(plain, property) or (
            (inspect.isclass(plain) or inspect.isfunction(plain)) and plain.__module__ == module
        )
        if is_ours and not name.startswith("_"):
            yield name, plain


def undocumented(owner: Any, path: str) -> Iterator[str]:
    """Yield what lacks a docstring; that of the contract serves a method that fulfils it."""
    for name, value in public_members(owner):
        inherited = getattr(owner, name)
        if not (inspect.getdoc(value) or inspect.getdoc(inherited)):
            yield f"{path}.{name}"
        if inspect.isclass(value):
            yield from undocumented(value, f"{path}.{name}")


@pytest.mark.parametrize("name", sorted(modules()))
def test_everything_public_is_documented(name: str) -> None:
    module = importlib.import_module(name)
    assert module.__doc__, f"{name} does not say what it is for"
    assert not list(undocumented(module, name))


def test_walk_reaches_every_package() -> None:
    seen = set(modules())
    assert {"hpcsim.engine.simulation", "hpcsim.policies.backfill", "hpcsim.workloads", "hpcsim.surrogates"} <= seen


def test_no_big_file_is_committed() -> None:
    big = {identify(path): path.stat().st_size for path in committed() if path.stat().st_size > BYTES_PER_FILE}
    assert not big


def test_no_job_log_is_committed(shared: Path) -> None:
    """The logs have terms of use of their own: they are fetched, never passed on."""
    lines = (shared / "SHA256SUMS").read_text(encoding="utf-8").splitlines()
    known = {line.split()[0]: line.split()[1] for line in lines if line.strip()}
    assert known
    found = {identify(path): known.get(hashlib.sha256(path.read_bytes()).hexdigest()) for path in committed()}
    assert not {path: log for path, log in found.items() if log is not None}


@pytest.mark.parametrize("what", FORBIDDEN)
def test_text_holds_nothing_forbidden(what: str) -> None:
    found = []
    for path in committed():
        for number, line in enumerate(path.read_bytes().decode("utf-8", "replace").splitlines(), start=1):
            if FORBIDDEN[what].search(line):
                found.append(f"{identify(path)}:{number}: {line.strip()}")
    assert not found


@pytest.mark.parametrize(
    ("arguments", "is_wrong"),
    [("hpcsim", True), ("-U 'hpcsim[rl]'", True), ("hpcsim-des", False), ("'hpcsim-des[rl]'", False)],
)
def test_rule_about_the_distribution_tells_the_two_apart(arguments: str, is_wrong: bool) -> None:
    rule = FORBIDDEN["the name of somebody else's distribution"]
    assert bool(rule.search(f"pip install {arguments}")) is is_wrong


def project() -> dict[str, Any]:
    table: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    return table


def test_version_is_one_version() -> None:
    assert project()["version"] == hpcsim.__version__
    assert f"## [{hpcsim.__version__}]" in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")


def test_every_requirement_is_pinned_to_a_version_it_allows() -> None:
    pins = {}
    for line in (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines():
        if line and not line.startswith("#"):
            name, _, version = line.partition("==")
            pins[canonicalize_name(name)] = version
    extras = chain.from_iterable(project()["optional-dependencies"].values())
    wanted = [Requirement(text) for text in [*project()["dependencies"], *extras]]
    for requirement in wanted:
        name = canonicalize_name(requirement.name)
        if name != "hpcsim-des":
            assert name in pins, f"constraints.txt does not pin {name}"
            assert requirement.specifier.contains(pins[name]), f"{requirement} does not allow {pins[name]}"
