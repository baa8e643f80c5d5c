"""Rows of an ablation as text, for Markdown, the page and the terminal alike."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from hpcsim.experiments.ablation.tables import Tables
from hpcsim.experiments.ablation.variants import BASE

if TYPE_CHECKING:
    import pandas as pd

HEADINGS = (
    *("variant", "to base", "95 %", "p (Holm)", "shown", "to SAF", "95 %", "each seed"),
    *("validation", "decisions", "weights", "CPU s"),
)
TEXT = (0, 4)
"""Columns that are words."""

RULE_HEADINGS = ("beside them", "to SAF", "95 %")

LEGEND = (
    "To base, to SAF: geometric means over test sequences of the mean bounded slowdown over that of the base with the "
    "same seed, or over SAF's; below 1 is better. Intervals hold for other training seeds and other workloads, of one "
    "seed for workloads alone; p is corrected by Holm's method for all variants of the table. Each seed: its ratio to "
    "SAF. Validation: cost over SAF's of the network that was chosen, on sequences of its own. CPU s: of the training."
)


def network_rows(tables: Tables) -> Iterator[tuple[str, ...]]:
    """Yield the cells of each variant under `HEADINGS`."""
    for row in tables.networks.to_dict("records"):
        is_base = row["name"] == BASE
        yield (
            str(row["name"]),
            *(("1", "", "", "") if is_base else _against_base(row)),
            f"{row['to_saf']:.3f}",
            ends(row, "to_saf"),
            _each(tables.seeds, str(row["name"])),
            f"{row['validation']:.3f}",
            f"{row['decisions']:,.0f}",
            f"{row['weights']:,.0f}",
            f"{row['train_cpu_s']:.0f}",
        )


def _against_base(row: dict[Any, Any]) -> tuple[str, ...]:
    p = "" if math.isnan(row["p_holm"]) else f"{row['p_holm']:.2g}"
    return f"{row['to_base']:.3f}", ends(row, "to_base"), p, str(row["verdict"])


def rule_rows(tables: Tables) -> Iterator[tuple[str, ...]]:
    """Yield the cells of each rule under `RULE_HEADINGS`."""
    for row in tables.rules.to_dict("records"):
        yield str(row["name"]), f"{row['to_saf']:.3f}", ends(row, "to_saf")


def ends(row: dict[Any, Any], name: str) -> str:
    """Return the ends of an interval, or nothing where it has no length or no ends."""
    low, high = row[f"{name}_low"], row[f"{name}_high"]
    return "" if math.isnan(low) or low == high else f"{low:.3f} to {high:.3f}"


def _each(seeds: pd.DataFrame, name: str) -> str:
    return " ".join(f"{ratio:.3f}" for ratio in seeds.loc[seeds["variant"] == name, "to_saf"])
