"""A picture of the node counts of one job: run time against power, with intervals, the choice marked."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from hpcsim.errors import InvalidArgument, MissingExtra, ResultError

APART = 1.25
"""Counts are labelled so far apart, as a ratio."""


def draw_advice(rows: Sequence[dict[str, Any]], asked: int, advised: int, path: Path) -> None:
    """Write a PNG of *rows*, one a count: run time and power with their bounds, both axes logarithmic.

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
        colour = "C0" if row["is_on_front"] else "0.7"
        axes.plot([row["run_s_low"], row["run_s_high"]], [row["power_w"]] * 2, color=colour, lw=0.8, alpha=0.6)
        axes.plot(row["run_s"], row["power_w"], "o", color=colour, ms=5, mfc=colour if row["supported"] else "none")
    for row in _labelled(known, (asked, advised)):
        axes.annotate(str(row["nodes"]), (row["run_s"], row["power_w"]), textcoords="offset points", xytext=(4, 4))
    for is_there, colour, fill, label in (
        (any(not row["is_on_front"] for row in known), "0.7", "0.7", "not on the front"),
        (any(not row["supported"] for row in known), "C0", "none", "hollow: no experience near it"),
    ):
        if is_there:
            axes.plot([], [], "o", color=colour, mfc=fill, ms=5, label=label)
    for nodes, marker, label in ((asked, "s", "asked for"), (advised, "*", "advised")):
        for row in known:
            if row["nodes"] == nodes:
                axes.plot(row["run_s"], row["power_w"], marker, color="C3", ms=12, mfc="none", label=label)
    axes.set(xscale="log", yscale="log", xlabel="run time, s (bars: 90 % of jobs)", ylabel="power of the job, W")
    axes.set_title(f"{asked} nodes asked for, {advised} advised; numbers are node counts", fontsize=10)
    axes.legend(loc="lower left")
    try:
        figure.savefig(path, dpi=120, metadata={"Software": None})
    except (OSError, ValueError) as error:
        raise ResultError(f"Cannot write {path}: {error}.", "Give a path that ends in .png.") from error


def _labelled(rows: Sequence[dict[str, Any]], always: Sequence[int]) -> list[dict[str, Any]]:
    """Return the rows to write the count beside: each at least a quarter more than the last, and those of *always*."""
    found, last = [], 0.0
    for row in rows:
        if row["nodes"] >= APART * last or row["nodes"] in always:
            found.append(row)
            last = row["nodes"]
    return found
