"""The moments by which workload models are fitted, of a log and of a model side by side."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hpcsim import registry
from hpcsim.commands.calls import parse_call
from hpcsim.results.quantities import duration, number, percentage
from hpcsim.workload import Workload

MOST_GENERATED = 100_000
BAR = 20
RUN_EDGES_S = (0, 10, 60, 600, 3600, 4 * 3600, 12 * 3600, 24 * 3600, math.inf)
RUN_NAMES = ("< 10 s", "< 1 min", "< 10 min", "< 1 h", "< 4 h", "< 12 h", "< 1 d", ">= 1 d")
Shown = Callable[[float | None], str]

ROWS: tuple[tuple[str, str, Shown], ...] = (
    ("share of jobs of size 1", "serial_share", percentage),
    ("share of powers of two from 2 on", "power_of_two_share", percentage),
    ("size, mean", "mean_nodes", number),
    ("size, median", "median_nodes", number),
    ("run time, mean", "mean_run_s", duration),
    ("run time, median", "median_run_s", duration),
    ("run time, 90 %", "p90_run_s", duration),
    ("gap between submits, mean", "mean_gap_s", duration),
    ("gap between submits, median", "median_gap_s", duration),
    ("limit / run time, median", "median_overestimate", number),
    ("correlation of ln size and ln run time", "size_run_correlation", number),
)


def moments(workload: Workload) -> dict[str, float]:
    """Return shares, means, medians and the correlation of jobs with a run time; NaN where there are none."""
    columns = workload.columns
    usable = columns["run_s"] > 0
    run_s, nodes = columns["run_s"][usable].astype(np.float64), columns["nodes"][usable].astype(np.int64)
    gaps_s = np.diff(np.sort(columns["submit_s"])).astype(np.float64)
    is_power = (nodes & (nodes - 1)) == 0
    return {
        "serial_share": _mean(nodes == 1),
        "power_of_two_share": _mean(is_power & (nodes > 1)),
        "mean_nodes": _mean(nodes),
        "median_nodes": _quantile(nodes, 50),
        "mean_run_s": _mean(run_s),
        "median_run_s": _quantile(run_s, 50),
        "p90_run_s": _quantile(run_s, 90),
        "mean_gap_s": _mean(gaps_s),
        "median_gap_s": _quantile(gaps_s, 50),
        "median_overestimate": _quantile(columns["limit_s"][usable] / run_s, 50),
        "size_run_correlation": _correlation(np.log(nodes), np.log(run_s)),
    }


def model_like(model: str, workload: Workload) -> Workload:
    """Return what *model* (``name:key=value,...``) generates for the same machine, and as many jobs up to 100,000.

    Raises:
        UnknownName: there is no such model or parameter.
    """
    name, given = parse_call(model)
    known = inspect.signature(registry.find("models", name)).parameters
    wanted = {"jobs": max(2, min(len(workload), MOST_GENERATED)), "nodes": workload.machine_nodes}
    parameters = {key: value for key, value in wanted.items() if key in known and value is not None}
    generated: Workload = registry.make("models", name, **(parameters | given))
    return generated


def moment_rows(*columns: dict[str, float]) -> list[tuple[str, ...]]:
    """Return the rows of a table: name, then each log's figure."""
    return [(label, *(show(column[key]) for column in columns)) for label, key, show in ROWS]


def histogram_rows(*workloads: Workload) -> list[tuple[str, ...]]:
    """Return rows of bars, for each class of size and then of run time, a bar for each workload."""
    most = max((int(workload.columns["nodes"].max()) for workload in workloads if len(workload)), default=1)
    edges = [1 << power for power in range(most.bit_length() + 1)]
    names = ["1" if edge == 1 else f"{edge}-{2 * edge - 1}" for edge in edges[:-1]]
    rows = _bars("size", names, edges, [workload.columns["nodes"] for workload in workloads])
    return rows + _bars("run", list(RUN_NAMES), RUN_EDGES_S, [workload.columns["run_s"] for workload in workloads])


def _bars(label: str, names: list[str], edges: Any, columns: list[NDArray[Any]]) -> list[tuple[str, ...]]:
    shares = [np.histogram(column, bins=np.array(edges, dtype=float))[0] / max(1, len(column)) for column in columns]
    full = max(float(share.max(initial=0)) for share in shares) or 1.0
    return [
        (f"{label} {name}", *(f"{'█' * round(BAR * share[row] / full)} {percentage(share[row])}" for share in shares))
        for row, name in enumerate(names)
    ]


def _mean(values: NDArray[Any]) -> float:
    return float(values.mean()) if len(values) else math.nan


def _quantile(values: NDArray[Any], percent: float) -> float:
    known = values[np.isfinite(values)]
    return float(np.percentile(known, percent)) if len(known) else math.nan


def _correlation(x: NDArray[Any], y: NDArray[Any]) -> float:
    if len(x) < 2 or x.std() == 0 or y.std() == 0:
        return math.nan
    return float(np.corrcoef(x, y)[0, 1])
