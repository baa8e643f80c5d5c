"""Policies from what was typed: a name or file, and ``--set key=value``."""

from __future__ import annotations

import tomllib
import typing
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from hpcsim import registry
from hpcsim.commands.output import say
from hpcsim.errors import HpcsimError, UnknownName
from hpcsim.estimator import Estimator
from hpcsim.placement import Placement
from hpcsim.policy import Order, Policy

_PLUGINS = {Order: "orders", Estimator: "estimators", Placement: "placements"}


def choose_policies(specs: Iterable[str], settings: Sequence[str] = ()) -> dict[str, Policy]:
    """Return label -> policy; the label of ``file.py:Class`` is the class's name alone.

    Clairvoyant ones are named on standard error. *settings* are those of every policy.

    Raises:
        HpcsimError: two of them share a label; or as `make_policy`.
    """
    policies: dict[str, Policy] = {}
    for spec in specs:
        label = spec.rpartition(":")[2]
        if label in policies:
            raise HpcsimError(
                f"Two of the policies are called '{label}'.", "Give each policy once, each class its name."
            )
        policies[label] = make_policy(spec, settings)
        if policies[label].clairvoyant:
            say(f"{label} is clairvoyant: it knows the true run times, which no real scheduler does.")
    return policies


def make_policy(spec: str, settings: Sequence[str] = ()) -> Policy:
    """Return the policy behind a registry name, ``module:Class`` or ``file.py:Class``.

    *settings* are ``key=value`` texts. A value is a TOML literal, else plain text; where the
    parameter is an order, an estimator or a placement, it is one's registry name, and
    ``key.parameter=value`` sets a parameter of that one.

    Raises:
        UnknownName: there is no such policy or parameter.
        HpcsimError: the policy refuses its parameters, or is none.
    """
    factory = registry.find("policies", spec)
    if not (isinstance(factory, type) and issubclass(factory, Policy)):
        raise HpcsimError(f"{spec} is not a policy.", "Give a class that inherits from hpcsim.Policy.")
    try:
        policy: Policy = _make("policies", spec, dict(map(parse_setting, settings)))
    except HpcsimError:
        raise
    except Exception as error:
        raise HpcsimError(
            f"Policy '{spec}' cannot be made: {type(error).__name__}: {error}.", "Check --set and the class."
        ) from error
    return policy


def _make(group: str, spec: str, settings: Mapping[str, Any]) -> Any:
    """Return the plug-in behind *spec*; settings named ``key.parameter`` go to its own plug-in *key*."""
    own: dict[str, Any] = {}
    inner: dict[str, dict[str, Any]] = {}
    for name, value in settings.items():
        key, dot, parameter = name.partition(".")
        if dot:
            inner.setdefault(key, {})[parameter] = value
        else:
            own[key] = value
    for key, of_group in _plugin_parameters(registry.find(group, spec)).items():
        if isinstance(own.get(key), str):
            own[key] = _make(of_group, own[key], inner.pop(key, {}))
    for key, parameters in inner.items():
        raise UnknownName(
            f"--set {key}.{next(iter(parameters))} sets a parameter of '{key}', which '{spec}' was not given by name.",
            f"Add --set {key}=NAME, if '{spec}' has such a parameter.",
        )
    return registry.make(group, spec, **own)


def parse_setting(text: str) -> tuple[str, Any]:
    """Return key and value of ``key=value``."""
    key, equals, value = text.partition("=")
    if not equals or not key.strip():
        raise UnknownName(f"--set {text} has no key and value.", "Write --set key=value.")
    try:
        return key.strip(), tomllib.loads(f"value = {value}")["value"]
    except (tomllib.TOMLDecodeError, KeyError):
        return key.strip(), value.strip()


def _plugin_parameters(factory: Any) -> dict[str, str]:
    """Return parameter -> registry group, for the parameters that are themselves plug-ins."""
    found = {}
    try:
        hints = typing.get_type_hints(factory)
    except NameError:  # names that the file imports for type checkers only
        return {}
    for name, hint in hints.items():
        for kind in (hint, *typing.get_args(hint)):
            if kind in _PLUGINS:
                found[name] = _PLUGINS[kind]
    return found
