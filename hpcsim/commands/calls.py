"""``name:key=value,key=value``: a plug-in and its parameters in one word of a command line."""

from __future__ import annotations

import inspect
import re
from typing import Any

from hpcsim import registry
from hpcsim.commands.policy_specs import parse_setting
from hpcsim.errors import UnknownName

_NEXT_SETTING = re.compile(r",(?=\s*\w+\s*=)")
"""The comma before another key=value; others belong to a list."""


def parse_call(text: str) -> tuple[str, dict[str, Any]]:
    """Return name and parameters of ``name:key=value,...``; values as of ``--set``.

    Raises:
        UnknownName: a parameter has no key or no value.
    """
    name, _, settings = text.partition(":")
    return name, dict(map(parse_setting, _NEXT_SETTING.split(settings))) if settings else {}


def check_required(group: str, name: str, given: dict[str, Any], *, skip: int = 0) -> None:
    """Refuse a call that lacks a parameter without a default; the first *skip* are not the user's to give.

    Raises:
        UnknownName: there is no such plug-in, or a parameter is missing.
    """
    parameters = list(inspect.signature(registry.find(group, name)).parameters.values())[skip:]
    missing = [p.name for p in parameters if p.default is inspect.Parameter.empty and p.name not in given]
    if missing:
        example = ",".join(f"{key}=..." for key in missing)
        raise UnknownName(f"{name} needs {' and '.join(missing)}.", f"Write {name}:{example}.")
