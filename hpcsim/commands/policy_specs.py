"""Policies from what was typed: ``easy``, ``easy:depth=10``, ``file.py:Class:key=value``.

Further parameters of a policy come as ``--set key=value``.
"""

from __future__ import annotations

import re
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


_SPEC = re.compile(r"(?P<name>.+?):(?P<settings>[^\W\d]\w*\s*=.*)", re.DOTALL)
"""``NAME:KEY=VALUE,...``: the first colon that a key and an equals sign follow ends the name."""


def choose_policies(specs: Iterable[str], settings: Sequence[str] = ()) -> dict[str, Policy]:
    """Return label -> policy. A label is what was typed, but of ``file.py:Class`` the class alone.

    Parameters of one policy stand behind its name (``easy:depth=10``), and in its label. *settings*
    are those of every policy; a policy's own come on top. Clairvoyant ones are named on standard error.

    Raises:
        HpcsimError: two of them share a label; or as `make_policy`.
    """
    policies: dict[str, Policy] = {}
    for spec in specs:
        name, own = split_spec(spec)
        label = ":".join(filter(None, (name.rpartition(":")[2], ",".join(own))))
        if label in policies:
            raise HpcsimError(
                f"Two of the policies are called '{label}'.",
                f"Give each policy once, each class its name, or tell them apart by parameters: {name}:KEY=VALUE.",
            )
        policies[label] = make_policy(name, [*settings, *own])
        if policies[label].clairvoyant:
            say(f"{label} is clairvoyant: it knows the true run times, which no real scheduler does.")
    return policies


def split_spec(spec: str) -> tuple[str, list[str]]:
    """Return the name and the settings of ``NAME:KEY=VALUE,KEY=VALUE``; commas within a TOML value stay in it."""
    parts = _SPEC.fullmatch(spec)
    if parts is None:
        return spec, []
    return parts["name"], [setting.strip() for setting in _split(parts["settings"])]


def _split(settings: str) -> list[str]:
    """Split at commas, but not at those within quotes, brackets, braces or, as in ``qa(2, 1)``, parentheses."""
    parts, depth, quote = [""], 0, ""
    for sign in settings:
        if quote:
            quote = "" if sign == quote else quote
        elif sign in "\"'":
            quote = sign
        else:
            depth += (sign in "[{(") - (sign in "]})")
        if sign == "," and depth == 0 and not quote:
            parts.append("")
        else:
            parts[-1] += sign
    return parts


def make_policy(spec: str, settings: Sequence[str] = ()) -> Policy:
    """Return the policy behind a registry name, ``module:Class`` or ``file.py:Class``.

    *settings* are ``key=value`` texts. A value is a TOML literal, else plain text; where the
    parameter is an order, an estimator, a placement or a policy, it is one's registry name, and
    ``key.parameter=value`` sets a parameter of that one.

    Raises:
        UnknownName: there is no such policy or parameter.
        HpcsimError: the policy refuses its parameters, or is none.
    """
    factory = registry.find("policies", spec)
    if not (isinstance(factory, type) and issubclass(factory, Policy)):
        raise HpcsimError(f"{spec} is not a policy.", "Give a class that inherits from hpcsim.Policy.")
    policy: Policy = make_plugin("policies", spec, settings)
    return policy


def make_plugin(group: str, name: str, settings: Sequence[str]) -> Any:
    """Return a plug-in of ``key=value`` texts; whatever its class raises is one sentence.

    Raises:
        UnknownName: there is no such plug-in or parameter.
        HpcsimError: it refuses its parameters.
    """
    try:
        return _make(group, name, dict(map(parse_setting, settings)))
    except HpcsimError:
        raise
    except Exception as error:
        kind = {"policies": "Policy"}.get(group, group[:-1].capitalize())
        raise HpcsimError(
            f"{kind} '{name}' cannot be made: {type(error).__name__}: {error}.", "Check its parameters and the class."
        ) from error


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


def parse_setting(text: str, option: str = "--set") -> tuple[str, Any]:
    """Return key and value of ``key=value``."""
    key, equals, value = text.partition("=")
    if not equals or not key.strip():
        raise UnknownName(f"The parameter '{text}' has no key and value.", f"Write {option} key=value.")
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
            elif isinstance(kind, type) and issubclass(kind, Policy):
                found[name] = "policies"
    return found
