"""Policies and advisors from a name and plain parameters, as TOML files and command lines hold them."""

from __future__ import annotations

import hashlib
import typing
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from hpcsim import registry
from hpcsim.errors import ExperimentError, HpcsimError
from hpcsim.estimator import Estimator
from hpcsim.placement import Placement
from hpcsim.policy import Order, Policy
from hpcsim.surrogate import Surrogate

_KINDS: dict[type, str] = {
    Order: "orders",
    Estimator: "estimators",
    Placement: "placements",
    Surrogate: "surrogates",
}


def make(group: str, name: str, parameters: Mapping[str, Any]) -> Any:
    """Return a plug-in of *group*; parameters that are plug-ins themselves are made from their names.

    Such a parameter is a name (``order = "sjf"``) or a table of a name and parameters of its own
    (``order = {name = "sjf"}``).

    Raises:
        UnknownName: no such plug-in or parameter.
        ExperimentError: it refuses its parameters.
    """
    nested = _nested(registry.find(group, name)) if parameters else {}
    built = {key: _build(nested[key], value) if key in nested else value for key, value in parameters.items()}
    try:
        return registry.make(group, name, **built)
    except HpcsimError:
        raise
    except Exception as error:
        raise ExperimentError(
            f"'{name}' cannot be made: {type(error).__name__}: {error}.", "Check its parameters."
        ) from error


def fingerprint(name: str) -> str:
    """Return what identifies the code behind *name*: itself, or ``sha256:Class`` of the file it names.

    Raises:
        ExperimentError: the file cannot be read.
    """
    where, _, member = name.rpartition(":")
    if not where.endswith(".py"):
        return name
    try:
        return f"{hashlib.sha256(Path(where).read_bytes()).hexdigest()}:{member}"
    except OSError as error:
        raise ExperimentError(f"Cannot read {where}: {error.strerror}.", "Check the path.") from error


def _build(group: str, value: Any) -> Any:
    if isinstance(value, str):
        return registry.make(group, value)
    if isinstance(value, Mapping) and "name" in value:
        return make(group, value["name"], {key: item for key, item in value.items() if key != "name"})
    return value


def _nested(factory: Any) -> dict[str, str]:
    """Return parameter -> registry group, for the parameters that are themselves plug-ins."""
    try:
        hints = typing.get_type_hints(factory) if isinstance(factory, type) else {}
    except NameError:  # names that the file imports for type checkers only
        return {}
    kinds = {name: (hint, *typing.get_args(hint)) for name, hint in hints.items()}
    groups = ((name, _group_of(kind)) for name, hints_of in kinds.items() for kind in hints_of)
    return {name: group for name, group in groups if group is not None}


def _group_of(kind: Any) -> str | None:
    """Return the registry group of a parameter's type, None of one that is no plug-in."""
    if kind in _KINDS:
        return _KINDS[kind]
    return "policies" if isinstance(kind, type) and issubclass(kind, Policy) else None


def make_policy(name: str, parameters: Mapping[str, Any]) -> Policy:
    """Return a policy. Raises as `make`, and `ExperimentError` where *name* is of something else."""
    policy = make("policies", name, parameters)
    if not isinstance(policy, Policy):
        raise ExperimentError(f"'{name}' is no policy.", "Give a class that inherits from hpcsim.Policy.")
    return policy
