"""Differences as lines of a table: one unit a line, and as many digits as the interval bears."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

from hpcsim.results.pairwise import Pairwise, class_name
from hpcsim.results.quantities import MISSING, UNITS_S, number
from hpcsim.results.statistics.interval import Verdict
from hpcsim.results.statistics.measures import MEASURES

MEASURE_HEADINGS = ("measure", "unit", "old", "new", "new - old", "95 % interval", "verdict")
CLASS_HEADINGS = ("class of jobs", "jobs", "unit", "old", "new", "new - old", "95 % interval", "verdict")


def measure_rows(pair: Pairwise) -> list[tuple[str, ...]]:
    """Return a line a measure, under `MEASURE_HEADINGS`."""
    rows = pair.measures.to_dict("index")
    lines: list[tuple[str, ...]] = []
    for measure in MEASURES:
        row = rows[measure.key]
        unit, size = _unit(measure.unit, (row["old"], row["new"]))
        lines.append((measure.name, unit, *_figures(row, size), _verdict(row["verdict"])))
    return lines


def class_rows(pair: Pairwise) -> list[tuple[str, ...]]:
    """Return a line a class of jobs, on its mean wait, under `CLASS_HEADINGS`."""
    lines: list[tuple[str, ...]] = []
    for (by, name), row in zip(pair.classes.index, pair.classes.to_dict("records"), strict=True):
        unit, size = _unit("s", (row["old"], row["new"]))
        lines.append(
            (class_name(by, name), number(int(row["jobs"])), unit, *_figures(row, size), _verdict(row["verdict"]))
        )
    return lines


def _unit(unit: str, values: Iterable[float]) -> tuple[str, float]:
    """Return the unit in which the larger of *values* reads best, and its size in the measure's own."""
    if unit == "share":
        return "%", 0.01
    if unit != "s":
        return unit, 1.0
    largest = max((abs(value) for value in values if math.isfinite(value)), default=0.0)
    return next(((name, float(size)) for name, size in UNITS_S if largest >= 2 * size), ("s", 1.0))


def _figures(row: Any, size: float) -> tuple[str, str, str, str]:
    """Return old, new, difference and interval in units of *size*."""
    old, new, difference, low, high = (float(row[key]) / size for key in ("old", "new", "difference", "low", "high"))
    digits = max(_digits((old, new), 3), _digits((difference, low, high), 2))
    interval = f"{_signed(low, digits)} to {_signed(high, digits)}" if math.isfinite(low) else MISSING
    return _plain(old, digits), _plain(new, digits), _signed(difference, digits), interval


def _digits(values: Iterable[float], significant: int) -> int:
    """Return how many decimals show the largest of *values* with so many significant digits; 3 at most."""
    largest = max((abs(value) for value in values if math.isfinite(value)), default=0.0)
    return min(3, max(0, significant - 1 - math.floor(math.log10(largest)))) if largest > 0 else 0


def _plain(value: float, digits: int) -> str:
    return f"{value:,.{digits}f}" if math.isfinite(value) else MISSING


def _signed(value: float, digits: int) -> str:
    if not math.isfinite(value):
        return MISSING
    return f"{value:+,.{digits}f}" if value else f"{0:.{digits}f}"


def _verdict(verdict: str) -> str:
    return "" if verdict == Verdict.NO_INTERVAL else verdict
