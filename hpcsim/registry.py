"""Names to factories: ``make("policies", "easy", depth=10)``, lazily, through entry points.

A plug-in of another distribution registers itself under ``hpcsim.<group>`` in its own metadata. A
name may also be ``module:Class`` or ``file.py:Class``, so that a policy needs no packaging at all.
"""

from __future__ import annotations

import hashlib
import importlib
import importlib.util
import inspect
import sys
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from types import ModuleType
from typing import Any

from hpcsim.errors import HpcsimError, MissingExtra, UnknownName, closest

GROUPS = (
    "policies",
    "orders",
    "estimators",
    "placements",
    "readers",
    "writers",
    "models",
    "datasets",
    "clusters",
    "transformations",
    "surrogates",
    "search",
    "advisors",
    "studies",
)


def names(group: str) -> list[str]:
    """Return the registered names of *group*, sorted; nothing is imported."""
    return sorted(_entries(group))


def find(group: str, name: str) -> Any:
    """Return the factory (a class or function) behind *name*.

    Raises:
        UnknownName: nothing is registered under it, or the module or file has no such member.
        MissingExtra: its optional packages are not installed.
    """
    if ":" in name:
        return _find_in_module(name, _contract(group))
    entries = _entries(group)
    if name not in entries:
        raise UnknownName(
            f"There is no {_singular(group)} called '{name}'.{closest(name, entries)}",
            f"Known: {', '.join(sorted(entries)) or 'none'}; or give module:Class or file.py:Class.",
        )
    try:
        return entries[name].load()
    except ModuleNotFoundError as error:
        extra = entries[name].extras
        raise MissingExtra(
            f"'{name}' needs the package '{error.name}', which is not installed.",
            f"Type: pip install 'hpcsim-des[{extra[0] if extra else 'all'}]'.",
        ) from error


def make(group: str, name: str, /, **parameters: Any) -> Any:
    """Return a new object of *group* by name, with keyword parameters.

    Raises:
        UnknownName: no such name or parameter, or what it names is of another kind.
        MissingExtra: as `find`.
    """
    factory = find(group, name)
    contract = _contract(group)
    if contract is not None and isinstance(factory, type) and not issubclass(factory, contract):
        raise UnknownName(
            f"'{name}' is no {_singular(group)}: {factory.__name__} does not inherit {contract.__qualname__}.",
            f"Name a subclass of {contract.__module__}.{contract.__qualname__}.",
        )
    known = [parameter.name for parameter in _parameters(factory)]
    for parameter in parameters:
        if parameter not in known and not _takes_any(factory):
            raise UnknownName(
                f"{_singular(group).capitalize()} '{name}' has no parameter '{parameter}'.{closest(parameter, known)}",
                f"It takes: {', '.join(known) or 'none'}.",
            )
    return factory(**parameters)


def target(group: str, name: str) -> str:
    """Return ``module:Class`` behind the registered *name*; nothing is imported."""
    return _entries(group)[name].value.partition("[")[0].strip()


def summary(group: str, name: str) -> str:
    """Return the first line of the docstring behind *name*."""
    return (inspect.getdoc(find(group, name)) or "").partition("\n")[0]


def _takes_any(factory: Any) -> bool:
    kinds = (parameter.kind for parameter in inspect.signature(factory).parameters.values())
    return inspect.Parameter.VAR_KEYWORD in kinds


def _parameters(factory: Any) -> list[inspect.Parameter]:
    kinds = (inspect.Parameter.KEYWORD_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    return [p for p in inspect.signature(factory).parameters.values() if p.kind in kinds]


@cache
def _entries(group: str) -> dict[str, EntryPoint]:
    if group not in GROUPS:
        raise UnknownName(
            f"There is no registry group '{group}'.{closest(group, GROUPS)}", f"Known: {', '.join(GROUPS)}."
        )
    return {entry.name: entry for entry in entry_points(group=f"hpcsim.{group}")}


def _contract(group: str) -> type | None:
    """Return the class that members of *group* inherit, or None where they are functions."""
    contracts = {
        "policies": "policy:Policy",
        "orders": "policy:Order",
        "estimators": "estimator:Estimator",
        "placements": "placement:Placement",
        "advisors": "advisor:Advisor",
        "surrogates": "surrogate:Surrogate",
        "search": "search:Search",
    }
    if group not in contracts:
        return None
    module, _, name = contracts[group].partition(":")
    contract: type = getattr(importlib.import_module(f"hpcsim.{module}"), name)
    return contract


def _singular(group: str) -> str:
    words = {"policies": "policy", "search": "search engine", "models": "workload model", "clusters": "cluster format"}
    words |= {"studies": "study"}
    return words.get(group, group[:-1])


def _find_in_module(name: str, contract: type | None) -> Any:
    where, _, member = name.rpartition(":")
    module = _load_file(Path(where)) if where.endswith(".py") else _load_module(where)
    if not hasattr(module, member):
        known = _classes(module, contract)
        remedy = f"It has: {', '.join(known)}." if known else "It defines no class; check the path."
        raise UnknownName(f"{where} has no class '{member}'.{closest(member, known)}", remedy)
    return getattr(module, member)


def _classes(module: ModuleType, contract: type | None) -> list[str]:
    """Return the names in *module* that may have been meant: its own classes, and others that keep *contract*."""
    classes = [(name, value) for name, value in vars(module).items() if inspect.isclass(value)]
    return [name for name, value in classes if value.__module__ == module.__name__ or _keeps(value, contract)]


def _keeps(kind: type, contract: type | None) -> bool:
    return contract is not None and issubclass(kind, contract) and not inspect.isabstract(kind)


def _load_module(where: str) -> ModuleType:
    try:
        return importlib.import_module(where)
    except (ModuleNotFoundError, ValueError) as error:
        raise UnknownName(f"Cannot import '{where}': {error}.", "Check the spelling, or give file.py:Class.") from error


def _load_file(path: Path) -> ModuleType:
    """Import a file under a name of its own, so that spawned workers can rebuild what it defines."""
    name = f"hpcsim_user_{hashlib.sha256(str(path.resolve()).encode()).hexdigest()[:12]}"
    if not path.is_file():
        raise UnknownName(f"There is no file {path}.", "Check the path.")
    specification = importlib.util.spec_from_file_location(name, path)
    assert specification is not None
    assert specification.loader is not None
    module = importlib.util.module_from_spec(specification)
    sys.modules[name] = module
    try:
        specification.loader.exec_module(module)
    except Exception as error:
        del sys.modules[name]
        raise HpcsimError(f"{path} raised {type(error).__name__} when imported: {error}.", "Mend the file.") from error
    return module
