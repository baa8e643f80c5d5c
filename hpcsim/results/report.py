"""One page that a person reads: the verdict, the figures, the charts, and where they come from.

Self-contained HTML without scripts; light and dark by the reader's own setting, for screens from
375 pixels up and for paper. Everything that comes from outside is escaped.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Mapping, Sequence
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hpcsim.errors import ResultError
from hpcsim.results import charts
from hpcsim.results.comparison import compare
from hpcsim.results.pairwise import Pairwise
from hpcsim.results.pairwise_report import pairwise_tables
from hpcsim.results.quantities import count, duration, number, percentage
from hpcsim.results.report_style import STYLE
from hpcsim.results.result import Result
from hpcsim.results.storage import plain
from hpcsim.results.verdict import verdict

if TYPE_CHECKING:
    import pandas as pd

ROWS: tuple[tuple[str, str, Callable[[Any], str], Callable[..., float] | None], ...] = (
    ("Mean wait", "mean_wait_s", duration, min),
    ("Median wait", "median_wait_s", duration, min),
    ("95 % wait at most", "p95_wait_s", duration, min),
    ("Longest wait", "max_wait_s", duration, min),
    ("Mean wait, weighted by node-seconds", "area_weighted_wait_s", duration, min),
    ("Mean bounded slowdown", "mean_bounded_slowdown", number, min),
    ("Utilisation", "utilisation", percentage, max),
    ("Utilisation, steady part", "steady_utilisation", percentage, max),
    ("Makespan", "makespan_s", duration, min),
    ("Jobs waiting, on average", "mean_queue_length", number, min),
    ("Jobs backfilled", "backfilled", number, None),
    ("Time lost to overtaking, all jobs", "overtaken_s", duration, None),
    ("Jobs started", "jobs_started", number, None),
    ("Jobs finished", "jobs_finished", number, None),
)
"""Rows of the table: name, key, how to write it, and which value is the best one."""

POINTS_OF_ONE, POINTS_OF_SEVERAL = 600, 150
"""Points of a line alone, and of lines that cross each other: finer ones would hide each other."""


def write_report(
    results: Mapping[str, Result], path: str | Path, *, title: str, pairs: Sequence[Pairwise] = ()
) -> None:
    """Write the report on *results*, named as given, to an HTML file at *path*.

    Raises:
        ResultError: there is no result, or the file cannot be written.
    """
    page = render(results, title=title, pairs=pairs)
    try:
        Path(path).write_text(page, encoding="utf-8")
    except OSError as error:
        raise ResultError(f"Cannot write the report {path}: {error}.", "Check the path.") from error


def render(results: Mapping[str, Result], *, title: str, pairs: Sequence[Pairwise] = ()) -> str:
    """Return the report as HTML text, with a table for each of *pairs*. Raises `ResultError` if *results* is empty."""
    if not results:
        raise ResultError("There is no result to report on.", "Give at least one.")
    return "\n".join(
        [
            '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">',
            '<meta name="viewport" content="width=device-width, initial-scale=1">',
            '<meta name="color-scheme" content="light dark">',
            f"<title>{escape(title)}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n<main>",
            f"<h1>{escape(title)}</h1>",
            *(f'<p class="verdict">{escape(sentence)}</p>' for sentence in verdict(results)[:1]),
            *(f'<p class="note">{escape(sentence)}</p>' for sentence in verdict(results)[1:]),
            *(f"<p>{escape(pair.headline())}</p>" for pair in pairs),
            _table(results),
            pairwise_tables(pairs),
            _charts(results),
            _ingest(results),
            _provenance(results),
            "</main>\n</body>\n</html>\n",
        ]
    )


def _table(results: Mapping[str, Result]) -> str:
    figures = compare(results, allow_unequal=True)
    head = "".join(f'<th scope="col">{_swatch(i)}{escape(name)}</th>' for i, name in enumerate(results))
    lines = []
    for label, key, write, better in ROWS:
        values = figures[key].tolist()
        known = [value for value in values if not math.isnan(value)]
        best = better(known) if better and len(set(known)) > 1 else None
        cells = "".join(f"<td{_mark(value == best)}>{_unbroken(escape(write(value)))}</td>" for value in values)
        lines.append(f'<tr><th scope="row">{escape(label)}</th>{cells}</tr>')
    caption = (
        "<caption>Bold: the best of a row. Means are over the jobs that started.</caption>" if len(results) > 1 else ""
    )
    return (
        f'<div class="scroll"><table>{caption}<thead><tr><th scope="col">Figure</th>{head}</tr></thead>'
        f"<tbody>{''.join(lines)}</tbody></table></div>"
    )


def _charts(results: Mapping[str, Result]) -> str:
    timelines = {name: _with_share(result) for name, result in results.items()}
    points = POINTS_OF_ONE if len(results) == 1 else POINTS_OF_SEVERAL
    waits_s = {name: result.jobs["wait_s"].dropna().to_numpy() for name, result in results.items()}
    used = charts.over_time(
        timelines, "used_share", "Utilisation over time", y_high=1.0, y_text=_percent, points=points
    )
    queue = charts.over_time(timelines, "queue_length", "Waiting jobs over time", points=points)
    waits = charts.distribution(waits_s, "Share of jobs by longest wait")
    figures = (("Nodes in use", used), ("Jobs waiting", queue), ("Jobs that waited at most so long", waits))
    legend = "".join(f"<span>{_swatch(index)}{escape(name)}</span>" for index, name in enumerate(results))
    drawn = "".join(
        f'<figure><figcaption>{caption}</figcaption><div class="legend">{legend}</div>{svg}</figure>'
        for caption, svg in figures
    )
    return f'<section class="charts">{drawn}</section>{_smoothing(timelines, points)}'


def _with_share(result: Result) -> pd.DataFrame:
    """Return the timeline with the share of the result's own machine that is in use."""
    return result.timeline.assign(used_share=result.timeline["used_nodes"] / result.nodes)


def _smoothing(timelines: Mapping[str, Any], points: int) -> str:
    if all(len(timeline) <= points for timeline in timelines.values()):
        return ""
    return f'<p class="note">Lines over time are means over {points - 1} equal parts of the time.</p>'


def _ingest(results: Mapping[str, Result]) -> str:
    """Return what the reader did, for each different workload once."""
    ledgers = {json.dumps(plain(result.ingest), sort_keys=True): result.ingest for result in results.values()}
    return "<h2>What was read</h2>" + "".join(_ledger(ledger) for ledger in ledgers.values() if ledger)


def _ledger(ledger: Mapping[str, Any]) -> str:
    touched = percentage(ledger.get("touched_share"))
    text = (
        f"{ledger.get('source') or 'in memory'}: {count(ledger.get('rows', 0), 'row')}, "
        f"{number(ledger.get('kept', 0))} kept ({number(ledger.get('changed', 0))} of them changed), "
        f"{number(ledger.get('refused', 0))} refused; changed or refused rows hold {touched} of the node-seconds."
    )
    rules = "".join(
        f"<tr><td>{escape(str(rule['remark'] or rule['rule']))}</td><td>{escape(str(rule['effect']))}</td>"
        f"<td>{number(rule['rows'])}</td></tr>"
        for rule in ledger.get("rules", [])
    )
    head = '<thead><tr><th scope="col">Rule</th><th scope="col">Effect</th><th scope="col">Rows</th></tr></thead>'
    table = f'<div class="scroll"><table class="rules">{head}<tbody>{rules}</tbody></table></div>' if rules else ""
    return f"<p>{escape(text)}</p>{table}"


def _provenance(results: Mapping[str, Result]) -> str:
    blocks = []
    for index, (name, result) in enumerate(results.items()):
        pairs = "".join(f"<dt>{escape(k)}</dt><dd>{escape(v)}</dd>" for k, v in _origin(result).items())
        blocks.append(f"<section><h3>{_swatch(index)}{escape(name)}</h3><dl>{pairs}</dl></section>")
    return f'<h2>How to get the same again</h2><div class="origins">{"".join(blocks)}</div>'


def _origin(result: Result) -> dict[str, str]:
    record = result.provenance
    policy, workload = record["policy"], record["workload"]
    parameters = ", ".join(f"{key} = {_short(value)}" for key, value in policy["parameters"].items())
    sight = "; sees true run times" if policy["clairvoyant"] else ""
    options = ", ".join(f"{key} = {_short(value)}" for key, value in record["options"].items() if value)
    machine = count(result.nodes, result.counted.removesuffix("s"))
    origin = {
        "Policy": f"{policy['name']}({parameters}){sight}",
        "Machine": f"{record['cluster'].get('name', 'cluster')}, {machine}",
        "Workload": f"{count(workload['jobs'], 'job')}, limits: {workload['limits'].removeprefix('limits = ')}",
        "SHA-256 of the workload": str(workload["sha256"]),
        "Seed": str(record["seed"]),
        "Options": options or "none",
        "Versions": ", ".join(f"{key} {value}" for key, value in record["versions"].items()),
        "Complete": "yes" if result.is_complete else _why_incomplete(record),
    }
    reasons = result.jobs["state_reason"].value_counts()
    told = [f"{reason} ({number(int(count))})" for reason, count in reasons.items() if reason != "" and count]
    return origin | ({"Rejected or cancelled because": "; ".join(told[:5])} if told else {})


def _why_incomplete(record: Mapping[str, Any]) -> str:
    if record["error"]:
        return f"no: {record['error']['message']}"
    return f"no: cut at {record['clock_s']} s, {count(record['jobs_not_submitted'], 'job')} not submitted"


def _short(value: Any) -> str:
    return str(value["class"]) if isinstance(value, Mapping) and "class" in value else str(value)


def _percent(share: float) -> str:
    return f"{share:.0%}"


def _unbroken(text: str) -> str:
    """Keep a number and its unit on one line."""
    return re.sub(r"(?<=\d) (?=\D)", "&nbsp;", text)


def _mark(is_best: bool) -> str:
    return ' class="best"' if is_best else ""


def _swatch(index: int) -> str:
    return f'<i class="swatch s{index}"></i>'


def fragments(results: Mapping[str, Result]) -> dict[str, str]:
    """Return the parts that larger reports share, as HTML: ``table``, ``ingest`` and ``provenance``."""
    return {"table": _table(results), "ingest": _ingest(results), "provenance": _provenance(results)}
