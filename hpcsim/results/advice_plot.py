"""A picture of the node counts of one job: run time against power, with intervals, the choice marked."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from hpcsim.errors import InvalidArgument, MissingExtra, ResultError


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
        axes.annotate(str(row["nodes"]), (row["run_s"], row["power_w"]), textcoords="offset points", xytext=(4, 4))
    for nodes, marker, label in ((asked, "s", "asked for"), (advised, "*", "advised")):
        for row in known:
            if row["nodes"] == nodes:
                axes.plot(row["run_s"], row["power_w"], marker, color="C3", ms=12, mfc="none", label=label)
    axes.set(xscale="log", yscale="log", xlabel="run time, s (bars: 90 % of jobs)", ylabel="power of the job, W")
    axes.legend(loc="lower left")
    try:
        figure.savefig(path, dpi=120, metadata={"Software": None})
    except (OSError, ValueError) as error:
        raise ResultError(f"Cannot write {path}: {error}.", "Give a path that ends in .png.") from error
