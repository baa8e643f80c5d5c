"""What the study runs: a base cell, and one factor at a time around it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from hpcsim import registry
from hpcsim.errors import ExperimentError, closest

USERS = "users"
"""The arm in which every request stands; all others are compared with it."""

SAFE_RULES = ("qa(2, 1)", "qa(8, 1)", "qa(1, 1)", "deadline(1.2)", "energy")
UNSAFE_RULES = ("edp", "ed2p", "knee", "fastest", "qa(0, 0)")
FAMILIES = ("amdahl", "downey", "power-law")
LAW_MARGINS = (0.1, 0.2, 0.3, 0.5)
"""Margins of the fitted law, which nothing calibrates: with one of them it kills as few jobs as a learned one does."""

WIDTHS = {"pm100-like": 256, "skilled-users": 128, "half-rigid": 128}
"""Kinds of users beside the habit-driven ones, and the nodes of their machine."""

CAP_SHARES = (0.85, 0.7)
"""Power caps, as shares of what the machine draws with every node busy."""


@dataclass(frozen=True, slots=True)
class Arm:
    """Who advises.

    Attributes:
        name: as tables say it.
        advisor: ``users``, ``oracle``, ``scaling-law-ratio`` (one law, no learning), or the registry
            name of the surrogate behind a front advisor.
        parameters: of the advisor.
    """

    name: str
    advisor: str
    parameters: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Scenario:
    """The jobs, the machine and the policy of a cell."""

    users: str = "habit-driven"
    family: str = "mix"
    load: float = 0.9
    nodes: int = 128
    policy: str = "easy"
    cap_share: float = 1.0

    @property
    def label(self) -> str:
        """In what it differs from the base, or ``base``."""
        own, base = asdict(self), asdict(Scenario())
        parts = [f"{name}={own[name]}" for name in own if own[name] != base[name] and name != "nodes"]
        return ", ".join(parts) or "base"


SCENARIO_OF_WIDTHS = {users: Scenario(users=users, nodes=nodes) for users, nodes in WIDTHS.items()}


@dataclass(frozen=True, slots=True)
class Cell:
    """One simulation: *factor* says what it varies."""

    factor: str
    scenario: Scenario
    arm: Arm
    seed: int
    jobs: int
    history: int

    @property
    def key(self) -> str:
        """A name that follows from everything that the result follows from."""
        what = {name: value for name, value in asdict(self).items() if name != "factor"}
        return hashlib.sha256(json.dumps(what, sort_keys=True).encode()).hexdigest()[:20]


@dataclass(frozen=True, slots=True)
class Preset:
    """A size of the study: seeds, jobs a run, finished jobs to learn from, and which factors it varies."""

    seeds: int
    jobs: int
    history: int
    factors: tuple[str, ...]


PRESETS = {
    "smoke": Preset(2, 300, 800, ("base",)),
    "demo": Preset(3, 1_200, 3_000, ("base", "rules", "adoption", "policy")),
    "full": Preset(
        10,
        7_000,
        20_000,
        ("base", "margin", "rules", "adoption", "policy", "load", "family", "widths", "cap", "exploration"),
    ),
}
FIRST_SEED = 1000
"""Seeds of the study; none of them was used when the defaults of advisors were chosen."""


def preset(name: str) -> Preset:
    """Return a preset by its name.

    Raises:
        ExperimentError: there is none of this name.
    """
    if name not in PRESETS:
        raise ExperimentError(f"There is no preset '{name}'.{closest(name, PRESETS)}", f"Known: {', '.join(PRESETS)}.")
    return PRESETS[name]


def only(size: Preset, factors: Sequence[str], seeds: int | None) -> Preset:
    """Return the part of a preset that varies *factors* alone (none: all), with its first *seeds* (None: all).

    Its cells are cells of the whole, so that one folder can take them part by part.

    Raises:
        ExperimentError: the preset does not vary such a factor, or has not so many seeds.
    """
    for factor in factors:
        if factor not in size.factors:
            raise ExperimentError(
                f"This preset has no cells '{factor}'.{closest(factor, size.factors)}",
                f"Known: {', '.join(size.factors)}.",
            )
    if seeds is not None and not 1 <= seeds <= size.seeds:
        raise ExperimentError(f"This preset has {size.seeds} seeds, not {seeds}.", f"Give 1 to {size.seeds}.")
    return replace(size, factors=tuple(dict.fromkeys(factors)) or size.factors, seeds=seeds or size.seeds)


def cells(size: Preset) -> list[Cell]:
    """Return the cells of a study, seed by seed, those of one scenario together and its users' own first."""
    found: dict[str, Cell] = {}
    for seed in range(FIRST_SEED, FIRST_SEED + size.seeds):
        for factor, scenario, arm in _design(size):
            for part in (Arm(USERS, USERS), arm):
                cell = Cell(factor, scenario, part, seed, size.jobs, size.history)
                found.setdefault(cell.key, cell)
    order = {scenario: place for place, scenario in enumerate(dict.fromkeys(cell.scenario for cell in found.values()))}
    return sorted(found.values(), key=lambda cell: (cell.seed, order[cell.scenario]))


def _design(size: Preset) -> Iterator[tuple[str, Scenario, Arm]]:
    base = Scenario()
    for factor in size.factors:
        for scenario, arm in _factor(factor, base, is_small=size.jobs < PRESETS["demo"].jobs):
            yield factor, scenario, arm


def _factor(factor: str, base: Scenario, *, is_small: bool) -> Iterator[tuple[Scenario, Arm]]:
    if factor == "base":
        yield from ((base, arm) for arm in _base_arms(is_small=is_small))
    elif factor == "rules":
        yield from ((base, arm) for arm in _rule_arms())
    elif factor == "adoption":
        shares = (0.0, 0.25, 0.5, 0.75)
        yield from ((base, front("semi-parametric", adoption=share)) for share in shares)
        yield from ((base, oracle(rule="energy", adoption=share)) for share in shares[2:3])
    elif factor == "margin":
        yield from ((base, front("scaling-law", margin=margin)) for margin in LAW_MARGINS)
    elif factor == "exploration":
        yield base, front("semi-parametric", exploration=0.05, refit_every_s=7 * 86_400.0)
        yield base, front("semi-parametric", refit_every_s=7 * 86_400.0)
    else:
        for scenario in _scenarios(factor, base):
            yield from ((scenario, arm) for arm in _core_arms())


def _scenarios(factor: str, base: Scenario) -> list[Scenario]:
    if factor == "policy":
        named = ["fcfs", *(["ppo-gtrxl"] if "ppo-gtrxl" in registry.names("policies") else [])]
        return [replace(base, policy=policy) for policy in named]
    if factor == "load":
        return [replace(base, load=load) for load in (0.7, 1.05)]
    if factor == "family":
        return [replace(base, family=family) for family in FAMILIES]
    if factor == "widths":
        return list(SCENARIO_OF_WIDTHS.values())
    return [replace(base, cap_share=share) for share in CAP_SHARES]


def _base_arms(*, is_small: bool) -> list[Arm]:
    core = [*_core_arms(), front("semi-parametric", rule="qa(8, 1)")]
    return core if is_small else [*core, oracle(rule="qa(8, 1)"), front("scaling-law", rule="qa(8, 1)")]


def _core_arms() -> list[Arm]:
    return [oracle(), front("scaling-law"), front("semi-parametric")]


def _rule_arms() -> Iterator[Arm]:
    yield Arm("one law, deadline(1.2)", "scaling-law-ratio")
    for rule in SAFE_RULES[2:]:
        yield from (front("semi-parametric", rule=rule), oracle(rule=rule))
    for rule in UNSAFE_RULES:
        yield from (front("semi-parametric", rule=rule), front("semi-parametric", **unguarded(rule)))
    yield from (front("semi-parametric", guard=False), oracle(guard=False), front("lightgbm"))


def unguarded(rule: str) -> dict[str, Any]:
    """Return the parameters that let *rule* run without the guard."""
    return {"rule": rule, "guard": False, "allow_unsafe": True}


def oracle(**parameters: Any) -> Arm:
    """Return the arm of the truth."""
    return Arm(_name("oracle", parameters), "oracle", parameters)


def front(surrogate: str, **parameters: Any) -> Arm:
    """Return the arm of a front advisor."""
    return Arm(_name(surrogate, parameters), surrogate, parameters)


def _name(who: str, parameters: dict[str, Any]) -> str:
    words = [str(parameters.get("rule", "qa(2, 1)"))]
    words += ["no guard"] if parameters.get("guard") is False else []
    words += [f"margin {parameters['margin']:g}"] if "margin" in parameters else []
    words += [f"adoption {parameters['adoption']:.0%}"] if "adoption" in parameters else []
    words += [f"explores {parameters['exploration']:.0%}"] if "exploration" in parameters else []
    words += ["refitted weekly"] if "refit_every_s" in parameters else []
    return f"{who}, {', '.join(words)}"
