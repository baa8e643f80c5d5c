"""What advice is asked to do, fixed before anything was run, and whether it did: one row a target."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from hpcsim.experiments.advice_study.figures import (
    Figure,
    beyond,
    killed_beyond,
    killed_beyond_other,
    load_share,
    of_others,
    ratio,
    share_of_gain,
)
from hpcsim.experiments.advice_study.plan import LAW_MARGINS, SCENARIO_OF_WIDTHS, USERS, Scenario, front, oracle

if TYPE_CHECKING:
    import pandas as pd

OURS, GREEN, LAW = front("semi-parametric"), front("semi-parametric", rule="qa(8, 1)"), front("scaling-law")
BEST, GREENEST = oracle(), oracle(rule="qa(8, 1)")
TURNAROUND, TOTAL, BUSY = "turnaround_s", "total_energy_j", "busy_energy_j"
MEAN, LOW, HIGH = range(3)
PARTS = ("mean", "lower end", "upper end")
WIDTH_BOUNDS = {"pm100-like": (0.85, 1.03), "half-rigid": (0.80, None), "skilled-users": (0.80, 1.02)}
"""Kinds of users: the most of turnaround and of total energy."""


@dataclass(frozen=True, slots=True)
class Target:
    """One demand.

    Attributes:
        what: it asks, in words.
        scenario, arm: whom it asks it of.
        figure: from the pairs of each seed to one number a seed.
        bound: what the part must not exceed, or not fall short of.
        part: which part of the interval is held to it: `MEAN`, `LOW` or `HIGH`.
        at_least: whether the bound is a floor.
        other: the arm it is compared with.
    """

    what: str
    scenario: str
    arm: str
    figure: Figure
    bound: float
    part: int = MEAN
    at_least: bool = False
    other: str = USERS


def graded(system: pd.DataFrame) -> pd.DataFrame:
    """Return one row a target whose runs are in *system*, the table of all runs on a common horizon.

    Columns: ``target scenario arm against seeds part bound value low high met``; ``met`` is None
    where too few seeds leave the part of the interval unknown.
    """
    import pandas as pd

    return pd.DataFrame([row for target in targets() for row in _grade(target, system)])


def _grade(target: Target, system: pd.DataFrame) -> Iterator[dict[str, Any]]:
    pairs = _pairs(system[system["scenario"] == target.scenario], target.arm, target.other)
    if not len(pairs):
        return
    found = target.figure(pairs)
    held = found[target.part]
    is_met = held >= target.bound if target.at_least else held <= target.bound
    about = {"target": target.what, "scenario": target.scenario, "arm": target.arm, "against": target.other}
    value = dict(zip(("value", "low", "high"), found, strict=True))
    asked = {"part": PARTS[target.part], "bound": f"{'>=' if target.at_least else '<='} {target.bound:g}"}
    yield about | {"seeds": len(pairs)} | asked | value | {"met": None if math.isnan(held) else bool(is_met)}


def _pairs(rows: pd.DataFrame, arm: str, other: str) -> pd.DataFrame:
    """Return one row a seed: the figures of *arm*, those of *other* with ``_other``, the users' own with ``_own``.

    Total energies are shares of the users' own over the same time.
    """
    rows = rows.assign(**{TOTAL: rows[TOTAL] / rows[f"own_{TOTAL}"]})
    by_arm = {name: rows[rows["arm"] == name].set_index("seed") for name in (arm, other, USERS)}
    pairs = by_arm[arm].join(by_arm[other].add_suffix("_other"), how="inner")
    return pairs.join(by_arm[USERS].add_suffix("_own"), how="inner")


def targets() -> list[Target]:
    """Return all demands."""
    return [*_of_turnaround_and_energy(), *_against_others(), *_of_harm()]


def _of_turnaround_and_energy() -> list[Target]:
    base, ours, green = Scenario().label, OURS.name, GREEN.name
    turnaround, total, busy = (ratio(name) for name in (TURNAROUND, TOTAL, BUSY))
    found = [
        Target("turnaround", base, ours, turnaround, 0.65),
        Target("turnaround", base, ours, turnaround, 0.80, HIGH),
        Target("total energy", base, ours, total, 1.0),
        Target("turnaround", base, green, turnaround, 0.80),
        Target("total energy", base, green, total, 0.975),
        Target("busy energy", base, green, busy, 0.93),
    ]
    for users, (most, most_energy) in WIDTH_BOUNDS.items():
        scenario = SCENARIO_OF_WIDTHS[users].label
        found.append(Target("turnaround", scenario, ours, turnaround, most))
        found += [Target("total energy", scenario, ours, total, most_energy)] if most_energy else []
    return found


def _against_others() -> list[Target]:
    base, ours, green = Scenario().label, OURS.name, GREEN.name
    gain, saving = share_of_gain(TURNAROUND), share_of_gain(TOTAL)
    return [
        Target("Oracle's gain of turnaround, share", base, ours, gain, 0.65, at_least=True, other=BEST.name),
        Target("total energy less the Oracle's", base, ours, beyond(TOTAL), 0.01, other=BEST.name),
        Target("Oracle's saving of energy, share", base, green, saving, 0.5, at_least=True, other=GREENEST.name),
        *_against_one_law(LAW.name),
        *(demand for margin in LAW_MARGINS for demand in _against_one_law(front("scaling-law", margin=margin).name)),
    ]


def _against_one_law(law: str) -> Iterator[Target]:
    """Yield what is asked beside one fitted law; its margin says how many jobs its advice kills."""
    base, ours = Scenario().label, OURS.name
    yield Target("turnaround over one law's", base, ours, ratio(TURNAROUND, "_other"), 1.10, HIGH, other=law)
    yield Target("total energy over one law's", base, ours, ratio(TOTAL, "_other"), 1.0, other=law)
    yield Target("killed share less one law's", base, ours, killed_beyond_other, 0.002, other=law)


def _of_harm() -> list[Target]:
    base = Scenario().label
    cells = [(base, OURS.name), (base, GREEN.name)]
    cells += [(scenario.label, OURS.name) for scenario in SCENARIO_OF_WIDTHS.values()]
    found = []
    for scenario, arm in cells:
        found.append(Target("killed share less the users' own", scenario, arm, killed_beyond, 0.002))
        found.append(Target("realised over offered load", scenario, arm, load_share, 1.0))
    for share in (0.25, 0.5, 0.75):
        arm = front("semi-parametric", adoption=share).name
        found.append(Target("turnaround of the others", base, arm, of_others, 1.0, HIGH))
    return found
