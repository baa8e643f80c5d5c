"""From the costs of each network and rule to what they say: ratios to SAF and to the base, with intervals.

Every variant is paired with the base seed by seed and sequence by sequence: equal seeds draw equal jobs
to learn from, and all are tested on the same ones. The mean log ratio of a seed on a workload is one
value; `crossed_interval` says how far other seeds and other workloads would move their mean.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from hpcsim.experiments.ablation.variants import BASE, Variant
from hpcsim.experiments.evaluation.sequences import Sequence as Jobs
from hpcsim.results.statistics import crossed_interval, holm

if TYPE_CHECKING:
    import pandas as pd

COST, REFERENCE = "mean_bounded_slowdown", "saf"
LEVEL = 0.95
NONE_SHOWN, ONE_SEED = "no difference shown", "one seed only"

Values = NDArray[np.float64]
Found = Mapping[str, Any]


@dataclass(frozen=True, slots=True, eq=False)
class Tables:
    """What an ablation found.

    Attributes:
        variants: one row a variant, then one a rule; see `variant_rows` for its columns.
        seeds: one row a network: its ratios, decisions, updates, validation, weights, CPU seconds.
        curves: one row a validation: variant, seed, decisions so far, cost over SAF's.
        sequences: one row a network or rule, and sequence: cost and waits.
        workloads: that the sequences are cut from.
    """

    variants: pd.DataFrame
    seeds: pd.DataFrame
    curves: pd.DataFrame
    sequences: pd.DataFrame
    workloads: int

    def named(self) -> dict[str, pd.DataFrame]:
        """Return the tables by the names of their files."""
        return {name: getattr(self, name) for name in ("variants", "seeds", "curves", "sequences")}

    @property
    def networks(self) -> pd.DataFrame:
        """The rows of variants."""
        return self.variants[self.variants["kind"] == "network"]

    @property
    def rules(self) -> pd.DataFrame:
        """The rows of what stands beside them."""
        return self.variants[self.variants["kind"] == "rule"]


def tables_of(found: Sequence[Found], jobs: Sequence[Jobs], variants: Sequence[Variant]) -> Tables:
    """Return the tables of the results *found* on the sequences *jobs*."""
    import pandas as pd

    rules = {str(one["label"]): one for one in found if "decisions" not in one}
    networks = {
        variant.name: {one["seed"]: one for one in found if one["label"] == variant.name and "decisions" in one}
        for variant in variants
    }
    rows = variant_rows(networks, rules, jobs, variants)
    every = [one for of in networks.values() for one in of.values()]
    return Tables(
        variants=pd.DataFrame(rows),
        seeds=pd.DataFrame([_seed_row(one, networks[BASE], rules[REFERENCE]) for one in every]),
        curves=pd.DataFrame(
            [{"variant": one["label"], "seed": one["seed"], **point} for one in every for point in one["curve"]]
        ),
        sequences=pd.DataFrame([row for one in [*every, *rules.values()] for row in _sequence_rows(one, jobs)]),
        workloads=len({one.source for one in jobs}),
    )


def variant_rows(
    networks: Mapping[str, Mapping[int, Found]],
    rules: Mapping[str, Found],
    jobs: Sequence[Jobs],
    variants: Sequence[Variant],
) -> list[dict[str, Any]]:
    """Return one row a variant, then one a rule.

    Columns: ``kind part name about seeds decisions updates weights train_cpu_s validation``; ``to_saf
    to_base`` with ``_low _high``, geometric means of the ratio of mean bounded slowdowns and the ends of
    their 95 % intervals; ``p p_holm`` of "as good as the base", alone and corrected for all variants, NaN of one seed;
    ``won``, the share of sequences, over seeds, that cost less than under the base; ``verdict``.
    """
    saf, base = rules[REFERENCE], networks[BASE]
    rows = [_variant_row(variant, networks[variant.name], base, saf, jobs) for variant in variants]
    for row, p in zip(rows, holm([row["p"] for row in rows]).tolist(), strict=True):
        row["p_holm"] = p
        row["verdict"] = "" if row["name"] == BASE else _verdict(row["to_base"], p)
    for label, rule in rules.items():
        about = {"kind": "rule", "part": "", "name": label, "about": "", "seeds": 0}
        rows.append(about | _ratio("to_saf", crossed_interval(_by_workload([rule], [saf], jobs))))
    return rows


def _variant_row(
    variant: Variant, mine: Mapping[int, Found], base: Mapping[int, Found], saf: Found, jobs: Sequence[Jobs]
) -> dict[str, Any]:
    row: dict[str, Any] = {"kind": "network", "part": variant.part, "name": variant.name, "about": variant.about}
    row["seeds"] = len(mine)
    for name in ("decisions", "updates", "weights", "train_cpu_s"):
        row[name] = float(np.mean([one[name] for one in mine.values()]))
    row["validation"] = float(np.mean([one["validation"]["ratio_to_saf"] for one in mine.values()]))
    to_saf = crossed_interval(_by_workload(list(mine.values()), [saf] * len(mine), jobs))
    row |= _ratio("to_saf", to_saf)
    if variant.name == BASE:
        return row | {"to_base": 1.0, "to_base_low": math.nan, "to_base_high": math.nan, "p": math.nan}
    shared = [seed for seed in mine if seed in base]
    ours, theirs = [mine[seed] for seed in shared], [base[seed] for seed in shared]
    to_base = crossed_interval(_by_workload(ours, theirs, jobs))
    gaps = np.sign(np.array([one[COST] for one in theirs]) - np.array([one[COST] for one in ours]))
    p = to_base.p_value if len(shared) > 1 else math.nan  # workloads alone say nothing about other trainings
    return row | _ratio("to_base", to_base) | {"p": p, "won": float(np.mean(0.5 * (1 + gaps)))}


def _by_workload(ours: Sequence[Found], theirs: Sequence[Found], jobs: Sequence[Jobs]) -> Values:
    """Return the mean log ratio of costs of each pair on each workload, shape [pairs, workloads]."""
    logs = np.log([one[COST] for one in ours]) - np.log([one[COST] for one in theirs])
    source = np.array([one.source for one in jobs])
    return np.column_stack([logs[:, source == each].mean(axis=1) for each in dict.fromkeys(source.tolist())])


def _ratio(name: str, interval: Any) -> dict[str, float]:
    """Return an interval of a mean log ratio as that of the geometric mean."""
    return {
        name: math.exp(interval.mean),
        f"{name}_low": math.exp(interval.low),
        f"{name}_high": math.exp(interval.high),
    }


def _verdict(ratio: float, p: float) -> str:
    if math.isnan(p):
        return ONE_SEED
    if p >= 1 - LEVEL:
        return NONE_SHOWN
    return "better" if ratio < 1 else "worse"


def _seed_row(one: Found, base: Mapping[int, Found], saf: Found) -> dict[str, Any]:
    row = {"variant": one["label"], "seed": one["seed"], "to_saf": _geometric(one, saf)}
    row["to_base"] = _geometric(one, base[one["seed"]]) if one["seed"] in base else math.nan
    row |= {name: one[name] for name in ("decisions", "updates", "weights", "train_cpu_s", "ratio_error")}
    row["validation"] = one["validation"]["ratio_to_saf"]
    return row | {"mean_bounded_slowdown": float(np.mean(one[COST])), "max_wait_s": max(one["max_wait_s"])}


def _geometric(one: Found, other: Found) -> float:
    """Return the geometric mean ratio over sequences; workloads have equally many."""
    return float(np.exp(np.mean(np.log(one[COST]) - np.log(other[COST]))))


def _sequence_rows(one: Found, jobs: Sequence[Jobs]) -> list[dict[str, Any]]:
    names = (COST, "mean_wait_s", "max_wait_s")
    about = {"name": one["label"], "seed": one["seed"] if "decisions" in one else ""}
    return [
        about | {"sequence": sequence.label, "workload": sequence.source} | {name: one[name][at] for name in names}
        for at, sequence in enumerate(jobs)
    ]
