"""Learning curves: validation cost over decisions, a panel a part of the method, the base in each."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hpcsim.errors import MissingExtra
from hpcsim.experiments.ablation.tables import Tables
from hpcsim.experiments.ablation.variants import BASE
from hpcsim.results.report_style import COLOURS

if TYPE_CHECKING:
    from matplotlib.axes import Axes

COLUMNS, DPI, SHADES = 2, 85, 64


def need_matplotlib() -> None:
    """Raise `MissingExtra` where Matplotlib is not installed."""
    if find_spec("matplotlib") is None:
        raise MissingExtra("Plots need Matplotlib.", "pip install 'hpcsim-des[report]'")


def learning_curves(tables: Tables, path: Path) -> Path:
    """Draw the curves into *path*: a thick line a variant, the mean of its seeds, and thin ones for each seed.

    Raises:
        MissingExtra: Matplotlib is not installed.
    """
    need_matplotlib()
    from matplotlib.figure import Figure

    networks = tables.networks
    parts = [part for part in networks["part"].unique() if part != BASE] or [BASE]
    columns = min(COLUMNS, len(parts))
    rows = -(-len(parts) // columns)
    figure = Figure(figsize=(4.5 * columns, 0.4 + 2.7 * rows), layout="constrained")
    panels = figure.subplots(rows, columns, squeeze=False)
    for part, axes in zip(parts, panels.flat, strict=False):
        _panel(axes, tables, part, list(networks.loc[networks["part"] == part, "name"]))
    for axes in panels.flat[len(parts) :]:
        axes.set_visible(False)
    figure.savefig(path, dpi=DPI)
    _in_few_colours(path)
    return path


def _panel(axes: Axes, tables: Tables, part: str, names: Sequence[str]) -> None:
    axes.axhline(1, color="#999999", linewidth=0.8)
    styles = {BASE: "black"} | {name: COLOURS[at % len(COLOURS)][0] for at, name in enumerate(names) if name != BASE}
    for name, colour in styles.items():
        _curve(axes, tables, name, colour)
    axes.set(title=part, xlabel="decisions", ylabel="validation cost / SAF's")
    axes.set_xlim(left=0)
    axes.grid(visible=True, color="#d9dee3", linewidth=0.6)
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(frameon=False, fontsize=7)


def _in_few_colours(path: Path) -> None:
    """Keep `SHADES` colours of a picture of lines, so that a page that holds it stays small."""
    from PIL import Image

    with Image.open(path) as picture:
        picture.convert("RGB").quantize(SHADES).save(path, optimize=True)


def _curve(axes: Axes, tables: Tables, name: str, colour: Any) -> None:
    mine = tables.curves[tables.curves["variant"] == name]
    for _, seed in mine.groupby("seed"):
        axes.plot(seed["decisions"], seed["ratio_to_saf"], color=colour, linewidth=0.5, alpha=0.5)
    order = mine.groupby("seed").cumcount()  # validations come after equally many updates
    mean = mine.groupby(order)[["decisions", "ratio_to_saf"]].mean()
    axes.plot(mean["decisions"], mean["ratio_to_saf"], color=colour, linewidth=1.8, marker=".", label=name)
