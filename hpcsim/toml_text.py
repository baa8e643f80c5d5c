"""Write plain data as TOML: the standard library reads it and does not write it."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any


def to_toml(table: Mapping[str, Any]) -> str:
    """Write a table of scalars, arrays, tables and arrays of tables; keys whose value is None are left out.

    Raises:
        TypeError: a value has no TOML form.
    """
    return "\n".join(_lines(table, ())).strip() + "\n"


def inline(value: Any) -> str:
    """Write one value on one line: a scalar, an array, or a table, ``{normal = 1.0}``.

    Raises:
        TypeError: the value has no TOML form.
    """
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{_key(key)} = {inline(item)}" for key, item in value.items()) + "}"
    return _value(value)


def _lines(table: Mapping[str, Any], path: tuple[str, ...]) -> list[str]:
    lines, below = [], []
    for key, value in table.items():
        name = ".".join((*path, _key(key)))
        if value is None:
            continue
        if isinstance(value, Mapping):
            below += ["", f"[{name}]", *_lines(value, (*path, _key(key)))]
        elif isinstance(value, list | tuple) and value and all(isinstance(item, Mapping) for item in value):
            for item in value:
                below += ["", f"[[{name}]]", *_lines(item, (*path, _key(key)))]
        else:
            lines.append(f"{_key(key)} = {_value(value)}")
    return lines + below


def _key(key: str) -> str:
    bare = key.isascii() and key.replace("_", "").replace("-", "").isalnum()
    return key if bare else json.dumps(key)


def _value(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return repr(value) if math.isfinite(value) else str(value)
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    if isinstance(value, set | frozenset):
        value = sorted(value)
    if isinstance(value, list | tuple):
        return "[" + ", ".join(_value(item) for item in value) + "]"
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{_key(key)} = {_value(item)}" for key, item in value.items() if item is not None) + "}"
    raise TypeError(f"{type(value).__name__} has no TOML form")
