"""The (turnaround, energy) plane: where each arm ends up, relative to the users' own choice."""

from __future__ import annotations

import math
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hpcsim.errors import MissingExtra
from hpcsim.experiments.advice_study.plan import USERS

if TYPE_CHECKING:
    import pandas as pd

TICKS = (1, 0.1, 0.2, 0.5, 2, 5, 10, 20, 50, 100, 0.3, 0.7, 1.5, 3, 0.4, 0.6, 0.8, 1.2, 0.9, 1.1)
"""Where the logarithmic axis of turnaround may be labelled, what matters most first."""

APART = 0.06
"""Labels of ticks stand so far apart at least, as a share of the axis."""


def draw(table: pd.DataFrame, folder: Path) -> list[Path]:
    """Write a PNG for each scenario and factor, with its arms on both axes, ratios with their intervals.

    Returns:
        The files, such as ``turnaround-energy-base-adoption.png``.

    Raises:
        MissingExtra: Matplotlib is not installed.
    """
    files = []
    for (scenario, factor), rows in table[table["arm"] != USERS].groupby(["scenario", "factor"], sort=False):
        words = str(scenario) if scenario == factor or scenario != "base" else f"{scenario}, {factor}"
        own = table[(table["scenario"] == scenario) & (table["arm"] == USERS)]
        figure = _figure([*own.to_dict("records"), *rows.to_dict("records")], words)
        files.append(folder / f"turnaround-energy-{re.sub(r'[^a-z0-9.]+', '-', words)}.png")
        figure.savefig(files[-1], dpi=120, metadata={"Software": None})
    return files


def _figure(rows: list[dict[Any, Any]], words: str) -> Any:
    try:
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure
        from matplotlib.ticker import FixedLocator, NullLocator, StrMethodFormatter
    except ImportError as error:
        raise MissingExtra("Plots need Matplotlib.", "Type: pip install 'hpcsim-des[report]'.") from error
    figure = Figure(figsize=(9, 6), layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.add_subplot()
    for place, row in enumerate(rows):
        _point(axes, row, place)
    axes.axvline(1, color="0.7", lw=0.8, zorder=0)
    axes.axhline(1, color="0.7", lw=0.8, zorder=0)
    seeds = max(row["seeds"] for row in rows)
    axes.set(
        xscale="log",
        xlabel="mean turnaround / the users' own",
        ylabel="total energy / the users' own",
        title=f"Node-count advice: {words} (seeds: {seeds}; bars: 95 % intervals)",
    )
    axes.xaxis.set_major_formatter(StrMethodFormatter("{x:g}"))
    axes.xaxis.set_major_locator(FixedLocator(ticks(*axes.get_xlim())))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.legend(fontsize=7, loc="upper left", bbox_to_anchor=(1.0, 1.0))
    return figure


def ticks(low: float, high: float) -> list[float]:
    """Return those of `TICKS` to label on a logarithmic axis from *low* to *high*: none runs into another."""
    found: list[float] = []
    least = APART * math.log(high / low)
    for tick in TICKS:
        if low <= tick <= high and all(abs(math.log(tick / other)) >= least for other in found):
            found.append(tick)
    return sorted(found)


def _point(axes: Any, row: dict[Any, Any], place: int) -> None:
    x, y = row["turnaround_s"], row["total_energy_j"]
    spans = [
        [[max(value - low, 0.0)], [max(high - value, 0.0)]] if low == low else None  # noqa: PLR0124 - NaN
        for value, low, high in (
            (x, row["turnaround_s_low"], row["turnaround_s_high"]),
            (y, row["total_energy_j_low"], row["total_energy_j_high"]),
        )
    ]
    marker = "*" if row["arm"] == USERS else "os^Dv<>PX"[place // 10 % 9]
    axes.errorbar(x, y, xerr=spans[0], yerr=spans[1], fmt=marker, ms=7, lw=0.8, label=str(row["arm"]))
