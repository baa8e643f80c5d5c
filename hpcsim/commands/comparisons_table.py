"""The table of `hpcsim sweep`: how every arm differs from the baseline, with interval and verdict."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from hpcsim.commands.output import print_table
from hpcsim.results.quantities import MISSING, duration, number, percentage

if TYPE_CHECKING:
    import pandas as pd

_SHARES = frozenset({"utilisation", "steady_utilisation"})


def print_comparisons(name: str, comparisons: pd.DataFrame, baseline: Mapping[str, Any]) -> None:
    """Write what `hpcsim.experiments.contrasts.contrasts` returned."""
    import typer

    from hpcsim.experiments.contrasts import LEVEL

    where = list(comparisons.columns[: list(comparisons.columns).index("metric")])
    shown = [column for column in where if column.split(".")[0] == column and _says_something(comparisons, column)]
    against = ", ".join(str(value) for value in baseline.values())
    headings = (*shown, "metric", "mean", "difference", f"{LEVEL:.0%} interval", "pairs", "verdict")
    rows = [_line(row, shown) for row in comparisons.to_dict("records")]
    print_table(f"{name}: differences to {against}, on the same jobs", headings, rows, left=len(shown) + 1)
    typer.echo(
        f"Verdicts: paired Student tests at the {1 - LEVEL:.0%} level, corrected for "
        f"{int(comparisons['p'].notna().sum())} comparisons by Holm's method."
    )


def _line(row: Mapping[Any, Any], shown: list[str]) -> tuple[str, ...]:
    metric = str(row["metric"])
    return (
        *(str(row[column]) for column in shown),
        metric,
        _figure(metric, row["mean"]),
        _signed(metric, row["difference"]),
        _interval(metric, row["low"], row["high"]),
        str(row["pairs"]),
        str(row["verdict"]),
    )


def _interval(metric: str, low: float, high: float) -> str:
    return MISSING if math.isnan(low) else f"{_signed(metric, low)} to {_signed(metric, high)}"


def _signed(metric: str, value: float) -> str:
    text = _figure(metric, value)
    return text if text.startswith(("-", "n")) else f"+{text}"


def _figure(metric: str, value: float) -> str:
    if metric in _SHARES:
        return percentage(value)
    return duration(value) if metric.endswith("_s") and not metric.endswith("node_s") else number(value)


def _says_something(comparisons: pd.DataFrame, column: str) -> bool:
    """Tell whether a column has more than one value; the arm's own always stand."""
    return column == "policy" or comparisons[column].astype(str).nunique() > 1
