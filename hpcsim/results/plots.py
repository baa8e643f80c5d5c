"""Plots as files, by Matplotlib: for papers, slides and notebooks, in the colours of the report."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from hpcsim.errors import MissingExtra, ResultError
from hpcsim.results.page.gantt import gantt as gantt_data
from hpcsim.results.page.heat import waits_by_class
from hpcsim.results.page.series import distributions, over_time, time_axis
from hpcsim.results.palette import colours
from hpcsim.results.quantities import duration
from hpcsim.results.report_style import COLOURS
from hpcsim.results.result import Result

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Results = Mapping[str, Result]
FORMATS = (".png", ".svg", ".pdf")
TICKS_S = (1, 60, 3600, 86400, 864000)


def utilisation(results: Results) -> Figure:
    """Draw the share of the nodes in use over time."""
    figure, axes = _canvas()
    _steps(axes, results, "used_nodes", "share of the nodes in use")
    axes.set_ylim(0, 1.02)
    return figure


def queue(results: Results) -> Figure:
    """Draw the number of waiting jobs over time."""
    figure, axes = _canvas()
    _steps(axes, results, "queue_length", "jobs waiting")
    axes.set_ylim(bottom=0)
    return figure


def power(results: Results) -> Figure:
    """Draw the machine's power in watts over time. Raises `ResultError` where no run has power."""
    if all(result.power is None for result in results.values()):
        raise ResultError("None of these runs has power: their machines declare none.", "Plot something else.")
    figure, axes = _canvas()
    _steps(axes, results, "power_w", "power in W")
    axes.set_ylim(bottom=0)
    return figure


def ecdf(results: Results) -> Figure:
    """Draw, over waits on a logarithmic axis, the share of the jobs that waited at most so long."""
    figure, axes = _canvas()
    chosen = colours(results)
    for name, line in distributions(results)["wait"].items():
        axes.step(line["x"], line["y"], where="post", color=chosen[name][0], label=name)
    axes.set_xscale("log")
    axes.set_xticks(TICKS_S, [duration(tick) for tick in TICKS_S])
    axes.minorticks_off()
    axes.set(xlabel="waited at most", ylabel="share of the jobs", ylim=(0, 1.02))
    _legend(axes, results)
    return figure


def gantt(results: Results) -> Figure:
    """Draw which nodes were held when: a bar a job, or where they are too many the share of nodes in use."""
    figure, rows = _rows(results)
    low_s, high_s, unit, unit_s = time_axis(results)
    for (name, result), axes in zip(results.items(), rows, strict=True):
        found = gantt_data(result, (low_s, high_s, unit_s), len(results))
        if found["kind"] == "bars":
            hues = [COLOURS[index][0] for index in found["colour"]]
            axes.barh(found["node"], found["length"], found["height"], found["start"], color=hues, alpha=0.8)
        else:
            mesh = axes.pcolormesh(found["x"], found["y"], np.array(found["z"]), cmap="cividis", vmin=0, vmax=100)
            figure.colorbar(mesh, ax=axes, label="% in use")
        axes.set(ylim=(-0.5, result.nodes - 0.5), ylabel="node", title=name)
    rows[-1].set_xlabel(f"{unit} since the first submit")
    return figure


def heatmap(results: Results) -> Figure:
    """Draw the mean wait of jobs by their width and their limit."""
    figure, rows = _rows(results)
    tables = {name: waits_by_class(result)["mean_s"].unstack() for name, result in results.items()}
    top = max(1.0, *(float(np.log10(np.nanmax(table.to_numpy(), initial=1))) for table in tables.values()))
    for (name, mean), axes in zip(tables.items(), rows, strict=True):
        values = np.log10(np.maximum(mean.to_numpy(), 1))
        axes.imshow(values, cmap="cividis", aspect="auto", origin="lower", vmin=0, vmax=top)
        for (y, x), value in np.ndenumerate(mean.to_numpy()):
            if np.isfinite(value):
                is_dark = values[y, x] < top / 2
                axes.text(x, y, duration(value), ha="center", va="center", fontsize=8, color="w" if is_dark else "k")
        axes.set_xticks(range(len(mean.columns)), list(mean.columns))
        axes.set_yticks(range(len(mean.index)), list(mean.index))
        axes.set(title=name, ylabel="width")
    rows[-1].set_xlabel("limit")
    return figure


KINDS: dict[str, Callable[[Results], Figure]] = {
    "gantt": gantt,
    "utilisation": utilisation,
    "queue": queue,
    "ecdf": ecdf,
    "heatmap": heatmap,
    "power": power,
}
"""Every plot by its name."""


class Plots:
    """Plots of one result, as `Result.plot`: each method returns a Matplotlib figure, which notebooks show."""

    def __init__(self, result: Result) -> None:
        self._results = {result.policy_name: result}

    def gantt(self) -> Figure:
        """Draw which nodes were held when."""
        return gantt(self._results)

    def utilisation(self) -> Figure:
        """Draw the share of the nodes in use over time."""
        return utilisation(self._results)

    def queue(self) -> Figure:
        """Draw the number of waiting jobs over time."""
        return queue(self._results)

    def ecdf(self) -> Figure:
        """Draw the share of the jobs that waited at most so long."""
        return ecdf(self._results)

    def heatmap(self) -> Figure:
        """Draw the mean wait of jobs by their width and their limit."""
        return heatmap(self._results)

    def power(self) -> Figure:
        """Draw the machine's power over time. Raises `ResultError` where there is none."""
        return power(self._results)


def save(figure: Figure, path: str | Path) -> None:
    """Write *figure* to *path*, in the format that its ending names.

    Raises:
        ResultError: the ending is none of `FORMATS`, or the file cannot be written.
    """
    check_format(path)
    try:
        figure.savefig(path, dpi=150)
    except OSError as error:
        raise ResultError(f"Cannot write the plot {path}: {error}.", "Check the path.") from error


def check_format(path: str | Path) -> None:
    """Raise `ResultError` unless the ending of *path* is one of `FORMATS`."""
    if Path(path).suffix.lower() not in FORMATS:
        raise ResultError(f"{path} ends in none of {', '.join(FORMATS)}.", "Name the file by the format you want.")


def _canvas(rows: int = 1, height: float = 3.6) -> tuple[Figure, Any]:
    """Return a new figure and its axes, outside pyplot, so that no window is opened and none is left."""
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise MissingExtra("Plots need Matplotlib.", "pip install 'hpcsim-des[report]'") from error
    figure = Figure(figsize=(8, height), layout="constrained")
    axes = figure.subplots(rows)
    return figure, axes


def _rows(results: Results) -> tuple[Figure, list[Axes]]:
    """Return a figure with axes for each result, one above the other."""
    figure, axes = _canvas(len(results), 1 + 2.8 * len(results))
    return figure, list(np.atleast_1d(axes))


def _steps(axes: Axes, results: Results, column: str, label: str) -> None:
    chosen, (_, _, unit, _) = colours(results), time_axis(results)
    for name, line in over_time(results, column).items():
        axes.step(line["x"], line["y"], where="post", color=chosen[name][0], linewidth=1.1, label=name)
    axes.set(xlabel=f"{unit} since the first submit", ylabel=label)
    _legend(axes, results)


def _legend(axes: Axes, results: Results) -> None:
    axes.grid(visible=True, color="#d9dee3", linewidth=0.6)
    axes.spines[["top", "right"]].set_visible(False)
    if len(results) > 1:
        axes.legend(frameon=False)
