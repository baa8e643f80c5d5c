"""Plots of a study: fronts, hypervolume over evaluations, sampling curves, TabNet's masks, calibration."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import NormalDist
from typing import TYPE_CHECKING, Any

import numpy as np

from hpcsim.errors import MissingExtra
from hpcsim.experiments import sweep_folder
from hpcsim.experiments.surrogate_study.verdicts import Results
from hpcsim.results import plots
from hpcsim.results.palette import colours
from hpcsim.results.statistics.student import mean_interval
from hpcsim.search import is_on_front

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MOST_FEATURES = 15
INTERVAL = 0.9
DASHES, MARKERS = ("-", "--", ":"), ("o", "s", "^", "D", "v")
"""Names outnumber colours: lines differ by these as well; 3 and 5 make 15 pairs."""

APART = 0.01
MEANS = ": mean and 95 % interval over seeds"


def draw_all(results: Results, folder: Path) -> None:
    """Write each plot that the cells allow into *folder* as a PNG.

    Raises:
        MissingExtra: Matplotlib is not installed.
    """
    with sweep_folder.writing(folder):
        folder.mkdir(parents=True, exist_ok=True)
    for name, draw in PICTURES.items():
        figure, axes = _canvas()
        if draw(axes, results):
            if axes.get_legend_handles_labels()[0]:
                axes.legend(frameon=False, fontsize=8)
            plots.save(figure, folder / f"{name}.png")


def _fronts(axes: Axes, results: Results) -> bool:
    """Draw predicted fronts of the first judged job, one a family, and the true one."""
    families = {cell.family: answer["fronts"] for cell, answer in results if cell.factor == "family" and cell.seed == 0}
    families = {name: front for name, front in families.items() if front}
    chosen = colours(families)
    truths = [front["truth"] for front in families.values() if front["truth"]]
    if truths:
        _line(axes, np.array(truths[0], dtype=float), color="black", linewidth=2.5, linestyle="--", label="truth")
    for place, (name, front) in enumerate(families.items()):
        _line(axes, np.array(front["predicted"], dtype=float), color=chosen[name][0], label=name, **_marks(place))
    axes.set(
        xscale="log", yscale="log", xlabel="run time in s", ylabel="power in W", title="predicted fronts of one job"
    )
    return bool(families)


def _line(axes: Axes, values: Any, **style: Any) -> None:
    front = values[is_on_front(values)]
    front = front[np.argsort(front[:, 0])]
    axes.plot(front[:, 0], front[:, 1], **style)


def _volumes(axes: Axes, results: Results) -> bool:
    """Draw how much of the exact predicted front each engine had found after so many evaluations."""
    lines: dict[str, dict[float, list[float]]] = defaultdict(lambda: defaultdict(list))
    for cell, answer in results:
        if cell.factor == "engine" and cell.engine != "exact":
            for row in answer["trace"]:
                if row["share_of_exact"] is not None:
                    lines[cell.engine][row["evaluations"]].append(row["share_of_exact"])
    chosen = colours(lines)
    for place, (name, points) in enumerate(lines.items()):
        counts = sorted(points)
        beside = [count * (1 + APART * place) for count in counts]  # intervals at one place would hide each other
        _with_intervals(axes, beside, [points[count] for count in counts], name, chosen[name][0], place)
    axes.set(xscale="log", xlabel="evaluations", ylabel="share of the exact front's hypervolume", ylim=(None, 1.02))
    axes.set_title(f"how fast engines find the predicted front{MEANS}")
    axes.set_ylim(bottom=max(0.0, axes.get_ylim()[0]))
    seen = sorted({count for points in lines.values() for count in points})
    axes.set_xticks(seen, [f"{count:g}" for count in seen])
    axes.set_xticks([], minor=True)
    return bool(lines)


def _sampling(axes: Axes, results: Results) -> bool:
    """Draw the error of run times over the share of rows kept, one line a way of sampling."""
    lines: dict[str, dict[float, list[float]]] = defaultdict(lambda: defaultdict(list))
    whole = [answer["truth_graded"]["run_rmse_log"] for cell, answer in results if cell.factor == "base"]
    for cell, answer in results:
        if cell.factor == "sampling":
            lines[cell.variant][cell.rate].append(answer["truth_graded"]["run_rmse_log"])
    chosen = colours(lines)
    for place, (name, points) in enumerate(lines.items()):
        rates = sorted(points)
        values = [*(points[rate] for rate in rates), whole]
        beside = [rate + APART * place for rate in (*rates, 1.0)]
        _with_intervals(axes, beside, values, name, chosen[name][0], place)
    axes.set(xlabel="share of the rows", ylabel="RMSE of log run time", xlim=(0, 1.05))
    axes.set_title(f"errors over how much is learned from{MEANS}")
    return bool(lines)


def _with_intervals(
    axes: Axes, places: Sequence[float], values: Sequence[Sequence[float]], label: str, colour: str, place: int
) -> None:
    """Draw the mean of each of *values* at *places*, and its 95 % Student interval where there is one."""
    found = [mean_interval(part) for part in values]
    reach = [0.0 if math.isnan(low) else (high - low) / 2 for _, low, high, _ in found]
    means = [mean for mean, *_ in found]
    axes.errorbar(places, means, reach, capsize=2, elinewidth=0.8, color=colour, label=label, **_marks(place))


def _marks(place: int) -> dict[str, Any]:
    """Return dashes and markers of the line that is drawn as number *place*."""
    return {"linestyle": DASHES[place % len(DASHES)], "marker": MARKERS[place % len(MARKERS)], "markersize": 4}


def _masks(axes: Axes, results: Results) -> bool:
    """Draw what TabNet looks at: the features of the largest share, mean over seeds."""
    found = [answer["masks"] for _, answer in results if answer["masks"]]
    if not found:
        return False
    shares = {name: float(np.mean([one[name] or 0.0 for one in found])) for name in found[0]}
    largest = sorted(shares, key=lambda name: shares[name])[-MOST_FEATURES:]
    axes.barh(largest, [shares[name] for name in largest], color="#2a6f97")
    axes.set(xlabel="share of TabNet's attention", title=f"what TabNet looks at: the {len(largest)} largest shares")
    return True


def _calibration(axes: Axes, results: Results) -> bool:
    """Draw which share of run times lies in parts of the intervals, over what normal errors would give."""
    z = NormalDist().inv_cdf((1 + INTERVAL) / 2)
    lines: dict[str, list[dict[str, float]]] = defaultdict(list)
    for cell, answer in results:
        if cell.factor == "family":
            lines[cell.family] += [
                row["calibration"]
                for row in answer["accuracy"]
                if row["target"] == "run_s" and row["group"] == "all" and "calibration" in row
            ]
    chosen = colours(lines)
    for place, (name, rows) in enumerate(lines.items()):
        parts = sorted(rows[0], key=float)
        nominal = [2 * NormalDist().cdf(z * float(part)) - 1 for part in parts]
        held = [float(np.mean([row[part] for row in rows if row[part] is not None])) for part in parts]
        axes.plot(nominal, held, color=chosen[name][0], label=name, **_marks(place))
    axes.plot([0, 1], [0, 1], color="#999999", linewidth=0.8)
    axes.set(xlabel="promised share", ylabel="share of run times held", xlim=(0, 1), ylim=(0, 1))
    axes.set_title("how much of the run times parts of the intervals hold")
    return bool(lines)


PICTURES: dict[str, Callable[[Axes, Results], bool]] = {
    "fronts": _fronts,
    "hypervolume": _volumes,
    "sampling": _sampling,
    "masks": _masks,
    "calibration": _calibration,
}
"""Every plot by its name; a function returns False where its cells are missing."""


def _canvas() -> tuple[Figure, Axes]:
    """Return a new figure outside pyplot, and its axes."""
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise MissingExtra("Plots need Matplotlib.", "pip install 'hpcsim-des[report]'") from error
    figure = Figure(figsize=(7.5, 4.5), layout="constrained")
    axes = figure.subplots()
    axes.set_axisbelow(True)
    axes.grid(visible=True, color="#d9dee3", linewidth=0.6)
    axes.spines[["top", "right"]].set_visible(False)
    return figure, axes
