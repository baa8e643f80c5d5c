"""A picture of the node counts of one job: run time against power, with intervals, the choice marked."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from hpcsim.errors import InvalidArgument, MissingExtra
from hpcsim.results.plots import save
from hpcsim.results.quantities import duration

APART = 1.25
"""Counts are labelled, and their intervals drawn, so far apart, as a ratio."""

TICKS_S = (1, 10, 60, 600, 3600, 3 * 3600, 12 * 3600, 86400, 3 * 86400, 10 * 86400, 30 * 86400, 100 * 86400)


def draw_advice(rows: Sequence[dict[str, Any]], asked: int, advised: int, path: Path) -> None:
    """Draw *rows*, one a count: run time and power, both axes logarithmic, bounds for some; by the ending of *path*.

    Raises:
        MissingExtra: Matplotlib is not installed.
        InvalidArgument: no count has a known power.
        ResultError: the file cannot be written.
    """
    try:
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure
    except ImportError as error:
        raise MissingExtra("Plots need Matplotlib.", "Type: pip install 'hpcsim-des[report]'.") from error
    known = [row for row in rows if row["power_w"] is not None]
    if not known:
        raise InvalidArgument("No power is known at any count.", "Learn from a log that has power.")
    figure = Figure(figsize=(7, 5), layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.add_subplot()
    for row in known:
        colour = _colour(row)
        axes.plot(row["run_s"], row["power_w"], "o", color=colour, ms=5, mfc=colour if row["supported"] else "none")
    for row in _labelled(known, (asked, advised)):
        at_w = row["power_w"]
        axes.plot([row["run_s_low"], row["run_s_high"]], [at_w, at_w], color=_colour(row), lw=0.8, alpha=0.6)
        axes.annotate(str(row["nodes"]), (row["run_s"], at_w), textcoords="offset points", xytext=(4, 4))
    for nodes, marker, label in ((asked, "s", "asked for"), (advised, "*", "advised")):
        for row in known:
            if row["nodes"] == nodes:
                axes.plot(row["run_s"], row["power_w"], marker, color="C3", ms=12, mfc="none", ls="none", label=label)
    axes.set_title(f"{asked} nodes asked for, {advised} advised; numbers are node counts", fontsize=10)
    _explain(axes, known)
    save(figure, path)


def _colour(row: dict[str, Any]) -> str:
    return "C0" if row["is_on_front"] else "0.7"


def _explain(axes: Any, known: Sequence[dict[str, Any]]) -> None:
    """Label both axes in words that people use, and say what grey and hollow marks are, where there are some."""
    from matplotlib.ticker import FixedLocator, FuncFormatter, LogLocator, NullLocator, StrMethodFormatter

    axes.set(xscale="log", yscale="log", xlabel="run time (bars: 90 % of jobs)", ylabel="power of the job, W")
    low_s, high_s = axes.get_xlim()
    axes.xaxis.set_major_locator(FixedLocator([tick for tick in TICKS_S if low_s <= tick <= high_s]))
    axes.xaxis.set_major_formatter(FuncFormatter(lambda seconds, _: duration(seconds)))
    axes.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    axes.yaxis.set_major_formatter(StrMethodFormatter("{x:,.0f}"))
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_minor_locator(NullLocator())
    for is_there, colour, fill, label in (
        (any(not row["is_on_front"] for row in known), "0.7", "0.7", "not on the front"),
        (any(not row["supported"] for row in known), "C0", "none", "hollow: no experience near it"),
    ):
        if is_there:
            axes.plot([], [], "o", color=colour, mfc=fill, ms=5, label=label)
    axes.legend(loc="lower left")


def _labelled(rows: Sequence[dict[str, Any]], always: Sequence[int]) -> list[dict[str, Any]]:
    """Return the rows to write the count beside: each at least a quarter more than the last, and those of *always*."""
    found, last = [], 0.0
    for row in rows:
        if row["nodes"] >= APART * last or row["nodes"] in always:
            found.append(row)
            last = row["nodes"]
    return found
