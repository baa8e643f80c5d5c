"""An ablation as Markdown: what it shows, every variant, what stands beside them."""

from __future__ import annotations

from hpcsim.experiments.ablation.plan import SUITE, Preset
from hpcsim.experiments.ablation.rows import HEADINGS, LEGEND, RULE_HEADINGS, TEXT, network_rows, rule_rows
from hpcsim.experiments.ablation.sentences import sentences
from hpcsim.experiments.ablation.tables import Tables
from hpcsim.results.markdown_table import markdown_table


def markdown(tables: Tables, size: Preset) -> str:
    """Return the text of an ablation of *size*."""
    about = [f"- {row['name']}: {row['about']}" for row in tables.networks.to_dict("records")]
    parts = [
        "# Ablation of PPO-GTrXL",
        *(f"**{said}**" if at == 0 else said for at, said in enumerate(sentences(tables))),
        markdown_table(HEADINGS, network_rows(tables), TEXT),
        LEGEND,
        markdown_table(RULE_HEADINGS, rule_rows(tables), (0,)),
        f"Tested on {size.sequences} sequences of `{SUITE}` that no training drew from, each from an empty machine.",
        "\n".join(["Variants:", "", *about]),
        "![Validation cost over decisions](learning-curves.png)",
    ]
    return "\n\n".join(parts) + "\n"
