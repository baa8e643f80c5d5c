"""A policy as plain data, from which another process can make the same one: a name and parameters."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, is_dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from hpcsim import registry
from hpcsim.errors import HpcsimError
from hpcsim.policy import Policy


@dataclass(frozen=True)
class PolicySpec:
    """A registry name, ``module:Class`` or ``file.py:Class``, and keyword parameters.

    Parameters may be numbers, texts, paths, lists, mappings, classes and functions that have a
    module, and orders, estimators and placements whose own parameters are of these kinds.
    """

    name: str
    parameters: Mapping[str, Any] = field(default_factory=dict)

    def make(self) -> Policy:
        """Return a new policy.

        Raises:
            UnknownName, MissingExtra: as `hpcsim.registry.make`.
        """
        policy: Policy = registry.make("policies", self.name, **self.parameters)
        return policy

    def to_plain(self) -> dict[str, Any]:
        """Return what JSON can carry.

        Raises:
            HpcsimError: a parameter has no name by which another process could find it.
        """
        return {"name": self.name, "parameters": {key: _to_plain(value) for key, value in self.parameters.items()}}

    @classmethod
    def from_plain(cls, plain: Mapping[str, Any]) -> PolicySpec:
        """Return the spec that `to_plain` wrote; nested plug-ins are made."""
        return cls(plain["name"], {key: _from_plain(value) for key, value in plain["parameters"].items()})

    @classmethod
    def of(cls, policy: Policy) -> PolicySpec:
        """Return the spec of an instance: where its class stands, and its parameters as they are now.

        Raises:
            HpcsimError: the class has no name by which another process could find it.
        """
        return cls(locate(type(policy)), {f.name: getattr(policy, f.name) for f in fields(policy)})  # type: ignore[arg-type]


def locate(thing: Any) -> str:
    """Return ``module:name`` of a class or function, or ``file.py:name`` where its module cannot be imported.

    Raises:
        HpcsimError: it is defined inside a function or class, or in no file.
    """
    name = thing.__qualname__
    if "." in name or "<" in name:
        raise HpcsimError(f"{name} is defined inside a function or a class.", "Move it to the top level of its file.")
    module = sys.modules.get(thing.__module__)
    path = getattr(module, "__file__", None)
    if path and _can_import(thing.__module__, Path(path)):
        return f"{thing.__module__}:{name}"
    if not path or getattr(module, name, None) is not thing:
        raise HpcsimError(f"{name} is defined in no file.", "Put it into a file of its own.")
    return f"{Path(path).resolve()}:{name}"


def _can_import(module: str, path: Path) -> bool:
    """Tell whether a fresh interpreter with this one's paths would import *path* under the name *module*."""
    places: Any = None
    for depth, _ in enumerate(module.split("."), start=1):
        name = ".".join(module.split(".")[:depth])
        found = (finder.find_spec(name, places) for finder in sys.meta_path if hasattr(finder, "find_spec"))
        specification = next((each for each in found if each is not None), None)
        if specification is None:
            return False
        places = specification.submodule_search_locations
        origin = specification.origin
        if places is None:
            break
    return bool(origin) and Path(str(origin)).resolve() == path.resolve()


def _to_plain(value: Any) -> Any:
    """Return *value* as JSON data; what JSON does not know becomes a mapping with one marked key."""
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, list):
        return [_to_plain(item) for item in value]
    return _marked(value)


def _marked(value: Any) -> dict[str, Any]:
    if isinstance(value, tuple):
        return {"$tuple": [_to_plain(item) for item in value]}
    if isinstance(value, Mapping) and all(isinstance(key, str) for key in value):
        return {"$mapping": {key: _to_plain(item) for key, item in value.items()}}
    if isinstance(value, Path):
        return {"$path": str(value)}
    if inspect.isclass(value) or inspect.isfunction(value):
        return {"$name": locate(value)}
    if is_dataclass(value):
        return {"$new": locate(type(value)), "with": {f.name: _to_plain(getattr(value, f.name)) for f in fields(value)}}
    raise HpcsimError(f"The parameter value {value!r} cannot be written down.", "Use numbers, texts or plug-ins.")


def _from_plain(value: Any) -> Any:
    if isinstance(value, list):
        return [_from_plain(item) for item in value]
    if not isinstance(value, dict):
        return value
    if "$new" in value:
        kind = registry.find("policies", value["$new"])
        return kind(**{key: _from_plain(item) for key, item in value["with"].items()})
    readers = {
        "$tuple": lambda items: tuple(_from_plain(item) for item in items),
        "$mapping": lambda items: {key: _from_plain(item) for key, item in items.items()},
        "$path": Path,
        "$name": partial(registry.find, "policies"),
    }
    (marker, content), *_ = value.items()
    return readers[marker](content)  # type: ignore[operator]
