"""Ratios drawn on a logarithmic axis, as SVG: intervals one below the other, and performance profiles."""

from __future__ import annotations

import math
from collections.abc import Mapping
from collections.abc import Sequence as Many
from html import escape
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

WIDTH = 520
ROW, HEAD, FOOT = 24, 6, 28
EDGE, NAMES = 14, 210
HEIGHT, LEFT = 330, 44
LOW, HIGH = 0.5, 4.0
"""Ends of a profile's axis; what is beyond HIGH is not reached there."""

_TICKS = (0.1, 0.2, 0.5, 0.7, 0.8, 0.9, 1, 1.1, 1.25, 1.5, 2, 3, 5, 10, 20, 50)
MOST_LETTERS = 31
MOST_STEPS = 60
"""Steps of a profile that are drawn: of more, evenly spread ones."""


MARKS = """
figure>svg.ratios .bar{stroke:var(--soft);stroke-width:2}figure>svg.ratios .dot{fill:var(--soft)}
figure>svg.ratios .better .bar{stroke:var(--c2)}figure>svg.ratios .better .dot{fill:var(--c2)}
figure>svg.ratios .worse .bar{stroke:var(--c1)}figure>svg.ratios .worse .dot{fill:var(--c1)}
figure>svg .one{stroke:var(--ink);stroke-dasharray:3 3}figure>svg .line.s0{stroke-width:3}
.legend .key{width:2em;height:.7em}.legend .line{stroke:var(--c);stroke-width:3;fill:none}
"""
"""Style of the marks; better and worse are told apart by their place beside the line as well."""


class Ratio(NamedTuple):
    """A ratio with the ends of its interval, NaN without one."""

    name: str
    middle: float
    low: float
    high: float


def ratio_chart(ratios: Many[Ratio], caption: str) -> str:
    """Return a figure with a row for each of *ratios*, around 1; the empty text without any."""
    if not ratios:
        return ""
    values = [value for each in ratios for value in each[1:] if math.isfinite(value) and value > 0]
    low, high = min(0.95, *values) * 0.98, max(1.05, *values) * 1.02
    height = HEAD + ROW * len(ratios) + FOOT

    def at(ratio: float) -> float:
        return NAMES + math.log(ratio / low) / math.log(high / low) * (WIDTH - NAMES - EDGE)

    parts = [f'<svg class="ratios" viewBox="0 0 {WIDTH} {height}" role="img" aria-label="{escape(caption)}">']
    parts += (_tick(at(tick), tick, HEAD, height - FOOT + 4, height - 8) for tick in _ticks(low, high, at))
    for row, each in enumerate(ratios):
        parts.append(_drawn(each, HEAD + ROW * row, *(at(value) for value in each[1:] if math.isfinite(value))))
    return f"<figure><figcaption>{escape(caption)}</figcaption>{''.join(parts)}</svg></figure>"


def _fitting(name: str) -> str:
    """Return *name*, without its middle where it is too long: names of one policy differ at their ends."""
    return name if len(name) <= MOST_LETTERS else f"{name[:9]}…{name[10 - MOST_LETTERS :]}"


def _drawn(ratio: Ratio, top: float, middle: float, *ends: float) -> str:
    kind = "better" if ratio.high < 1 else "worse" if ratio.low > 1 else "unshown"
    line = f'<path class="bar" d="M{ends[0]:.1f} {top + 12}H{ends[1]:.1f}"/>' if len(ends) == 2 else ""
    return (
        f'<g class="{kind}"><title>{escape(ratio.name)}: {ratio.middle:.3f}</title>'
        f'<text x="2" y="{top + 16}">{escape(_fitting(ratio.name))}</text>{line}'
        f'<circle class="dot" cx="{middle:.1f}" cy="{top + 12}" r="4"/></g>'
    )


def profile_chart(curves: Mapping[str, NDArray[np.float64]], caption: str) -> str:
    """Return a figure with the share of each of *curves* that is at most a ratio, the first drawn thickest."""

    def across(ratio: Any) -> Any:
        return LEFT + np.log(np.clip(ratio, LOW, HIGH) / LOW) / math.log(HIGH / LOW) * (WIDTH - LEFT - EDGE)

    def down(share: Any) -> Any:
        return HEIGHT - FOOT - share * (HEIGHT - FOOT - HEAD)

    parts = [f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{escape(caption)}">']
    for share in (0, 0.25, 0.5, 0.75, 1):
        parts.append(f'<path class="grid" d="M{LEFT} {down(share):.1f}H{WIDTH - EDGE}"/>')
        parts.append(f'<text x="{LEFT - 6}" y="{down(share) + 4:.1f}" text-anchor="end">{share:.0%}</text>')
    ticks = _ticks(LOW, HIGH, lambda ratio: float(across(ratio)))
    parts += (_tick(float(across(tick)), tick, HEAD, HEIGHT - FOOT, HEIGHT - 8) for tick in ticks)
    for number, (name, ratios) in enumerate(curves.items()):
        parts.append(
            f'<path class="line s{number}" d="{_steps(ratios, across, down)}"><title>{escape(name)}</title></path>'
        )
    return f"<figure><figcaption>{escape(caption)}</figcaption>{_legend(list(curves))}{''.join(parts)}</svg></figure>"


def _steps(ratios: NDArray[np.float64], across: Any, down: Any) -> str:
    """Return the path of a step function that rises at each ratio below the axis' end."""
    shown = np.sort(ratios[ratios <= HIGH])
    heights = np.arange(1, len(shown) + 1) / len(ratios)
    kept = np.unique(np.linspace(0, len(shown) - 1, min(len(shown), MOST_STEPS)).round().astype(int))
    steps = "".join(f"H{x:.0f}V{y:.0f}" for x, y in zip(across(shown[kept]), down(heights[kept]), strict=True))
    return f"M{LEFT} {down(0.0):.1f}{steps}H{WIDTH - EDGE}"


def _legend(names: Many[str]) -> str:
    key = '<svg class="key" viewBox="0 0 24 8"><path class="line s{}" d="M0 4H24"/></svg>'
    items = (f"<span>{key.format(number)} {escape(name)}</span>" for number, name in enumerate(names))
    return f'<div class="legend">{"".join(items)}</div>'


def _ticks(low: float, high: float, at: Any) -> list[float]:
    """Return round ratios between *low* and *high*, 1 among them, that leave room for their labels."""
    chosen = [1.0]
    for tick in sorted(_TICKS, key=lambda ratio: abs(math.log(ratio)), reverse=True):
        if low <= tick <= high and all(abs(at(tick) - at(other)) > 34 for other in chosen):
            chosen.append(tick)
    return sorted(chosen)


def _tick(x: float, ratio: float, top: float, bottom: float, base: float) -> str:
    kind = "one" if ratio == 1 else "grid"
    return (
        f'<path class="{kind}" d="M{x:.1f} {top}V{bottom}"/>'
        f'<text x="{x:.1f}" y="{base}" text-anchor="middle">{ratio:g}</text>'
    )
