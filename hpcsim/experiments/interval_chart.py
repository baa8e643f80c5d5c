"""Differences with their intervals, drawn one below the other around zero, as SVG."""

from __future__ import annotations

import math
from collections.abc import Sequence
from html import escape
from typing import NamedTuple

WIDTH, ROW, HEAD, FOOT, EDGE = 480, 36, 6, 30, 14
MOST_LETTERS = 62

MARKS = """
figure>svg.intervals{max-width:40rem}.bar{stroke:var(--soft);stroke-width:2}.dot{fill:var(--soft)}
.better .bar{stroke:var(--c2)}.better .dot{fill:var(--c2)}.worse .bar{stroke:var(--c1)}.worse .dot{fill:var(--c1)}
figure>svg .zero{stroke:var(--ink);stroke-dasharray:3 3}
"""
"""Style of the marks; verdicts are told apart in the table as well, and not by colour alone."""


class Bar(NamedTuple):
    """A difference: its name, middle, and ends of its interval (NaN without one), and its verdict in a word."""

    name: str
    middle: float
    low: float
    high: float
    verdict: str


def interval_chart(bars: Sequence[Bar], caption: str) -> str:
    """Return a figure with a row for each of *bars*; the empty text without any."""
    if not bars:
        return ""
    low, high = _reach(bars)
    height = HEAD + ROW * len(bars) + FOOT

    def at(value: float) -> float:
        return EDGE + (value - low) / (high - low) * (WIDTH - 2 * EDGE)

    parts = [f'<svg class="intervals" viewBox="0 0 {WIDTH} {height}" role="img" aria-label="{escape(caption)}">']
    for tick in _ticks(low, high):
        kind = "zero" if tick == 0 else "grid"
        parts.append(f'<path class="{kind}" d="M{at(tick):.1f} {HEAD}V{height - FOOT + 4}"/>')
        parts.append(f'<text x="{at(tick):.1f}" y="{height - 8}" text-anchor="middle">{_signed(tick)}</text>')
    for row, bar in enumerate(bars):
        parts.append(_drawn(bar, HEAD + ROW * row, at(bar.middle), at(bar.low), at(bar.high)))
    return f"<figure><figcaption>{escape(caption)}</figcaption>{''.join(parts)}</svg></figure>"


def _drawn(bar: Bar, top: float, middle: float, low: float, high: float) -> str:
    """Return a bar under its name."""
    name = bar.name if len(bar.name) <= MOST_LETTERS else f"{bar.name[: MOST_LETTERS - 1]}…"
    line = "" if math.isnan(low) else f'<path class="bar" d="M{low:.1f} {top + 26}H{high:.1f}"/>'
    said = f"{bar.name}: {_signed(bar.middle)}, {bar.verdict}"
    return (
        f'<g class="{escape(bar.verdict)}"><title>{escape(said)}</title>'
        f'<text x="{EDGE}" y="{top + 15}">{escape(name)}</text>{line}'
        f'<circle class="dot" cx="{middle:.1f}" cy="{top + 26}" r="4"/></g>'
    )


def _reach(bars: Sequence[Bar]) -> tuple[float, float]:
    """Return the ends of the axis: zero and every interval are on it."""
    values = [value for bar in bars for value in (bar.middle, bar.low, bar.high) if math.isfinite(value)]
    low, high = min(0.0, *values), max(0.0, *values)
    margin = 0.04 * (high - low) or 1.0
    return low - margin, high + margin


def _ticks(low: float, high: float) -> list[float]:
    """Return a few round values, zero among them."""
    rough = (high - low) / 6
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(power * factor for factor in (1, 2, 5, 10) if power * factor >= rough * 0.999)
    return [step * place for place in range(math.ceil(low / step), math.floor(high / step) + 1)]


def _signed(value: float) -> str:
    return "0" if value == 0 else f"{value:+.3g}".replace("-", "\u2212")
