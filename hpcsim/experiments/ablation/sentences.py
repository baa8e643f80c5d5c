"""What an ablation shows, in words: no more than its intervals allow."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from hpcsim.experiments.ablation.tables import NONE_SHOWN, ONE_SEED, Tables
from hpcsim.experiments.ablation.variants import BASE, BASELINE_PPO
from hpcsim.results.quantities import count

if TYPE_CHECKING:
    import pandas as pd


def sentences(tables: Tables) -> list[str]:
    """Return what *tables* show: which changes matter, PPO-GTrXL against baseline PPO and SAF, what seeds do."""
    rows = {str(row["name"]): row for row in tables.networks.to_dict("records")}
    found = [_what_matters(tables.networks)]
    if BASELINE_PPO in rows:
        found.append(_against_baseline_ppo(rows[BASELINE_PPO], tables))
    found.append(_against_saf(rows[BASE]))
    if rows[BASE]["seeds"] > 1:
        found.append(_spread(tables))
    return found


def _what_matters(networks: pd.DataFrame) -> str:
    others = networks[networks["name"] != BASE]
    shown = {word: list(others.loc[others["verdict"] == word, "name"]) for word in ("better", "worse")}
    parts = [f"{', '.join(names)} {word}" for word, names in shown.items() if names]
    budget = f"{count(int(networks['decisions'].iloc[0]), 'decision')} a network"
    if not parts:
        none = f"none of {len(others)} changes is" if len(others) != 1 else f"{others['name'].iloc[0]} is not"
        return f"At {budget}, {none} shown to make PPO-GTrXL better or worse.{_single(others)}"
    rest = len(others) - sum(map(len, shown.values()))
    others_too = f"; of the other {rest} no difference is shown" if rest else ""
    return f"At {budget}, compared with the base: {'; '.join(parts)}{others_too}.{_single(others)}"


def _single(others: pd.DataFrame) -> str:
    """Return what is to be said of variants that were trained once."""
    singles = int((others["verdict"] == ONE_SEED).sum())
    return f" {count(singles, 'variant')} had one training seed, which can show nothing of the kind." if singles else ""


def _against_baseline_ppo(row: dict[Any, Any], tables: Tables) -> str:
    ratio, low, high = (1 / row[name] for name in ("to_base", "to_base_high", "to_base_low"))
    where = f"over {count(int(row['seeds']), 'training seed')} and {count(tables.workloads, 'workload')}"
    if math.isnan(low):
        return f"PPO-GTrXL costs {ratio:.3f} of what baseline PPO does, {where}: too few for an interval."
    better_or_worse = "PPO-GTrXL is better" if high < 1 else "PPO-GTrXL is worse"
    shown = NONE_SHOWN if low <= 1 <= high else better_or_worse
    return (
        f"PPO-GTrXL against baseline PPO at equal decisions and equal tuning: {ratio:.3f} of its bounded slowdown "
        f"(95 % interval {low:.3f} to {high:.3f}), {where}: {shown}."
    )


def _against_saf(row: dict[Any, Any]) -> str:
    ratio, low, high = row["to_saf"], row["to_saf_low"], row["to_saf_high"]
    told = "" if math.isnan(low) else f" (95 % interval {low:.3f} to {high:.3f})"
    return f"PPO-GTrXL costs {ratio:.3f} of what SAF does{told}."


def _spread(tables: Tables) -> str:
    own = tables.seeds.loc[tables.seeds["variant"] == BASE, "to_saf"]
    others = tables.networks["to_saf"]
    return (
        f"Seeds of the base alone lie between {own.min():.3f} and {own.max():.3f} of SAF, variants between "
        f"{others.min():.3f} and {others.max():.3f}."
    )
