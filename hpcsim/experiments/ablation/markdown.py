"""An ablation as Markdown: what it shows, every variant, what stands beside them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from hpcsim.experiments.ablation.plan import SUITE, Preset
from hpcsim.experiments.ablation.rows import HEADINGS, LEGEND, RULE_HEADINGS, TEXT, network_rows, rule_rows
from hpcsim.experiments.ablation.sentences import sentences
from hpcsim.experiments.ablation.tables import Tables


def markdown(tables: Tables, size: Preset) -> str:
    """Return the text of an ablation of *size*."""
    about = [f"- {row['name']}: {row['about']}" for row in tables.networks.to_dict("records")]
    parts = [
        "# Ablation of PPO-GTrXL",
        *(f"**{said}**" if at == 0 else said for at, said in enumerate(sentences(tables))),
        _table(HEADINGS, network_rows(tables), TEXT),
        LEGEND,
        _table(RULE_HEADINGS, rule_rows(tables), (0,)),
        f"Tested on {size.sequences} sequences of `{SUITE}` that no training drew from, each from an empty machine.",
        "\n".join(["Variants:", "", *about]),
        "![Validation cost over decisions](learning-curves.png)",
    ]
    return "\n\n".join(parts) + "\n"


def _table(headings: Sequence[str], rows: Iterable[Sequence[str]], text: Sequence[int]) -> str:
    rule = ["---" if at in text else "---:" for at in range(len(headings))]
    lines = [headings, rule, *rows]
    return "\n".join(f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in line)} |" for line in lines)
