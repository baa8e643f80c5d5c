"""Values of Slurm's configuration: counts, times, yes and no, generic resources."""

from __future__ import annotations

import math
import re

from hpcsim.workloads.clusters.conf_lines import Entry
from hpcsim.workloads.readers.quantities_text import limit_s

MINUTE_S = 60
MIB = 2**20
LARGEST = 2**31 - 1

_COUNT = re.compile(r"\d{1,12}", re.ASCII)
_GRES_COUNT = re.compile(r"(\d{1,9})([kmgtp]?)", re.ASCII | re.IGNORECASE)
_POWERS = {"": 0, "k": 1, "m": 2, "g": 3, "t": 4, "p": 5}
_SOCKETS = re.compile(r"\([^()]*\)")


def count(entry: Entry, *, least: int = 0) -> int:
    """Return a whole number from *least* on.

    Raises:
        ClusterError: the value is none.
    """
    value = int(entry.value) if _COUNT.fullmatch(entry.value) else -1
    if not least <= value <= LARGEST:
        raise entry.refused(f"wants a whole number from {least} on")
    return value


def number(entry: Entry) -> float:
    """Return a number of 0 or more.

    Raises:
        ClusterError: the value is none.
    """
    if re.fullmatch(r"\d{1,12}(\.\d{1,12})?", entry.value, re.ASCII) is None:
        raise entry.refused("wants a number of 0 or more")
    return float(entry.value)


def period_s(entry: Entry) -> float:
    """Return seconds of a time in Slurm's forms, rounded up to a minute; ``inf`` for UNLIMITED.

    Raises:
        ClusterError: the value is no time.
    """
    seconds = limit_s(entry.value)
    if seconds is None:
        raise entry.refused("is no time, as 90 (minutes), 1:30:00, 2-12 or UNLIMITED")
    return seconds if math.isinf(seconds) else float(math.ceil(seconds / MINUTE_S) * MINUTE_S)


def is_yes(entry: Entry) -> bool:
    """Return YES or NO as a truth value.

    Raises:
        ClusterError: the value is neither.
    """
    word = entry.value.lower()
    if word not in {"yes", "no", "1", "0", "true", "false", "up", "down"}:
        raise entry.refused("wants YES or NO")
    return word in {"yes", "1", "true", "up"}


def words(entry: Entry) -> list[str]:
    """Return the parts of a comma list, empty ones left out."""
    return [word for word in entry.value.split(",") if word]


def gres(entry: Entry) -> dict[str, int]:
    """Return name -> count of ``gpu:a100:4,nvme:no_consume:1``, types added up; no count means 1.

    Raises:
        ClusterError: a part is no such text.
    """
    found: dict[str, int] = {}
    for part in filter(None, _SOCKETS.sub("", entry.value).split(",")):
        name, *rest = part.split(":")
        counted = _GRES_COUNT.fullmatch(rest[-1]) if rest else None
        is_typed = len(rest) == 1 and any(map(str.isalpha, rest[0]))
        if not name or len(rest) > 3 or (rest and counted is None and not is_typed):
            raise entry.refused("is no list of resources, as gpu:a100:4")
        amount = 1 if counted is None else int(counted[1]) * 1024 ** _POWERS[counted[2].lower()]
        found[name.lower()] = found.get(name.lower(), 0) + amount
    if found.get("gpu", 0) > LARGEST:
        raise entry.refused("has more GPUs than any node")
    return found
