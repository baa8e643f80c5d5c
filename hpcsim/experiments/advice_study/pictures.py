"""The (turnaround, energy) plane: where each arm ends up, relative to the users' own choice."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from hpcsim.errors import MissingExtra
from hpcsim.experiments.advice_study.plan import USERS

if TYPE_CHECKING:
    import pandas as pd

TICKS = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1, 1.2, 1.5, 2, 3, 5, 10, 20, 50, 100)
"""Where the logarithmic axis of turnaround is labelled."""


def draw(table: pd.DataFrame, folder: Path) -> list[Path]:
    """Write one PNG a scenario with arms on both axes, ratios with their intervals; return the files.

    Raises:
        MissingExtra: Matplotlib is not installed.
    """
    try:
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure
        from matplotlib.ticker import FixedLocator, NullLocator, StrMethodFormatter
    except ImportError as error:
        raise MissingExtra("Plots need Matplotlib.", "Type: pip install 'hpcsim-des[report]'.") from error
    files = []
    for number, (scenario, rows) in enumerate(table.groupby("scenario", sort=False)):
        figure = Figure(figsize=(9, 6), layout="constrained")
        FigureCanvasAgg(figure)
        axes = figure.add_subplot()
        for place, row in enumerate(rows.to_dict("records")):
            _point(axes, row, place)
        axes.axvline(1, color="0.7", lw=0.8, zorder=0)
        axes.axhline(1, color="0.7", lw=0.8, zorder=0)
        axes.set(
            xscale="log",
            xlabel="mean turnaround / the users' own",
            ylabel="total energy / the users' own",
            title=f"Node-count advice: {scenario} ({rows['seeds'].max()} seeds, bars: 95 % intervals)",
        )
        axes.xaxis.set_major_formatter(StrMethodFormatter("{x:g}"))
        low, high = axes.get_xlim()
        axes.xaxis.set_major_locator(FixedLocator([tick for tick in TICKS if low <= tick <= high]))
        axes.xaxis.set_minor_locator(NullLocator())
        axes.legend(fontsize=7, loc="upper left", bbox_to_anchor=(1.0, 1.0))
        files.append(folder / f"turnaround-energy-{number:02d}.png")
        figure.savefig(files[-1], dpi=120, metadata={"Software": None})
    return files


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
