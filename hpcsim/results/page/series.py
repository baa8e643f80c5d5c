"""Lines of the report: the machine over time, and how waits and slowdowns are distributed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from hpcsim.results.metrics import bin_means, bounded_slowdown
from hpcsim.results.quantities import time_axis_unit
from hpcsim.results.result import Result

POINTS, POINTS_OF_SEVERAL = 500, 160
"""Points of a line alone, and of lines that cross each other, at most: means over equal parts of the time."""

Line = dict[str, list[float]]


def time_axis(results: Mapping[str, Result]) -> tuple[float, float, str, int]:
    """Return first and last second of any timeline, and the unit (name, seconds) to count them in."""
    ends = [(t.iloc[0], t.iloc[-1]) for t in (result.timeline["time_s"] for result in results.values()) if len(t)]
    low_s, high_s = (min(low for low, _ in ends), max(high for _, high in ends)) if ends else (0.0, 1.0)
    high_s = high_s if high_s > low_s else low_s + 1
    return float(low_s), float(high_s), *time_axis_unit(high_s - low_s)


def over_time(results: Mapping[str, Result], column: str) -> dict[str, Line]:
    """Return a column of each timeline, or of its power, as a step line; nodes in use as a share of the machine."""
    low_s, high_s, _, unit_s = time_axis(results)
    points = POINTS if len(results) == 1 else POINTS_OF_SEVERAL
    lines = {}
    for name, result in results.items():
        timeline = result.power if column == "power_w" else result.timeline
        if timeline is None:
            continue
        if len(timeline) > points:
            edges_s = np.linspace(low_s, high_s, points + 1)
            at_s, level = edges_s[:-1], bin_means(timeline, column, edges_s)
        else:
            at_s, level = timeline["time_s"].to_numpy(), timeline[column].to_numpy().astype(float)
        scale = result.nodes if column == "used_nodes" else 1
        lines[name] = {"x": rounded((at_s - low_s) / unit_s, 4), "y": rounded(level / scale, 4)}
    return lines


def distributions(results: Mapping[str, Result]) -> dict[str, dict[str, Line]]:
    """Return, for waits (seconds, at least 1) and bounded slowdowns, the share of jobs that have at most so much."""
    waits = {name: np.maximum(result.jobs["wait_s"].dropna().to_numpy(), 1) for name, result in results.items()}
    slowdowns = {name: bounded_slowdown(result.jobs) for name, result in results.items()}
    return {"wait": _shares(waits), "slowdown": _shares(slowdowns)}


def _shares(values: Mapping[str, Any]) -> dict[str, Line]:
    top = max([float(found.max()) for found in values.values() if len(found)], default=1.0)
    at = np.geomspace(1, max(top, 10), POINTS // 2)
    lines = {}
    for name, found in values.items():
        share = np.searchsorted(np.sort(found), at, side="right") / max(len(found), 1)
        lines[name] = {"x": rounded(at, 2), "y": rounded(share, 4)} if len(found) else {"x": [], "y": []}
    return lines


def rounded(values: Any, digits: int) -> list[float]:
    """Return *values* as plain numbers of so many decimals: more would only make the page larger."""
    found: list[float] = np.round(np.asarray(values, dtype=float), digits).tolist()
    return found
