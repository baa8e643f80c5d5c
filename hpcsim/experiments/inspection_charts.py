"""Charts of a record of decisions, as SVG: a heat map, lines and points over decisions, and ranges by name.

The horizontal axis of what goes over time is the decisions in order, as a night without any tells
nothing; ticks stand where a day begins. Many decisions are put together: a column is the mean of some.
"""

from __future__ import annotations

import base64
import math
import struct
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from html import escape

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

WIDTH, LEFT, RIGHT, TOP, FOOT = 900, 52, 12, 8, 26
MOST_COLUMNS = 400
"""Columns that decisions are put together in."""

INK = (0, 114, 178)
"""Colour of a heat map on light and dark ground; its opacity is the square root of the value."""

ROW, NAMES = 19, 178

MARKS = """
figure>svg .point{fill:var(--c);fill-opacity:.55}figure>svg .one{stroke:var(--ink);stroke-dasharray:3 3;fill:none}
figure>svg .range{stroke:var(--c0);stroke-width:5;stroke-opacity:.35}figure>svg .dot{fill:var(--c0)}
figure>svg image{image-rendering:pixelated}figure>svg .line{fill:none}
"""
"""Style of the marks."""


@dataclass(frozen=True, slots=True)
class Axis:
    """Decisions in order, and where days begin among them.

    Attributes:
        decisions: their number.
        days: (decision, label) of the first decision of each day.
    """

    decisions: int
    days: Sequence[tuple[int, str]]

    def x(self, decision: float) -> float:
        """Return where a decision lies across."""
        return LEFT + decision / max(1, self.decisions) * (WIDTH - LEFT - RIGHT)

    def columns(self) -> list[NDArray[np.int64]]:
        """Return the decisions of each column, at most `MOST_COLUMNS` of them."""
        return np.array_split(np.arange(self.decisions), min(self.decisions, MOST_COLUMNS))


def axis_of(times_s: Floats, first_s: float) -> Axis:
    """Return the axis of decisions at *times_s*; day 0 begins at *first_s*."""
    days = np.floor((times_s - first_s) / 86_400).astype(int)
    begins = [at for at in range(len(days)) if at == 0 or days[at] != days[at - 1]]
    return Axis(len(times_s), [(at, f"day {days[at]}") for at in begins])


def heat_map(values: Floats, axis: Axis, caption: str) -> str:
    """Return a figure of *values* [decisions, rows], row 0 at the bottom; the largest is opaque, NaN is not drawn."""
    with np.errstate(invalid="ignore"):
        cells = np.array([_mean(values[some]) for some in axis.columns()]).T
    largest = float(np.nanmax(cells)) if np.isfinite(cells).any() else 1.0
    opacity = np.sqrt(np.nan_to_num(cells / (largest or 1.0)))[::-1]  # so that small weights are seen
    height = max(70, 7 * len(cells))
    inside = (
        f'<image x="{LEFT}" y="{TOP}" width="{WIDTH - LEFT - RIGHT}" height="{height}" preserveAspectRatio="none" '
        f'href="{_png(opacity)}"/>'
    )
    ticks = [(row, f"{row}") for row in range(0, len(cells), max(1, len(cells) // 4))]
    step = height / len(cells)
    left = (_left(TOP + height - (row + 0.5) * step, text) for row, text in ticks)
    return _figure(f"{caption}; darkest: {largest:.2f}", height, [inside, *left, *_days(axis, height)])


def line_chart(lines: Mapping[str, Floats], axis: Axis, caption: str, *, level: float = math.nan) -> str:
    """Return a figure of values [decisions] between 0 and the largest; *level* is drawn as a dashed line."""
    height = 190
    drawn = {name: np.array([_mean(values[some]) for some in axis.columns()]) for name, values in lines.items()}
    top = _nice(max([float(np.nanmax(each)) for each in drawn.values()] + [0.0 if math.isnan(level) else level]))
    parts = list(_across(top, height))
    middles = [float(some.mean()) + 0.5 for some in axis.columns()]
    for number, each in enumerate(drawn.values()):
        path = _path([axis.x(at) for at in middles], TOP + height * (1 - each / top))
        parts.append(f'<path class="line s{number}" d="{path}"/>')
    if not math.isnan(level):
        parts.append(f'<path class="one" d="M{LEFT} {TOP + height * (1 - level / top):.1f}H{WIDTH - RIGHT}"/>')
    return _figure(caption, height, [*parts, *_days(axis, height)], list(drawn))


def age_chart(lines: Mapping[str, Floats], caption: str) -> str:
    """Return a figure of values by age [span], the last of *lines* dashed in ink."""
    height = 220
    span = max(len(each) for each in lines.values())
    top = _nice(max(float(np.nanmax(each)) for each in lines.values()))
    axis = Axis(span, [(age, f"{age}") for age in range(0, span, max(1, span // 8))])
    parts = list(_across(top, height))
    for number, each in enumerate(lines.values()):
        path = _path([axis.x(age + 0.5) for age in range(len(each))], TOP + height * (1 - each / top))
        kind = "one" if number == len(lines) - 1 else f"line s{number}"
        parts.append(f'<path class="{kind}" d="{path}"/>')
    return _figure(caption, height, [*parts, *_days(axis, height, shift=0.5)], list(lines)[:-1])


def scatter(points: Mapping[str, tuple[Floats, Floats]], axis: Axis, caption: str) -> str:
    """Return a figure of points by name: decisions, and ratios on a logarithmic axis around 1."""
    height = 200
    reach = max([1.0, *(float(np.abs(np.log10(ratios)).max(initial=0)) for _, ratios in points.values())])
    decades = math.ceil(reach)

    def y(ratio: float) -> float:
        return TOP + height * (0.5 - math.log10(ratio) / (2 * decades))

    parts = []
    for power in range(-decades, decades + 1, max(1, decades // 2)):
        kind = "one" if power == 0 else "grid"
        parts.append(f'<path class="{kind}" d="M{LEFT} {y(10.0**power):.1f}H{WIDTH - RIGHT}"/>')
        parts.append(_left(y(10.0**power), f"{10.0**power:g}"))
    for number, (at, ratios) in enumerate(points.values()):
        for decision, ratio in zip(at, ratios, strict=True):
            parts.append(
                f'<circle class="point s{number}" cx="{axis.x(decision + 0.5):.1f}" cy="{y(ratio):.1f}" r="3"/>'
            )
    return _figure(caption, height, [*parts, *_days(axis, height)], list(points))


def range_chart(rows: Mapping[str, Floats], caption: str, *, middle: float) -> str:
    """Return a figure with the mean of each of *rows* and the range from its 5th to its 95th percentile."""
    found = {name: values[np.isfinite(values)] for name, values in rows.items()}
    ends = {name: np.percentile(values, (5, 95)) for name, values in found.items() if len(values)}
    reach = max([0.05, *(abs(float(end) - middle) for pair in ends.values() for end in pair)]) * 1.05
    height = ROW * len(rows)

    def x(value: float) -> float:
        return NAMES + (value - middle + reach) / (2 * reach) * (WIDTH / 2 - NAMES - RIGHT)

    parts = []
    for tick in (middle - reach / 1.05, middle, middle + reach / 1.05):
        kind = "one" if tick == middle else "grid"
        parts.append(f'<path class="{kind}" d="M{x(tick):.1f} {TOP}V{TOP + height}"/>')
        parts.append(f'<text x="{x(tick):.1f}" y="{TOP + height + 18}" text-anchor="middle">{tick:.2f}</text>')
    for number, name in enumerate(rows):
        y = TOP + ROW * number + ROW / 2
        parts.append(f'<text x="2" y="{y + 4:.1f}">{escape(name)}</text>')
        if name in ends:
            parts.append(
                f'<path class="range" d="M{x(float(ends[name][0])):.1f} {y:.1f}H{x(float(ends[name][1])):.1f}"/>'
            )
            parts.append(f'<circle class="dot" cx="{x(float(found[name].mean())):.1f}" cy="{y:.1f}" r="4"/>')
    return _figure(caption, height, parts, width=WIDTH // 2)


def _figure(caption: str, height: float, parts: Sequence[str], names: Sequence[str] = (), width: int = WIDTH) -> str:
    items = (f'<span><span class="swatch s{at}"></span>{escape(name)}</span>' for at, name in enumerate(names))
    legend = f'<div class="legend">{"".join(items)}</div>' if names else ""
    box = f'<svg viewBox="0 0 {width} {TOP + height + FOOT:.0f}" role="img" aria-label="{escape(caption)}">'
    return f"<figure><figcaption>{escape(caption)}</figcaption>{legend}{box}{''.join(parts)}</svg></figure>"


def _days(axis: Axis, height: float, shift: float = 0.0) -> Iterator[str]:
    """Yield ticks where a day begins; labels that would overlap are left out."""
    last = -math.inf
    for decision, label in axis.days:
        x = axis.x(decision + shift)
        yield f'<path class="tick" d="M{x:.1f} {TOP + height}v5"/>'
        if x - last > 52 or shift:
            anchor = "middle" if shift else "start"
            yield f'<text x="{x:.1f}" y="{TOP + height + 19:.0f}" text-anchor="{anchor}">{label}</text>'
            last = x


def _across(top: float, height: float) -> Iterator[str]:
    for share in (0, 0.25, 0.5, 0.75, 1):
        y = TOP + height * (1 - share)
        yield f'<path class="grid" d="M{LEFT} {y:.1f}H{WIDTH - RIGHT}"/>'
        yield _left(y, f"{top * share:.3g}")


def _left(y: float, text: str) -> str:
    return f'<text x="{LEFT - 6}" y="{y + 4:.1f}" text-anchor="end">{escape(text)}</text>'


def _path(xs: Sequence[float], ys: Floats) -> str:
    """Return a line through the points; it is broken where a value is NaN."""
    parts, pen = [], "M"
    for x, y in zip(xs, ys, strict=True):
        if math.isnan(y):
            pen = "M"
            continue
        parts.append(f"{pen}{x:.1f} {y:.1f}")
        pen = "L"
    return "".join(parts)


def _mean(values: Floats) -> Floats:
    """Return the mean over the first axis of what is a number, NaN where nothing is."""
    there = np.isfinite(values)
    total: Floats = np.where(there, values, 0).sum(axis=0)
    return np.where(there.any(axis=0), total / np.maximum(there.sum(axis=0), 1), np.nan)


def _nice(value: float) -> float:
    """Return a round number not below *value*."""
    if not math.isfinite(value) or value <= 0:
        return 1.0
    power = 10.0 ** math.floor(math.log10(value))
    return next(
        power * factor for factor in (1, 1.2, 1.5, 2, 2.5, 3, 4, 5, 6, 8, 10) if power * factor >= value * 0.999
    )


def _png(opacity: Floats) -> str:
    """Return an image [rows, columns] of `INK` with this opacity, as a data URI."""
    rows, columns = opacity.shape
    pixels = np.empty((rows, columns, 4), dtype=np.uint8)
    pixels[..., :3] = INK
    pixels[..., 3] = np.round(255 * np.clip(opacity, 0, 1))
    lines = b"".join(b"\0" + row.tobytes() for row in pixels)

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    header = struct.pack(">IIBBBBB", columns, rows, 8, 6, 0, 0, 0)
    image = (
        b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(lines, 9)) + chunk(b"IEND", b"")
    )
    return f"data:image/png;base64,{base64.b64encode(image).decode()}"
