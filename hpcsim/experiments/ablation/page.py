"""An ablation as one HTML page: what it shows, drawn with its intervals, every variant and seed, learning curves.

Self-contained and without scripts. Everything that comes from outside is escaped.
"""

from __future__ import annotations

import base64
from collections.abc import Iterable, Sequence
from html import escape
from pathlib import Path

from hpcsim.experiments.ablation.plan import SUITE, Preset
from hpcsim.experiments.ablation.rows import HEADINGS, LEGEND, RULE_HEADINGS, TEXT, network_rows, rule_rows
from hpcsim.experiments.ablation.sentences import sentences
from hpcsim.experiments.ablation.tables import Tables
from hpcsim.experiments.ablation.variants import BASE
from hpcsim.experiments.interval_chart import MARKS, Bar, interval_chart
from hpcsim.results.html_page import html_page

TITLE = "Ablation of PPO-GTrXL"
_STYLE = "td.text,th.text{text-align:left}.wide{overflow-x:auto}figure>img{max-width:100%;background:#fff}"


def render(tables: Tables, size: Preset, picture: Path) -> str:
    """Return the page of an ablation of *size*, with *picture*, a PNG, inside."""
    first, *others = sentences(tables)
    image = base64.b64encode(picture.read_bytes()).decode("ascii")
    tested = f"Tested on {size.sequences} sequences of {SUITE} that no training drew from."
    body = [
        f'<p class="verdict">{escape(first)}</p>',
        *(f"<p>{escape(said)}</p>" for said in others),
        f'<p class="note">{escape(tested)}</p>',
        interval_chart(_bars(tables), "Bounded slowdown against the base, 0.1 is 10 % more, 95 % intervals"),
        "<h2>Variants</h2>",
        _table(HEADINGS, network_rows(tables), TEXT),
        f'<p class="note">{escape(LEGEND)}</p>',
        "<h2>What they change</h2>",
        _table(("variant", "change"), _changes(tables), (0, 1)),
        "<h2>Rules, and a network that has learned nothing</h2>",
        _table(RULE_HEADINGS, rule_rows(tables), (0,)),
        "<h2>Learning curves</h2>",
        f'<figure><img alt="Validation cost over decisions" src="data:image/png;base64,{image}"></figure>',
    ]
    return html_page(TITLE, body, MARKS, _STYLE)


def _bars(tables: Tables) -> list[Bar]:
    return [
        Bar(str(row["name"]), row["to_base"] - 1, row["to_base_low"] - 1, row["to_base_high"] - 1, str(row["verdict"]))
        for row in tables.networks.to_dict("records")
        if row["name"] != BASE
    ]


def _changes(tables: Tables) -> Iterable[tuple[str, str]]:
    return ((str(row["name"]), str(row["about"])) for row in tables.networks.to_dict("records"))


def _table(headings: Sequence[str], rows: Iterable[Sequence[str]], text: Sequence[int]) -> str:
    def line(cells: Sequence[str], tag: str) -> str:
        kinds = [' class="text"' if at in text else "" for at in range(len(cells))]
        return "".join(f"<{tag}{kind}>{escape(cell)}</{tag}>" for kind, cell in zip(kinds, cells, strict=True))

    body = "".join(f"<tr>{line(row, 'td')}</tr>" for row in rows)
    return f'<div class="wide"><table><thead><tr>{line(headings, "th")}</tr></thead><tbody>{body}</tbody></table></div>'
