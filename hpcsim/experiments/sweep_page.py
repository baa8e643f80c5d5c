"""A sweep as one HTML page: what differs from the baseline first, drawn with its intervals, and how to repeat it.

Self-contained and without scripts, as the small page of single runs is: light and dark, from 375
pixels up, for paper. Everything that comes from outside is escaped.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping
from html import escape
from typing import TYPE_CHECKING, Any

from hpcsim.experiments import sweep_folder
from hpcsim.experiments.contrasts import LEVEL
from hpcsim.experiments.interval_chart import MARKS, Bar, interval_chart
from hpcsim.experiments.sweep import Sweep
from hpcsim.results.html_page import html_page
from hpcsim.results.quantities import MISSING, SHARES, count, figure, number

if TYPE_CHECKING:
    import pandas as pd

MOST_CELLS = 500
"""Cells that the page lists, and comparisons of a metric; all cells are in the table in the sweep's folder."""

MOST_BARS = 60
"""Comparisons that a chart draws, those whose difference is shown first."""

SHOWN = ("better", "worse", "higher", "lower")
"""Verdicts that say that there is a difference."""

_STYLE = """
td.text,th.text{text-align:left}details{margin:1rem 0}pre{overflow-x:auto;font-size:.85rem;background:var(--card);
border:1px solid var(--rule);border-radius:.5rem;padding:.75rem}.fault{color:var(--c1)}
"""


def render_sweep(sweep: Sweep, *, title: str | None = None) -> str:
    """Return the page on *sweep*, finished or not, as HTML text; *title* is its heading, by default its name.

    Raises:
        ExperimentError: no run of the baseline has finished.
    """
    table, heading = sweep.table(), title or sweep.name
    comparisons = sweep.comparisons()
    body = [
        *(_sentence("verdict" if at == 0 else "", words) for at, words in enumerate(_verdicts(sweep, comparisons))),
        *(_sentence("note", words) for words in _limits(table, comparisons)),
        *(_metric(sweep, comparisons, metric) for metric in comparisons["metric"].unique()),
        _failures(table),
        _cells(sweep, table),
        _origin(sweep),
    ]
    return html_page(heading, body, MARKS, _STYLE)


def _sentence(kind: str, words: str) -> str:
    return f'<p class="{kind}">{escape(words)}</p>' if kind else f"<p>{escape(words)}</p>"


def _verdicts(sweep: Sweep, comparisons: pd.DataFrame) -> Iterator[str]:
    """Yield a sentence for each metric: who is better, who is worse, for whom no difference is shown."""
    against = ", ".join(str(value) for value in sweep.baseline.values())
    if not len(comparisons):
        yield f"Only {against} has finished: there is nothing to compare it with."
    for metric in comparisons["metric"].unique():
        rows = comparisons[comparisons["metric"] == metric]
        told = []
        for verdict in dict.fromkeys(rows["verdict"]):
            some = rows[rows["verdict"] == verdict]
            names = list(dict.fromkeys(_arm(sweep, row) for row in some.to_dict("records")))
            more = f" and {len(names) - 3} more" if len(names) > 3 else ""
            told.append(f"{verdict} for {', '.join(names[:3])}{more} ({len(some)} of {len(rows)})")
        yield f"{metric} against {against}: {'; '.join(told)}."


def _limits(table: pd.DataFrame, comparisons: pd.DataFrame) -> Iterator[str]:
    """Yield what limits the verdict."""
    unfinished = int((table["status"] != "finished").sum())
    if unfinished:
        yield f"{number(unfinished)} of {count(len(table), 'cell')} have no result; comparisons are without them."
    if len(comparisons) and comparisons["pairs"].max() < 2:
        yield "One pair of runs says nothing about chance: give seeds or windows."
    elif len(comparisons):
        yield (
            f"Paired runs on the same jobs, Student tests at the {100 * (1 - LEVEL):.0f} % level, corrected for all "
            f"{int(comparisons['p'].notna().sum())} comparisons by Holm's method. "
            'That no difference is shown does not mean "equal".'
        )


def _metric(sweep: Sweep, comparisons: pd.DataFrame, metric: str) -> str:
    """Return chart and table of one metric."""
    rows = comparisons[comparisons["metric"] == metric].to_dict("records")
    unit = "percentage points" if metric in SHARES else "% of the baseline"
    drawn = sorted(rows, key=lambda row: row["verdict"] not in SHOWN)[:MOST_BARS] if len(rows) > MOST_BARS else rows
    bars = [_bar(sweep, row, metric) for row in drawn]
    chart = interval_chart([bar for bar in bars if bar is not None], f"Change of {metric}, {unit}")
    head = "".join(
        f'<th scope="col"{kind}>{escape(name)}</th>'
        for kind, name in (
            (' class="text"', "Run"),
            *(("", name) for name in ("pairs", "baseline", "mean", "difference", "95 % interval", "p, corrected")),
            (' class="text"', "verdict"),
        )
    )
    body = "".join(f"<tr>{''.join(_columns(sweep, row, metric))}</tr>" for row in rows[:MOST_CELLS])
    table = f'<div class="scroll"><table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>'
    left_out = [f"The chart draws {MOST_BARS} of {number(len(rows))}."] if len(rows) > MOST_BARS else []
    left_out += [f"The table has {MOST_CELLS} of them."] if len(rows) > MOST_CELLS else []
    note = f'<p class="note">{" ".join(left_out)}</p>' if left_out else ""
    return f"<h2>{escape(metric)}</h2>{chart}{table}{note}"


def _bar(sweep: Sweep, row: Mapping[Any, Any], metric: str) -> Bar | None:
    """Return a comparison as a bar in percent; None where there is nothing to draw."""
    scale = 100.0 if metric in SHARES else (100 / row["baseline"] if row["baseline"] else math.nan)
    middle, low, high = (row[key] * scale for key in ("difference", "low", "high"))
    return None if math.isnan(middle) else Bar(_where(sweep, row), middle, low, high, str(row["verdict"]))


def _columns(sweep: Sweep, row: Mapping[Any, Any], metric: str) -> Iterator[str]:
    ends = [figure(metric, row[key]) for key in ("low", "high")]
    yield f'<th scope="row" class="text">{escape(_where(sweep, row))}</th><td>{int(row["pairs"])}</td>'
    yield from (f"<td>{escape(figure(metric, row[key]))}</td>" for key in ("baseline", "mean", "difference"))
    yield f"<td>{escape(MISSING if MISSING in ends else ' to '.join(ends))}</td><td>{number(row['p_holm'])}</td>"
    is_shown = ' class="text shown"' if row["verdict"] in SHOWN else ' class="text"'
    yield f"<td{is_shown}>{escape(str(row['verdict']))}</td>"


def _arm(sweep: Sweep, row: Mapping[Any, Any]) -> str:
    return ", ".join(str(row[column]) for column in sweep.baseline)


def _where(sweep: Sweep, row: Mapping[Any, Any]) -> str:
    """Return arm and scenario of a comparison, without the columns that every run has alike."""
    every = [labels for _, labels in sweep.cells]
    varies = [column for column in sweep.columns() if len({str(labels.get(column)) for labels in every}) > 1]
    rest = [column for column in varies if column in row and column not in sweep.baseline and "." not in column]
    words = [f"{'' if column == 'workload' else f'{column} '}{row[column]}" for column in rest]
    return " · ".join([_arm(sweep, row), *words])


def _failures(table: pd.DataFrame) -> str:
    """Return what went wrong, each message once."""
    failed = table[table["status"].isin(["failed", "damaged"])]
    if not len(failed):
        return ""
    counts = Counter(zip(failed["policy"].astype(str), failed["error"].astype(str), strict=True))
    items = "".join(
        f'<li><b>{escape(policy)}</b>, {count(cells, "cell")}: <span class="fault">{escape(error)}</span></li>'
        for (policy, error), cells in counts.items()
    )
    return f"<h2>What failed</h2><ul>{items}</ul>"


def _cells(sweep: Sweep, table: pd.DataFrame) -> str:
    """Return the table of cells, the first of many."""
    labels = [column for column in sweep.columns() if "." not in column]
    head = "".join(f'<th scope="col" class="text">{escape(name)}</th>' for name in ("cell", *labels, "status"))
    head += "".join(f'<th scope="col">{escape(metric)}</th>' for metric in sweep.metrics)
    body = []
    for row in table.head(MOST_CELLS).to_dict("records"):
        texts = ["" if row[column] is None else str(row[column]) for column in ("cell", *labels, "status")]
        cells = "".join(f'<td class="text">{escape(text)}</td>' for text in texts)
        cells += "".join(f"<td>{escape(figure(metric, row[metric]))}</td>" for metric in sweep.metrics)
        body.append(f"<tr>{cells}</tr>")
    more = len(table) - MOST_CELLS
    note = f'<p class="note">{number(more)} more are in table.csv.</p>' if more > 0 else ""
    return (
        f"<h2>Every run</h2><details><summary>{count(len(table), 'cell')}</summary>"
        f'<div class="scroll"><table><thead><tr>{head}</tr></thead><tbody>{"".join(body)}</tbody></table></div>{note}'
        "<p>A cell is a saved run, for <code>hpcsim report</code> and <code>hpcsim explain</code>: "
        "<code>cells/CELL</code> in the sweep's folder.</p></details>"
    )


def _origin(sweep: Sweep) -> str:
    """Return how to run the same again."""
    from hpcsim import __version__

    path = sweep.folder / sweep_folder.EXPERIMENT
    text = path.read_text(encoding="utf-8") if path.is_file() else ""
    return (
        f"<h2>How to get the same again</h2><p>hpcsim {escape(__version__)} read the sweep; every run names the "
        f"versions that it was made with. The experiment, as it was run:</p><pre>{escape(text)}</pre>"
    )
