"""A contender from what was typed: ``ppo-gtrxl:checkpoint=net.safetensors``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from hpcsim.commands.policy_specs import parse_setting, split_spec
from hpcsim.experiments.evaluation.contenders import Contender


def contender_of(spec: str) -> Contender:
    """Return the contender behind ``NAME:KEY=VALUE,...``; ``order.compat=x`` is a parameter of the part ``order``.

    Its label is what was typed, but of ``module:Class`` the class alone.

    Raises:
        HpcsimError: a setting is no ``key=value``.
    """
    name, settings = split_spec(spec)
    parameters: dict[str, Any] = {}
    for key, value in map(parse_setting, settings):
        part, dot, inner = key.partition(".")
        if not dot:
            table = parameters.get(part)
            parameters[part] = {"name": value, **table} if isinstance(table, dict) else value
            continue
        there = parameters.get(part, {})
        parameters[part] = (there if isinstance(there, dict) else {"name": there}) | {inner: value}
    shown = ",".join(_short(value) if _is_file(value) else f"{key}={value}" for key, value in parameters.items())
    return Contender(":".join(filter(None, (name.rpartition(":")[2], shown))), name, parameters)


def _short(file: str) -> str:
    """Return a file's name and that of its folder: a table has no room for more."""
    return "/".join(Path(file).with_suffix("").parts[-2:])


def _is_file(value: Any) -> bool:
    """Tell whether a parameter names a file."""
    return isinstance(value, str) and Path(value).is_file()
