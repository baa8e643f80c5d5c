"""A log at a glance: how many jobs of each size ran how long, as a picture in the terminal."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from hpcsim.workload import Workload

RUN_EDGES_S = (0, 60, 600, 3600, 6 * 3600, 24 * 3600, math.inf)
RUN_NAMES = ("< 1 min", "< 10 min", "< 1 h", "< 6 h", "< 24 h", "longer")
MOST_ROWS = 12
SHADES = " ░▒▓█"


def picture(workload: Workload) -> tuple[list[str], list[tuple[str, ...]]]:
    """Return headings and rows of a table: a row for each class of sizes, a column for each of run times.

    A cell has the share of jobs in percent, and a shade that is the darker the larger it is.
    """
    nodes, run_s = workload.columns["nodes"], workload.columns["run_s"]
    edges = _size_edges(int(nodes.max()) if len(nodes) else 1)
    bins = (np.array(edges, dtype=float), np.array(RUN_EDGES_S, dtype=float))
    counts, *_ = np.histogram2d(nodes, run_s, bins=bins)
    shares = counts / max(1, len(nodes))
    rows = [
        (_size_name(low, high), *(_cell(share, shares.max(initial=0)) for share in row), _percent(float(row.sum())))
        for low, high, row in zip(edges[:-1], edges[1:], shares, strict=True)
    ]
    return [workload.counted, *RUN_NAMES, "all"], [*rows, _totals(shares)]


def _size_edges(most: int) -> list[int]:
    """Return edges of classes of sizes: 1, 2, 4, ... doubled, or more than that on large machines."""
    octaves = most.bit_length()
    step = -(-octaves // MOST_ROWS)
    return [1, *(1 << power for power in range(step, octaves + step, step))]


def _size_name(low: int, high: int) -> str:
    return str(low) if high == low + 1 else f"{low}-{high - 1}"


def _cell(share: float, most: float) -> str:
    """Return shade and percentage; the shade goes by the square root, so that rare jobs are seen."""
    if share <= 0:
        return ""
    level = max(1, round(math.sqrt(share / most) * (len(SHADES) - 1)))
    return f"{_percent(share)} {SHADES[level] * 2}"


def _totals(shares: NDArray[np.float64]) -> tuple[str, ...]:
    return ("all", *(f"{_percent(float(column))}   " for column in shares.sum(axis=0)), _percent(float(shares.sum())))


def _percent(share: float) -> str:
    return f"{100 * share:.1f}" if share >= 0.0005 else "<0.1" if share > 0 else "0"
