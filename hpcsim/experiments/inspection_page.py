"""A record of a network's decisions as one HTML page: attention, gates, recalibration, and where it leaves its rule.

Self-contained and without scripts; light and dark. Everything that comes from outside is escaped.
"""

from __future__ import annotations

from collections.abc import Iterator
from html import escape

import numpy as np

from hpcsim.experiments.inspection_charts import (
    MARKS,
    Axis,
    age_chart,
    axis_of,
    heat_map,
    line_chart,
    range_chart,
    scatter,
)
from hpcsim.experiments.inspection_summary import (
    by_age,
    changed_by_memory,
    disagreements,
    if_uniform,
    sentences,
    verdict,
)
from hpcsim.inspection import Inspection
from hpcsim.results.html_page import html_page
from hpcsim.results.quantities import duration, number

MOST_ROWS = 25
"""Disagreements in the table, those with the most unlike areas."""

_STYLE = """
figure{margin-bottom:1rem}
.half{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,24rem),1fr));gap:1rem;align-items:start}
"""
_HEADINGS = ("time", "waiting", "chosen", "nodes", "requested", "waited", "rule's", "nodes", "requested", "waited")


def render_inspection(inspection: Inspection, *, title: str, first_s: float) -> str:
    """Return the page; *first_s* is when day 0 of the log begins."""
    nothing = ["<p>The network was asked nothing in this time.</p>"]
    return html_page(title, _shown(inspection, first_s) if len(inspection) else nothing, MARKS, _STYLE)


def _shown(inspection: Inspection, first_s: float) -> Iterator[str]:
    axis = axis_of(inspection.columns["time_s"].astype(float), first_s)
    yield f'<p class="verdict">{escape(verdict(inspection))}</p>'
    yield f"<ul>{''.join(f'<li>{escape(sentence)}</li>' for sentence in sentences(inspection))}</ul>"
    yield from _memory(inspection, axis)
    yield from _gates(inspection, axis)
    yield from _recalibration(inspection)
    yield from _choices(inspection, axis, first_s)


def _memory(inspection: Inspection, axis: Axis) -> Iterator[str]:
    yield "<h2>Attention over past decisions</h2>"
    yield _note(
        "Down: how many decisions old, 0 is the decision itself. Across: decisions in order. What a query sees grows "
        "from the memory alone to memory and segment, then begins anew: hence the saw."
    )
    for at, head in enumerate(inspection.heads):
        yield heat_map(inspection.attention[:, at], axis, f"Weight by age, {head}")
    lines = dict(zip(inspection.heads, by_age(inspection), strict=True)) | {"uniform": if_uniform(inspection)}
    yield age_chart(lines, "Mean weight by age, in decisions; dashed: a head that looks at all it sees alike")
    yield line_chart(
        {"all decisions": inspection.columns["moved"].astype(float)},
        axis,
        "What the past changes: total variation between the network's probabilities with and without it",
    )


def _gates(inspection: Inspection, axis: Axis) -> Iterator[str]:
    if inspection.gates:
        yield "<h2>Gates</h2>"
        yield _note("How much of what attention, or the feed-forward part, adds is let into the stream.")
        caption = "Mean openness over channels; dashed: an untrained gate"
        yield line_chart(inspection.gates, axis, caption, level=inspection.gates_at_first)


def _recalibration(inspection: Inspection) -> Iterator[str]:
    if not inspection.factors:
        return
    yield "<h2>Recalibration</h2>"
    yield _note(
        "Recalibration scales hidden channels, not features. A feature's factor is the mean factor of the channels "
        "that react to it, by how strongly they do: above 1 it is turned up, below 1 down. Bars: 5 to 95 % of the "
        "decisions. A feature that no channel reacts to has none."
    )
    yield '<div class="half">'
    for kind, factors in inspection.factors.items():
        rows = {name: factors[:, at] for at, name in enumerate(inspection.features[kind])}
        yield range_chart(rows, f"Factor by feature, {kind}", middle=1.0)
    yield "</div>"


def _choices(inspection: Inspection, axis: Axis, first_s: float) -> Iterator[str]:
    yield f"<h2>Where it leaves {escape(inspection.rule)}</h2>"
    other = np.flatnonzero(disagreements(inspection))
    if not len(other):
        yield "<p>Nowhere.</p>"
        return
    columns = inspection.columns
    ratios = columns["area_node_s"].astype(float) / columns["rule_area_node_s"].astype(float)
    drawn = other[np.isfinite(ratios[other]) & (ratios[other] > 0)]
    longer = columns["wait_s"][drawn] > columns["rule_wait_s"][drawn]
    yield scatter(
        {
            "its job has waited longer than the rule's": (drawn[longer].astype(float), ratios[drawn[longer]]),
            "its job has waited less long": (drawn[~longer].astype(float), ratios[drawn[~longer]]),
        },
        axis,
        f"Area (nodes x requested time) of the job chosen over that of {inspection.rule}'s, where they differ",
    )
    unlike = sorted(drawn, key=lambda at: -abs(np.log(ratios[at])))[:MOST_ROWS]
    yield _table(inspection, sorted(unlike), first_s)
    if len(other) > len(unlike):
        yield _note(f"The {len(unlike)} of {len(other):,} whose areas differ most; the CSV has all decisions.")


def _table(inspection: Inspection, rows: list[int], first_s: float) -> str:
    columns, changed = inspection.columns, changed_by_memory(inspection)
    body = []
    for at in rows:
        cells = [f"day {(columns['time_s'][at] - first_s) / 86_400:.2f}", number(int(columns["waiting"][at]))]
        for prefix in ("", "rule_"):
            cells += [
                str(columns[f"{prefix}job_id"][at]),
                number(int(columns[f"{prefix}nodes"][at])),
                duration(float(columns[f"{prefix}limit_s"][at])),
                duration(float(columns[f"{prefix}wait_s"][at])),
            ]
        cells.append("yes" if changed[at] else "no")
        body.append(f"<tr>{''.join(f'<td>{escape(cell)}</td>' for cell in cells)}</tr>")
    head = "".join(f'<th scope="col">{escape(name)}</th>' for name in (*_HEADINGS, "by memory"))
    return (
        f'<div class="scroll"><table><caption>Jobs by their ids in the log; "by memory": without its past the network '
        f"would have chosen otherwise.</caption><thead><tr>{head}</tr></thead>"
        f"<tbody>{''.join(body)}</tbody></table></div>"
    )


def _note(words: str) -> str:
    return f'<p class="note">{escape(words)}</p>'
