"""Durations, sizes and counts as batch systems write them: ``1-06:30:00``, ``4000Mc``, ``1.5K``, ``123kb``.

Each function returns None for what is no such text; nothing is guessed. Numbers too large to be
true are none either.
"""

from __future__ import annotations

import math
import re

from hpcsim.workloads.swf_fields import LARGEST

MINUTE_S, HOUR_S, DAY_S = 60, 3600, 86400
MOST_BYTES = 2**62

_UNLIMITED = frozenset({"unlimited", "infinite", "partition_limit"})
_CLOCK = re.compile(r"(?:(\d{1,9})-)?(\d{1,9})(?::(\d{1,9}))?(?::(\d{1,9}))?(?:\.\d{1,9})?", re.ASCII)
_AMOUNT = re.compile(r"(\d{1,24}(?:\.\d{0,18})?)([a-z]*)", re.ASCII)
_POWERS = {"": 0, "k": 1, "m": 2, "g": 3, "t": 4, "p": 5, "e": 6}


def duration_s(text: str) -> float | None:
    """Return seconds of ``[D-]H:M:S``, ``M:S`` and ``D-H[:M]``; a plain number is no duration here."""
    match = _CLOCK.fullmatch(text.strip())
    if match is None or (match[1] is None and match[3] is None):
        return None
    return _seconds(match, minutes_first=False)


def limit_s(text: str) -> float | None:
    """Return seconds of a Slurm time limit: as `duration_s`, plain minutes, or a word for "no limit" (``inf``).

    ``Partition_Limit`` is infinite as well: the partition's own limit is the machine's to apply.
    """
    text = text.strip()
    if text.lower() in _UNLIMITED:
        return math.inf
    match = _CLOCK.fullmatch(text)
    return None if match is None else _seconds(match, minutes_first=True)


def amount(text: str, base: int = 1024) -> float | None:
    """Return the number of ``12``, ``1.5K``, ``40M``: the suffix, of K to E, is a power of *base*."""
    match = _AMOUNT.fullmatch(text.strip().lower())
    if match is None or match[2] not in _POWERS:
        return None
    value: float = float(match[1]) * base ** _POWERS[match[2]]
    return value if value <= LARGEST * LARGEST else None


def memory_bytes(text: str, unit: str = "m") -> int | None:
    """Return bytes of ``16G``, ``4000M``, ``15240kb``; a number without a suffix is in *unit*."""
    match = _AMOUNT.fullmatch(text.strip().lower())
    if match is None:
        return None
    suffix = match[2].removesuffix("ib").removesuffix("b") if match[2] not in {"b", ""} else match[2]
    power = _POWERS[unit] if suffix == "" else 0 if suffix == "b" else _POWERS.get(suffix)
    if power is None:
        return None
    value = float(match[1]) * 1024**power
    return int(value) if value <= MOST_BYTES else None


def _seconds(match: re.Match[str], *, minutes_first: bool) -> float | None:
    """Return seconds of a match of `_CLOCK`; *minutes_first*: a lone number, or none of hours, is minutes."""
    days, first, second, third = (None if part is None else int(part) for part in match.groups())
    if days is not None:
        total = days * DAY_S + (first or 0) * HOUR_S + (second or 0) * MINUTE_S + (third or 0)
    elif third is not None:
        total = (first or 0) * HOUR_S + (second or 0) * MINUTE_S + third
    elif second is not None:
        total = (first or 0) * MINUTE_S + second
    else:
        total = (first or 0) * (MINUTE_S if minutes_first else 1)
    return float(total) if total <= LARGEST else None
