"""Records of an evaluation, read back from JSON and checked, field by field, before anything is made of them."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, get_args

from hpcsim.errors import HpcsimError
from hpcsim.experiments.evaluation.contenders import Mode

REMEDY = "Give files that `hpcsim evaluate --json` has printed."


class DamagedRecords(HpcsimError, ValueError):
    """A file that is missing, or that holds no records of an evaluation."""


def records_in(file: Path) -> list[dict[str, Any]]:
    """Return the records in *file*.

    Raises:
        DamagedRecords: it cannot be read, or a record in it is none; the message names the field.
    """
    if not file.exists():
        raise DamagedRecords(f"There is no file {file}.", "Check the path.")
    try:
        found = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise DamagedRecords(f"Cannot read {file}: {error}.", REMEDY) from error
    if not isinstance(found, list) or not found:
        raise DamagedRecords(f"{file} holds no list of records.", REMEDY)
    for number, record in enumerate(found, 1):
        _check(record, f"{file}, record {number}", _RECORD)
        for place, each in enumerate(record["per_sequence"], 1):
            where = f"{file}, record {number}, sequence {place}"
            _check(each, where, _SEQUENCE)
            _check(each, where, {name: check for name, check in _MEASURED.items() if name in each})
        if "draws" in record:
            _check(record, f"{file}, record {number}", _NOISE)
            _check(record["parameters"], f"{file}, record {number}, parameters", _NOISE_PARAMETERS)
    return found


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _is_number(value: Any, least: float = 0.0) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and least <= value < math.inf


def _may_lack(value: Any) -> bool:
    return value is None or _is_number(value)


def _is_whole(value: Any, least: int = 0) -> bool:
    return type(value) is int and value >= least


Checks = Mapping[str, tuple[Callable[[Any], bool], str]]

_RECORD: Checks = {
    "policy": (_is_text, "a name"),
    "label": (_is_text, "a name"),
    "suite": (_is_text, "a name"),
    "mode": (lambda value: value in get_args(Mode), f"one of {', '.join(get_args(Mode))}"),
    "training_seed": (lambda value: value is None or _is_whole(value), "a whole number, or null"),
    "per_sequence": (lambda value: isinstance(value, list) and bool(value), "a list of sequences"),
}
_SEQUENCE: Checks = {
    "sequence": (_is_text, "a name"),
    "source": (_is_text, "a name"),
    "condition": (_is_text, "a text"),
    "jobs": (lambda value: _is_whole(value, 1), "a whole number of at least 1"),
    "mean_bounded_slowdown": (lambda value: _is_number(value, 1.0), "a number of at least 1"),
    "mean_wait_s": (_is_number, "seconds"),
    "max_wait_s": (_is_number, "seconds"),
    "utilisation": (_may_lack, "a share"),
    "cpu_s": (_may_lack, "seconds"),
}
_MEASURED: Checks = {
    "decision_us": (_may_lack, "microseconds"),
    "decision_p99_us": (_may_lack, "microseconds"),
}
"""What records of earlier versions lack."""

_NOISE: Checks = {
    "parameters": (lambda value: isinstance(value, dict), "a table"),
    "draws": (
        lambda value: isinstance(value, list) and bool(value) and all(_is_number(each, 1.0) for each in value),
        "a list of numbers of at least 1",
    ),
}
_NOISE_PARAMETERS: Checks = {"sigma": (_is_number, "a number of at least 0")}


def _check(found: Any, where: str, checks: Checks) -> None:
    if not isinstance(found, dict):
        raise DamagedRecords(f"{where} is {found!r:.40}, and no record.", REMEDY)
    for name, (is_right, wanted) in checks.items():
        if name not in found:
            raise DamagedRecords(f"{where} lacks '{name}'.", REMEDY)
        if not is_right(found[name]):
            raise DamagedRecords(f"{where}: '{name}' is {found[name]!r:.40}, and should be {wanted}.", REMEDY)
