"""A page that draws what a study found: every setting, the front among them, with intervals."""

from __future__ import annotations

import math
from collections.abc import Sequence
from html import escape
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np

from hpcsim.results.quantities import number
from hpcsim.results.report_style import STYLE

if TYPE_CHECKING:
    import pandas as pd

WIDTH, HEIGHT, LEFT, BOTTOM, EDGE = 460, 320, 64, 44, 14

_MARKS = """
.dot{fill:var(--soft);opacity:.55}.dot.front{fill:var(--c0);opacity:1}.bar{stroke:var(--c0);stroke-width:1.2;opacity:.6}
"""


def write_front(table: pd.DataFrame, objectives: Sequence[str], name: str) -> str:
    """Return an HTML page with a chart for each two objectives and the front as a table.

    *table* is that of `hpcsim.experiments.tune.trials_table`. With one objective its settings are
    drawn in the order tried.
    """
    known = table[table[list(objectives)].notna().all(axis=1)]
    known = known.assign(trial=known.index + 1)
    pairs = list(combinations(objectives, 2)) or [("trial", objectives[0])]
    charts = "".join(
        f"<figure><figcaption>{escape(y)} against {escape(x)}</figcaption>{_chart(known, x, y)}</figure>"
        for x, y in pairs
    )
    front = known[known["is_on_front"]].sort_values(objectives[0])
    return (
        f'<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">'
        f"<title>{escape(name)}</title><style>{STYLE}{_MARKS}</style><main><h1>{escape(name)}</h1>"
        f'<p class="verdict">{len(front)} of {len(known)} settings are on the front.</p>'
        f'<p class="note">Bars are 95 % Student intervals over the seeds.</p>'
        f'<div class="charts">{charts}</div>{_table(front, objectives)}</main></html>\n'
    )


def _chart(known: pd.DataFrame, x: str, y: str) -> str:
    across, down = _Axis(known, x, LEFT, WIDTH - EDGE), _Axis(known, y, HEIGHT - BOTTOM, EDGE)
    parts = [f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{escape(y)} against {escape(x)}">']
    for value in across.ticks():
        place = across.at(value)
        parts.append(f'<path class="grid" d="M{place:.1f} {EDGE}V{HEIGHT - BOTTOM}"/>')
        parts.append(f'<text x="{place:.1f}" y="{HEIGHT - BOTTOM + 17}" text-anchor="middle">{number(value)}</text>')
    for value in down.ticks():
        place = down.at(value)
        parts.append(f'<path class="grid" d="M{LEFT} {place:.1f}H{WIDTH - EDGE}"/>')
        parts.append(f'<text x="{LEFT - 6}" y="{place + 4:.1f}" text-anchor="end">{number(value)}</text>')
    parts.append(f'<text x="{(LEFT + WIDTH) / 2}" y="{HEIGHT - 6}" text-anchor="middle">{escape(x)}</text>')
    marks = [_mark(row, x, y, across, down) for row in known.sort_values("is_on_front").to_dict("records")]
    return "".join([*parts, *marks, "</svg>"])


def _mark(row: dict[Any, Any], x: str, y: str, across: _Axis, down: _Axis) -> str:
    """Return a setting's dot, with bars if it is on the front."""
    left, top = across.at(row[x]), down.at(row[y])
    said = escape(", ".join(f"{key} {value}" for key, value in row.items() if key.startswith(("policy.", "cluster."))))
    kind = "dot front" if row["is_on_front"] else "dot"
    dot = f'<circle class="{kind}" cx="{left:.1f}" cy="{top:.1f}" r="4"><title>{said}</title></circle>'
    if not row["is_on_front"]:
        return dot
    x_low, x_high, y_low, y_high = (
        row.get(key, math.nan) for key in (f"{x}_low", f"{x}_high", f"{y}_low", f"{y}_high")
    )
    bars = ""
    if not math.isnan(x_low):
        bars += f'<path class="bar" d="M{across.at(x_low):.1f} {top:.1f}H{across.at(x_high):.1f}"/>'
    if not math.isnan(y_low):
        bars += f'<path class="bar" d="M{left:.1f} {down.at(y_low):.1f}V{down.at(y_high):.1f}"/>'
    return bars + dot


class _Axis:
    """Values of one column, from *begin* to *end* in units of the view box."""

    def __init__(self, table: pd.DataFrame, column: str, begin: float, end: float) -> None:
        ends = [end for end in (f"{column}_low", f"{column}_high") if end in table]
        values = [table[column].astype(float), *(table.loc[table["is_on_front"], end].dropna() for end in ends)]
        every = np.concatenate(values)
        low, high = (float(every.min()), float(every.max())) if len(every) else (0.0, 1.0)
        margin = 0.05 * (high - low) or 0.5
        self.low, self.high = low - margin, high + margin
        self._begin, self._end = begin, end

    def at(self, value: float) -> float:
        """Return where *value* lies, held to the axis."""
        share = (float(value) - self.low) / (self.high - self.low)
        return self._begin + min(1.0, max(0.0, share)) * (self._end - self._begin)

    def ticks(self) -> list[float]:
        """Return a few round values."""
        rough = (self.high - self.low) / 4
        power = 10.0 ** math.floor(math.log10(rough))
        step = next(power * factor for factor in (1, 2, 5, 10) if power * factor >= rough * 0.999)
        first, last = math.ceil(self.low / step), math.floor(self.high / step)
        return [step * place for place in range(first, last + 1)]


def _table(front: pd.DataFrame, objectives: Sequence[str]) -> str:
    parameters = [column for column in front.columns if column.startswith(("policy.", "cluster."))]
    parameters = [column for column in parameters if column.removeprefix("cluster.") not in objectives]
    shown = [*parameters, *objectives]
    head = "".join(f"<th>{escape(column)}</th>" for column in shown)
    rows = []
    for row in front.to_dict("records"):
        cells = [f"<td>{escape(str(row[column]))}</td>" for column in parameters]
        for objective in objectives:
            low, high = row[f"{objective}_low"], row[f"{objective}_high"]
            span = (
                ""
                if math.isnan(low) or low == high
                else f' <span class="note">({number(low)} to {number(high)})</span>'
            )
            cells.append(f"<td>{number(row[objective])}{span}</td>")
        rows.append(f"<tr>{''.join(cells)}</tr>")
    return f'<div class="scroll"><table><thead><tr>{head}</tr></thead><tbody>{"".join(rows)}</tbody></table></div>'
