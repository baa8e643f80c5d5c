"""The interactive report as one HTML file: the verdict first, charts that zoom, and why each job waited.

Nothing is fetched: Plotly, the script, the style and the data are inside, and the page's own
security policy forbids any connection. What comes from outside is escaped; data travel as JSON
that cannot end its element.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from html import escape
from importlib.resources import files
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from hpcsim.errors import MissingExtra, ResultError
from hpcsim.results.page.answers import answers
from hpcsim.results.page.gantt import gantt
from hpcsim.results.page.heat import heat
from hpcsim.results.page.series import distributions, over_time, time_axis
from hpcsim.results.page.winners import winners_section
from hpcsim.results.palette import colours
from hpcsim.results.quantities import count, number
from hpcsim.results.recorded_waits import can_explain
from hpcsim.results.report import fragments
from hpcsim.results.report_style import COLOURS, STYLE
from hpcsim.results.result import Result
from hpcsim.results.storage import plain
from hpcsim.results.verdict import verdict

POLICY = (
    "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data: blob:; font-src data:"
)
"""Content security policy of the page: what is inside may run, and nothing may be fetched."""

SECTIONS = (
    ("figures", "Figures"),
    ("over-time", "Over time"),
    ("who-ran-where", "Who ran where"),
    ("waits", "Who waits"),
    ("winners", "Winners and losers"),
    ("why", "Why did a job wait?"),
    ("power", "Power and energy"),
    ("origin", "Where it comes from"),
)
"""Parts of the page, by anchor and heading."""


def is_available() -> bool:
    """Tell whether Plotly, which the page is drawn with, is installed."""
    return find_spec("plotly") is not None


def write_page(
    results: Mapping[str, Result], path: str | Path, *, title: str, headlines: Sequence[str] = (), differences: str = ""
) -> None:
    """Write the interactive report on *results*, named as given, to an HTML file at *path*.

    *headlines* are sentences that follow the verdict, *differences* a section of HTML with tables of
    differences and their intervals.

    Raises:
        MissingExtra: Plotly is not installed.
        ResultError: there is no result, or the file cannot be written.
    """
    page = render_page(results, title=title, headlines=headlines, differences=differences)
    try:
        Path(path).write_text(page, encoding="utf-8")
    except OSError as error:
        raise ResultError(f"Cannot write the report {path}: {error}.", "Check the path.") from error


def render_page(
    results: Mapping[str, Result], *, title: str, headlines: Sequence[str] = (), differences: str = ""
) -> str:
    """Return the interactive report as HTML text; see `write_page`."""
    if not results:
        raise ResultError("There is no result to report on.", "Give at least one.")
    if not is_available():
        raise MissingExtra("The interactive report needs Plotly.", "pip install 'hpcsim-des[report]'")
    first, *others = verdict(results)
    return "\n".join(
        [
            '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">',
            f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">',
            '<meta name="viewport" content="width=device-width, initial-scale=1">',
            '<meta name="color-scheme" content="light dark">',
            '<link rel="icon" href="data:,">',
            f"<title>{escape(title)}</title>\n<style>{STYLE}{_own('page.css')}{_series(results)}</style>\n</head>\n<body>",
            '<a class="skip" href="#figures">Skip to the figures</a>\n<main>',
            f'<h1>{escape(title)}</h1>\n<p class="verdict">{escape(first)}</p>',
            *(f"<p>{escape(sentence)}</p>" for sentence in headlines),
            *(f'<p class="note">{escape(sentence)}</p>' for sentence in others),
            _contents(),
            *_body(results, differences),
            "</main>",
            f'<script type="application/json" id="data">{_json(_data(results))}</script>',
            f"<script>{(files('plotly') / 'package_data' / 'plotly.min.js').read_text(encoding='utf-8')}</script>",
            f"<script>{_own('page.js')}</script>\n</body>\n</html>\n",
        ]
    )


def _own(name: str) -> str:
    return (files("hpcsim.results.page") / name).read_text(encoding="utf-8")


def _contents() -> str:
    links = "".join(f'<a href="#{anchor}">{heading}</a>' for anchor, heading in SECTIONS)
    return f'<nav aria-label="Contents">{links}</nav>'


def _body(results: Mapping[str, Result], differences: str) -> list[str]:
    """Return the sections in the order of `SECTIONS`."""
    shared = fragments(results)
    options = "".join(f"<option>{escape(name)}</option>" for name in results)
    legend = "".join(f'<span><i class="swatch s{i}"></i>{escape(name)}</span>' for i, name in enumerate(results))
    key = f'<div class="legend">{legend}</div>'
    content = {
        "figures": shared["table"] + differences,
        "over-time": key + _chart("utilisation", "Nodes in use") + _chart("queue", "Jobs waiting"),
        "who-ran-where": _gantt_panel(options),
        "waits": key
        + '<div class="pair">'
        + _chart("wait", "Jobs that waited at most so long")
        + _chart("slowdown", "Jobs with at most this bounded slowdown")
        + "</div>"
        + "".join(
            _chart(f"heat-{index}", f"Mean wait by width and limit under {name}") for index, name in enumerate(results)
        ),
        "winners": winners_section(results),
        "why": _why_panel(options) if all(map(can_explain, results.values())) else _NO_WHY,
        "power": _power(results),
        "origin": shared["ingest"] + shared["provenance"],
    }
    return [
        f'<section id="{anchor}" tabindex="-1"><h2>{heading}</h2>{content[anchor]}</section>'
        for anchor, heading in SECTIONS
    ]


def _chart(name: str, caption: str) -> str:
    return (
        f'<figure><figcaption>{escape(caption)}</figcaption><div class="chart" id="{name}" role="img" '
        f'aria-label="{escape(caption)}"></div></figure>'
    )


def _gantt_panel(options: str) -> str:
    buttons = "".join(
        f'<button type="button" data-zoom="{what}" aria-label="{label}" title="{label}">{sign}</button>'
        for what, sign, label in (
            ("in", "+", "Zoom in"),
            ("out", "&minus;", "Zoom out"),
            ("left", "&larr;", "Earlier"),
            ("right", "&rarr;", "Later"),
            ("all", "All", "Whole time"),
        )
    )
    return (
        f'<div class="tools"><label>Run <select id="gantt-run">{options}</select></label>'
        f'<span role="group" aria-label="Zoom">{buttons}</span></div>'
        + _chart("gantt", "Nodes over time")
        + '<p class="note" id="gantt-note"></p>'
    )


_NO_WHY = (
    '<p class="note">Waits on nodes that differ, are shared or have power are explained where they were recorded: '
    "hpcsim run --explain.</p>"
)


def _why_panel(options: str) -> str:
    return (
        '<form id="why-form" class="tools">'
        f'<label>Run <select id="why-run">{options}</select></label>'
        '<label>Job <input id="why-job" list="why-known" autocomplete="off" spellcheck="false"></label>'
        '<datalist id="why-known"></datalist><button>Explain</button></form>'
        '<div id="why-answer" aria-live="polite"></div>'
    )


def _power(results: Mapping[str, Result]) -> str:
    if all(result.power is None for result in results.values()):
        return '<p class="note">None of these runs has power: their machines declare none.</p>'
    energies = {name: result.summary().get("energy_j") for name, result in results.items()}
    told = "; ".join(f"{name} {number(j / 3.6e6)} kWh" for name, j in energies.items() if j is not None)
    return (f"<p>{escape(f'Energy: {told}.')}</p>" if told else "") + _chart("power-over-time", "Power in watts")


def _data(results: Mapping[str, Result]) -> dict[str, Any]:
    """Return what the script draws."""
    low_s, high_s, unit, unit_s = time_axis(results)
    return {
        "names": list(results),
        "unit": unit,
        "lines": {
            "utilisation": over_time(results, "used_nodes"),
            "queue": over_time(results, "queue_length"),
            "power-over-time": over_time(results, "power_w"),
        },
        "shares": distributions(results),
        "heat": [heat(result) for result in results.values()],
        "gantt": {name: gantt(result, (low_s, high_s, unit_s), len(results)) for name, result in results.items()},
        "machine": {name: count(result.nodes, result.counted.removesuffix("s")) for name, result in results.items()},
        "nodes": {name: result.nodes for name, result in results.items()},
        "why": answers(results) if all(map(can_explain, results.values())) else None,
    }


def _json(data: Any) -> str:
    """Return *data* as JSON in which no tag can begin."""
    text = json.dumps(plain(data), ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return text.replace("&", "\\u0026").replace("<", "\\u003c").replace(">", "\\u003e")


def _series(results: Mapping[str, Result]) -> str:
    """Return the style rules that give each run the colour of its policy."""
    chosen = list(colours(results).values())
    light = ";".join(f"--p{index}:{pair[0]}" for index, pair in enumerate(chosen))
    dark = ";".join(f"--p{index}:{pair[1]}" for index, pair in enumerate(chosen))
    uses = "".join(f".swatch.s{index}{{--c:var(--p{index})}}" for index in range(len(chosen)))
    paper = ";".join(f"--c{index}:{pair[0]}" for index, pair in enumerate(COLOURS))
    rules = (f":root{{{light}}}", f"@media (prefers-color-scheme:dark){{:root{{{dark}}}}}", uses)
    return "".join([*rules, f"@media print{{:root{{{light}}}}}", f":root[data-paper]{{{paper};{light}}}"])
