"""The report's answer to "is it better?": a table of differences for each policy against the first."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from hpcsim.results.difference_rows import CLASS_HEADINGS, MEASURE_HEADINGS, class_rows, measure_rows
from hpcsim.results.pairwise import Pairwise
from hpcsim.results.statistics.interval import Verdict


def pairwise_tables(pairs: Sequence[Pairwise]) -> str:
    """Return the section as HTML, empty without *pairs*; everything that comes from outside is escaped."""
    return "".join(map(_section, pairs))


def _section(pair: Pairwise) -> str:
    notes = "".join(f'<p class="note">{escape(text)}</p>' for text in filter(None, (pair.basis(), pair.caution())))
    return (
        f"<h2>{escape(pair.new)} (new) against {escape(pair.old)} (old)</h2>"
        f"<p>{escape(pair.winners_and_losers())}</p>"
        f"{_table(MEASURE_HEADINGS, measure_rows(pair), '')}"
        f"{_table(CLASS_HEADINGS, class_rows(pair), 'Mean waits of classes of jobs.')}{notes}"
    )


def _table(headings: Sequence[str], rows: Sequence[Sequence[str]], caption: str) -> str:
    head = "".join(f'<th scope="col">{escape(heading)}</th>' for heading in headings)
    body = "".join(_line(row) for row in rows)
    title = f"<caption>{escape(caption)}</caption>" if caption else ""
    return f'<div class="scroll"><table>{title}<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>'


def _line(row: Sequence[str]) -> str:
    name, *cells = row
    mark = {str(Verdict.BETTER): ' class="best"', str(Verdict.WORSE): ' class="shown"'}.get(row[-1], "")
    filled = "".join(f"<td>{escape(cell)}</td>" for cell in cells[:-1])
    return f'<tr><th scope="row">{escape(name)}</th>{filled}<td{mark}>{escape(cells[-1])}</td></tr>'
