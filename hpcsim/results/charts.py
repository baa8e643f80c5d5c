"""Charts as inline SVG: step lines over time and a distribution on a logarithmic axis.

They carry no colours of their own: classes ``s0``, ``s1``, ... are coloured by the page, for light
and dark. Coordinates are in units of a viewBox of `WIDTH` x `HEIGHT`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from hpcsim.results.metrics import bin_means
from hpcsim.results.quantities import duration, number, time_axis_unit

if TYPE_CHECKING:
    import pandas as pd

WIDTH, HEIGHT = 460, 230
LEFT, RIGHT, TOP, BOTTOM = 52, 12, 12, 42
MOST_POINTS = 600
"""Points of a series at most."""

Values = NDArray[Any]
Series = tuple[Values, Values]
Ticks = Sequence[tuple[float, str]]


@dataclass(frozen=True, slots=True)
class Axes:
    """Ranges, ticks and titles of a chart. *high* ends are above the low ones."""

    x_low: float
    x_high: float
    y_high: float
    x_ticks: Ticks
    y_ticks: Ticks
    x_title: str

    def x(self, value: Any) -> Any:
        """Return where a value lies across."""
        return LEFT + (value - self.x_low) / (self.x_high - self.x_low) * (WIDTH - LEFT - RIGHT)

    def y(self, value: Any) -> Any:
        """Return where a value lies down."""
        return HEIGHT - BOTTOM - value / self.y_high * (HEIGHT - TOP - BOTTOM)


def over_time(
    timelines: Mapping[str, pd.DataFrame],
    column: str,
    label: str,
    *,
    y_high: float | None = None,
    y_text: Callable[[float], str] = number,
    points: int = MOST_POINTS,
) -> str:
    """Draw a column of each timeline as steps from the first instant of any to the last.

    Where a timeline has more instants than *points*, each step is the mean over an equal share of
    the time.
    """
    ends = [(t["time_s"].iloc[0], t["time_s"].iloc[-1]) for t in timelines.values() if len(t)]
    low_s, high_s = (min(low for low, _ in ends), max(high for _, high in ends)) if ends else (0.0, 1.0)
    high_s = high_s if high_s > low_s else low_s + 1
    lines = {name: _steps(t, column, low_s, high_s, points) for name, t in timelines.items()}
    top = y_high or max([float(level.max()) for _, level in lines.values() if len(level)], default=0) or 1.0
    y_ticks = [(value, y_text(value)) for value in _round_steps(top)]
    unit, size = time_axis_unit(high_s - low_s)
    x_ticks = [(low_s + value * size, number(value)) for value in _round_steps((high_s - low_s) / size)]
    axes = Axes(low_s, high_s, max(top, y_ticks[-1][0]), x_ticks, y_ticks, f"{unit} since the first submit")
    return _chart(axes, {name: _step_path(axes, *line) for name, line in lines.items()}, label)


def distribution(waits_s: Mapping[str, Values], label: str) -> str:
    """Draw, for each name, the share of the values (seconds) that are at most so long, on a log axis from 1 s."""
    longest_s = max([float(values.max()) for values in waits_s.values() if len(values)], default=0.0)
    marks = [1, 10, 60, 600, 3600, 6 * 3600, 86400, 10 * 86400, 100 * 86400, 1000 * 86400]
    high_s = next((mark for mark in marks[2:] if mark >= longest_s), max(longest_s, 60.0))
    x_ticks = [(math.log10(mark), duration(mark)) for mark in marks if mark <= high_s]
    y_ticks = [(share, f"{share:.0%}") for share in (0, 0.25, 0.5, 0.75, 1)]
    axes = Axes(0.0, math.log10(high_s), 1.0, x_ticks, y_ticks, "waited at most")
    at_s = np.geomspace(1, high_s, MOST_POINTS // 2)
    paths = {}
    for name, values in waits_s.items():
        share = np.searchsorted(np.sort(values), at_s, side="right") / max(1, len(values))
        paths[name] = _step_path(axes, np.log10(at_s), share) if len(values) else ""
    return _chart(axes, paths, label)


def _steps(timeline: pd.DataFrame, column: str, low_s: float, high_s: float, points: int) -> Series:
    """Return instants and levels of a step function, at most *points* of them."""
    time_s = timeline["time_s"].to_numpy()
    if len(time_s) <= points:
        return time_s, timeline[column].to_numpy().astype(float)
    edges_s = np.linspace(low_s, high_s, points)
    return edges_s[:-1], bin_means(timeline, column, edges_s)


def _step_path(axes: Axes, across: Values, level: Values) -> str:
    """Return the path data of a step line, held to the right end."""
    if not len(across):
        return ""
    x, y = axes.x(across), axes.y(level)
    steps = "".join(f"H{right:.1f}V{down:.1f}" for right, down in zip(x[1:], y[1:], strict=True))
    return f"M{x[0]:.1f} {y[0]:.1f}{steps}H{WIDTH - RIGHT}"


def _round_steps(high: float) -> list[float]:
    """Return 0 and round numbers up to *high*, three to six in all."""
    rough = high / 4
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(power * factor for factor in (1, 2, 2.5, 5, 10) if power * factor >= rough * 0.999)
    return [step * count for count in range(int(high / step * 1.001) + 1)]


def _chart(axes: Axes, paths: Mapping[str, str], label: str) -> str:
    """Return the whole SVG: grid, ticks, one path a series, described by *label* for screen readers."""
    floor = HEIGHT - BOTTOM
    parts = [f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{escape(label)}">']
    for value, text in axes.y_ticks:
        y = axes.y(value)
        parts.append(f'<path class="grid" d="M{LEFT} {y:.1f}H{WIDTH - RIGHT}"/>')
        parts.append(f'<text x="{LEFT - 6}" y="{y + 4:.1f}" text-anchor="end">{escape(text)}</text>')
    for value, text in axes.x_ticks:
        x = axes.x(value)
        anchor = "end" if x > WIDTH - RIGHT - 12 else "middle"
        parts.append(f'<path class="tick" d="M{x:.1f} {floor}v4"/>')
        parts.append(f'<text x="{x:.1f}" y="{floor + 17}" text-anchor="{anchor}">{escape(text)}</text>')
    middle = (LEFT + WIDTH - RIGHT) / 2
    parts.append(f'<text x="{middle}" y="{HEIGHT - 6}" text-anchor="middle">{escape(axes.x_title)}</text>')
    for index, path in enumerate(paths.values()):
        if path:
            parts.append(f'<path class="line s{index}" d="{path}"/>')
    return "".join([*parts, "</svg>"])
