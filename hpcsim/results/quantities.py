"""Quantities as people read them: ``1 h 30 min``, ``71.4 %``, ``12,345``."""

from __future__ import annotations

import math
from itertools import pairwise

UNITS_S = (("d", 86400), ("h", 3600), ("min", 60), ("s", 1))
"""Units of time and their seconds, the largest first."""

MISSING = "n/a"
"""Shown for a figure that is not defined."""

SHARES = frozenset({"utilisation", "steady_utilisation"})
"""Figures that are shares of 1, and whose changes are told in percentage points."""


def duration(seconds: float | None) -> str:
    """Write seconds in the two largest units that matter: ``2 d 3 h``, ``45 min``, ``12 s``, ``0.25 s``."""
    if seconds is None or not math.isfinite(seconds):
        return MISSING
    if seconds < 0:
        return "-" + duration(-seconds)
    if seconds < 60:
        return f"{round(seconds, 2):g} s"
    for (unit, size), (lower, below) in pairwise(UNITS_S):
        count = round(seconds / below)
        if count >= size // below:
            whole, rest = divmod(count, size // below)
            return f"{whole:,} {unit} {rest} {lower}" if rest and whole < 100 else f"{whole:,} {unit}"
    return f"{round(seconds)} s"


def percentage(share: float | None) -> str:
    """Write a share of 1 as ``71.4 %``."""
    return MISSING if share is None or not math.isfinite(share) else f"{100 * share:.1f} %"


def number(value: float | None) -> str:
    """Write a number with three significant digits below 1,000 and whole above."""
    if value is None or not math.isfinite(value):
        return MISSING
    if isinstance(value, int) or abs(value) >= 1000:
        return f"{value:,.0f}"
    return f"{value:.3g}"


def energy(joules: float | None) -> str:
    """Write joules as people are billed for them: ``12.3 kWh``, ``4,560 MWh``; small ones as ``1,200 J``."""
    if joules is None or not math.isfinite(joules):
        return MISSING
    for unit, size in (("MWh", 3.6e9), ("kWh", 3.6e6)):
        if abs(joules) >= size:
            return f"{number(joules / size)} {unit}"
    return f"{number(joules)} J"


def figure(key: str, value: float | None) -> str:
    """Write a figure of `Result.summary`: shares in percent, seconds, joules and all else as numbers."""
    if key in SHARES:
        return percentage(value)
    if key.endswith("energy_j"):
        return energy(value)
    is_time = key.endswith("_s") and not key.endswith(("node_s", "w_s"))
    return duration(value) if is_time else number(value)


def count(value: float | None, noun: str) -> str:
    """Write how many there are of *noun*, an English word with a plural in s: ``1 job``, ``2,000 jobs``."""
    return f"{number(value)} {noun}" if value == 1 else f"{number(value)} {noun}s"


def time_axis_unit(span_s: float) -> tuple[str, int]:
    """Return the unit (name, seconds) in which an axis over *span_s* seconds has two or more steps."""
    for unit, size in (("days", 86400), ("hours", 3600), ("minutes", 60)):
        if span_s >= 2 * size:
            return unit, size
    return "seconds", 1
