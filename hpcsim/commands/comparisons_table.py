"""The tables of `hpcsim sweep`, one a metric: how every arm differs from the baseline, and how sure that is."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import typer

from hpcsim.commands.output import print_table
from hpcsim.results.quantities import MISSING, SHARES, count, figure

if TYPE_CHECKING:
    import pandas as pd

_SHORT = {"no difference shown": "not shown"}


def print_comparisons(name: str, comparisons: pd.DataFrame, baseline: Mapping[str, Any]) -> None:
    """Write what `hpcsim.experiments.contrasts.contrasts` returned.

    Changes are in percent of the baseline's mean; those of shares in percentage points.
    """
    from hpcsim.experiments.contrasts import LEVEL

    where = list(comparisons.columns[: list(comparisons.columns).index("metric")])
    shown = [column for column in where if _says_something(comparisons, column, baseline)]
    against = ", ".join(str(value) for value in baseline.values())
    for metric in comparisons["metric"].unique():
        rows = comparisons[comparisons["metric"] == metric].to_dict("records")
        lines = list(_lines(str(metric), rows, shown, baseline))
        headings = (*shown, "mean", "change", f"{100 * LEVEL:.0f} % interval", "difference")
        print_table(f"{name}: {metric}, changes from {against}", headings, lines, left=len(shown))
    pairs = comparisons["pairs"]
    counts = count(pairs.min(), "pair") if pairs.min() == pairs.max() else f"{pairs.min()} to {pairs.max()} pairs"
    typer.echo(
        f"{counts[0].upper()}{counts[1:]} of runs on the same jobs each. Student tests at the "
        f"{100 * (1 - LEVEL):.0f} % level, corrected\nfor all {int(comparisons['p'].notna().sum())} comparisons by "
        'Holm\'s method; "not shown" is not the same as equal.'
    )


def _lines(
    metric: str, rows: list[dict[Any, Any]], shown: list[str], baseline: Mapping[str, Any]
) -> Iterator[tuple[str, ...]]:
    """Yield the baseline's line and those of its arms, for each scenario."""
    scenario = None
    for row in rows:
        here = [row[column] for column in shown if column not in baseline]
        if here != scenario:
            scenario = here
            yield (*_names(row | dict(baseline), shown), figure(metric, row["baseline"]), "", "", "")
        unit, scale = ("pp", 100.0) if metric in SHARES else ("%", _percent_of(row["baseline"]))
        low, high = row["low"] * scale, row["high"] * scale
        yield (
            *_names(row, shown),
            figure(metric, row["mean"]),
            _change(row["difference"] * scale, unit),
            MISSING if math.isnan(low) else f"{_bare(low)} to {_bare(high)}",
            _SHORT.get(row["verdict"], str(row["verdict"])),
        )


def _names(row: Mapping[Any, Any], shown: list[str]) -> list[str]:
    return [str(row[column]) for column in shown]


def _percent_of(baseline: float) -> float:
    return 100 / baseline if baseline else math.nan


def _change(value: float, unit: str) -> str:
    return MISSING if math.isnan(value) else f"{_bare(value)} {unit}"


def _bare(value: float) -> str:
    """Return a signed number with one decimal below ten."""
    return f"{value:+.1f}" if abs(value) < 10 else f"{value:+,.0f}"


def _says_something(comparisons: pd.DataFrame, column: str, baseline: Mapping[str, Any]) -> bool:
    """Tell whether a column is the arm's own, or has more than one value that no label repeats."""
    return column in baseline or ("." not in column and comparisons[column].astype(str).nunique() > 1)
