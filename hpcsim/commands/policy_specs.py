"""Policies from what was typed: a name or file, and ``--set key=value``."""

from __future__ import annotations

import tomllib
import typing
from collections.abc import Iterable, Sequence
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
    parameter is an order, an estimator or a placement, it is one's registry name.

    Raises:
        UnknownName: there is no such policy or parameter.
        HpcsimError: the policy refuses its parameters, or is none.
    """
    factory = registry.find("policies", spec)
    if not (isinstance(factory, type) and issubclass(factory, Policy)):
        raise HpcsimError(f"{spec} is not a policy.", "Give a class that inherits from hpcsim.Policy.")
    parameters = dict(map(parse_setting, settings))
    plugins = _plugin_parameters(factory)
    for key in parameters.keys() & plugins.keys():
        if isinstance(parameters[key], str):
            parameters[key] = registry.make(plugins[key], parameters[key])
    try:
        policy: Policy = registry.make("policies", spec, **parameters)
    except HpcsimError:
        raise
    except Exception as error:
        raise HpcsimError(
            f"Policy '{spec}' cannot be made: {type(error).__name__}: {error}.", "Check --set and the class."
        ) from error
    return policy


def parse_setting(text: str, option: str = "--set") -> tuple[str, Any]:
    """Return key and value of ``key=value``."""
    key, equals, value = text.partition("=")
    if not equals or not key.strip():
        raise UnknownName(f"{option} {text} has no key and value.", f"Write {option} key=value.")
    try:
        return key.strip(), tomllib.loads(f"value = {value}")["value"]
    except (tomllib.TOMLDecodeError, KeyError):
        return key.strip(), value.strip()


def _plugin_parameters(factory: type[Policy]) -> dict[str, str]:
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
