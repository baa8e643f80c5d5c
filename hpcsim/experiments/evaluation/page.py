"""An evaluation as one HTML page: ratios with their intervals, performance profiles, and every table.

Self-contained and without scripts; light and dark, and for paper. Everything that comes from outside is escaped.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from collections.abc import Sequence as Many
from html import escape

import numpy as np

from hpcsim.experiments.evaluation.outcome import Outcome
from hpcsim.experiments.evaluation.ratio_charts import MARKS, Ratio, profile_chart, ratio_chart
from hpcsim.experiments.evaluation.standing import ratios_of, seeds_of
from hpcsim.experiments.evaluation.tables import Section, Table
from hpcsim.results.html_page import html_page

_WHAT = (
    "Mean bounded slowdown, sequence by sequence, as a ratio to that of {}: below 1 is better. An interval that holds "
    "1 shows no difference."
)
_STYLE = """
.wide{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,26rem),1fr));gap:1rem}
nav a{display:inline-block;margin-right:1rem}nav{margin:1rem 0}
"""


def render_evaluation(sections: Many[Section], reference: str, *, title: str = "Schedulers on fixed suites") -> str:
    """Return the page on *sections*, as `hpcsim.experiments.evaluation.tables.sections_of` yields them."""
    body = [
        f'<p class="verdict">{escape(_WHAT.format(reference))}</p>',
        _contents(sections),
        *(_section(number, section, reference) for number, section in enumerate(sections)),
    ]
    return html_page(title, body, MARKS, _STYLE)


def _contents(sections: Many[Section]) -> str:
    links = (f'<a href="#part-{number}">{escape(each.title)}</a>' for number, each in enumerate(sections))
    return f"<nav>{' '.join(links)}</nav>" if len(sections) > 1 else ""


def _section(number: int, section: Section, reference: str) -> str:
    charts = "".join(_charts(section, reference)) if section.standings else ""
    notes = "".join(f"<p>{escape(note)}</p>" for note in section.notes)
    tables = "".join(map(_table, section.tables))
    return f'<h2 id="part-{number}">{escape(section.title)}</h2>{notes}<div class="wide">{charts}</div>{tables}'


def _charts(section: Section, reference: str) -> Iterator[str]:
    ratios = [
        Ratio(each.label, each.ratio.estimate, each.ratio.low, each.ratio.high)
        for each in section.standings
        if each.label != reference
    ]
    yield ratio_chart(ratios, f"Ratio to {reference} with its 95 % interval")
    if len(section.outcome.sequences) > 1:
        curves = dict(_curves(section.outcome, reference))
        yield profile_chart(curves, f"Performance profile: share of sequences with at most this ratio to {reference}")


def _curves(outcome: Outcome, reference: str) -> Iterable[tuple[str, np.ndarray]]:
    """Yield ratios by name: training seeds of a policy taken together, everybody else alone."""
    seeds = seeds_of(outcome.who)
    for name, labels in seeds.items():
        yield (
            f"{name}, {len(labels)} seeds",
            np.concatenate([ratios_of(outcome.scores, each, reference) for each in labels]),
        )
    for label in outcome.scores:
        if label != reference and not any(label in labels for labels in seeds.values()):
            yield label, ratios_of(outcome.scores, label, reference)


def _table(table: Table) -> str:
    head = "".join(f'<th scope="col">{escape(heading)}</th>' for heading in table.headings)
    rows = (
        f'<tr><th scope="row">{escape(name)}</th>{"".join(f"<td>{escape(cell)}</td>" for cell in cells)}</tr>'
        for name, *cells in table.rows
    )
    caption = f"<caption>{escape(table.note)}</caption>" if table.note else ""
    return (
        f'<h3>{escape(table.title)}</h3><div class="scroll"><table>{caption}<thead><tr>{head}</tr></thead>'
        f"<tbody>{''.join(rows)}</tbody></table></div>"
    )
