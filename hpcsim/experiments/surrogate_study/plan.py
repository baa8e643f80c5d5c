"""What a surrogate study compares: its presets, and the cells that follow from them."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from typing import Any

SAME_ROWS = "raw+embedding, same rows"
"""TabNet and trees both learn from all rows, so that raw trees have no more than they; what TabNet says of them is
over-fitted. Elsewhere TabNet learns from one half, the trees from the other."""

EMBEDDED = ("embedding", "raw+embedding", SAME_ROWS)
BESIDE_RAW = ("raw+embedding", SAME_ROWS)
"""Inputs that decide whether embeddings help: beside the raw features, learned in either way."""

POST_RUN = "raw+post-run"
"""Inputs with what only a run tells of its power: a reproduction, no advice; for logs that have it."""
ALL_FAMILIES = (
    *("semi-parametric", "lightgbm", "lightgbm-monotone", "xgboost", "random-forest", "tabnet"),
    *("scaling-law", "app-last", "app-mean"),
)
BAYESIAN = ("mobo", "mobo-fixed", "sobo-runtime", "sobo-power")
SECONDS_A_CYCLE = 0.5
"""Rough cost of one step of a Bayesian engine, to tell the time left."""


@dataclass(frozen=True, slots=True)
class Preset:
    """How large a study is.

    Attributes:
        jobs: of a generated log; None for as many as the real one has.
        seeds: how many.
        test_jobs: judged by each cell.
        most_nodes: counts from 1 to this are considered.
        epochs: of TabNet.
        families, inputs, variants, rates, engines: levels of the factors.
        embedded: tree families whose inputs are varied.
        budget: evaluations of the engines that do not look at everything.
        engine_jobs: test jobs that Bayesian engines search.
        mobo_jobs, mobo_budget: of the loop as published.
    """

    jobs: int | None
    seeds: int
    test_jobs: int
    most_nodes: int
    epochs: int
    families: tuple[str, ...] = ALL_FAMILIES
    inputs: tuple[str, ...] = EMBEDDED
    embedded: tuple[str, ...] = ("lightgbm",)
    variants: tuple[str, ...] = ("difficulty", "weighted", "trimmed", "uniform")
    rates: tuple[float, ...] = (0.1, 0.25, 0.5, 0.75)
    engines: tuple[str, ...] = ("mobo-fixed", "sobo-runtime", "sobo-power", "random", "random-shared", "loggrid")
    budget: int = 32
    engine_jobs: int = 20
    mobo_jobs: int = 20
    mobo_budget: int = 300


PRESETS = {
    "smoke": Preset(
        jobs=1_000,
        seeds=2,
        test_jobs=20,
        most_nodes=32,
        epochs=2,
        families=("semi-parametric", "lightgbm", "tabnet", "scaling-law", "app-mean"),
        inputs=BESIDE_RAW,
        variants=("difficulty", "uniform"),
        rates=(0.5,),
        engines=("mobo-fixed", "sobo-runtime", "random", "loggrid"),
        budget=10,
        engine_jobs=1,
        mobo_jobs=0,
    ),
    "demo": Preset(
        jobs=3_000,
        seeds=5,
        test_jobs=30,
        most_nodes=64,
        epochs=3,
        families=tuple(family for family in ALL_FAMILIES if family != "random-forest"),
        variants=("difficulty", "uniform"),
        rates=(0.25, 0.5),
        budget=12,
        engine_jobs=1,
        mobo_jobs=1,
        mobo_budget=12,
    ),
    "full": Preset(
        jobs=None,
        seeds=5,
        test_jobs=200,
        most_nodes=128,
        epochs=25,
        embedded=("random-forest", "xgboost", "lightgbm"),
    ),
}


@dataclass(frozen=True, slots=True)
class Cell:
    """One surrogate, sample and engine, on one seed.

    Attributes:
        factor: what it varies: base, family, inputs, sampling or engine.
        label: what tables call it.
        family, inputs, variant, rate, engine: its levels.
        budget: evaluations; None for all counts.
        jobs: test jobs that are searched.
        epochs: of TabNet, 0 where there is none.
        seed: of log, surrogate, sample and engine.
    """

    factor: str = "base"
    label: str = "base"
    family: str = "lightgbm"
    inputs: str = "raw"
    variant: str = "all rows"
    rate: float = 1.0
    engine: str = "exact"
    budget: int | None = None
    jobs: int = 1
    epochs: int = 0
    seed: int = 0

    @property
    def effort(self) -> float:
        """Rough cost in seconds, for the time left."""
        steps = max(0, (self.budget or 0) - 8) if self.engine in BAYESIAN else 0
        return 2.0 + self.epochs + SECONDS_A_CYCLE * steps * self.jobs

    def key(self, data: str) -> str:
        """Return the address of its result on *data*: a hash of all that it follows from."""
        from hpcsim import __version__

        identity = {name: value for name, value in asdict(self).items() if name not in {"factor", "label"}}
        text = json.dumps({"data": data, "hpcsim": __version__} | identity, sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()[:20]

    def order(self) -> dict[str, Any]:
        """Return the cell as `hpcsim.surrogates.study.trial.AdvisorTrial.run` takes it."""
        parameters: dict[str, Any] = {}
        if self.inputs == POST_RUN:
            parameters["with_post_run"] = True
        elif self.inputs == SAME_ROWS:
            parameters |= {"inputs": "raw+embedding", "cross_fit": False}
        elif self.inputs != "raw":
            parameters["inputs"] = self.inputs
        if self.epochs:
            parameters["epochs"] = self.epochs
        sampler = None if self.rate == 1 else f"{self.variant}:rate={self.rate:g}"
        return {
            "family": self.family,
            "parameters": parameters,
            "sampler": sampler,
            "engine": self.engine,
            "budget": self.budget,
            "jobs": self.jobs,
            "seed": self.seed,
        }

    def row(self) -> dict[str, Any]:
        """Return the columns that every table begins with."""
        names = ("factor", "label", "family", "inputs", "variant", "rate", "engine", "seed")
        return {name: getattr(self, name) for name in names}


def cells(preset: Preset) -> list[Cell]:
    """Return the cells of *preset*, all of one seed together, the base first."""
    return [cell for seed in range(preset.seeds) for cell in _of_seed(preset, seed)]


def _of_seed(preset: Preset, seed: int) -> Iterator[Cell]:
    base = Cell(jobs=preset.test_jobs, seed=seed)
    yield base
    for family in preset.families:
        epochs = preset.epochs if family == "tabnet" else 0
        yield replace(base, factor="family", label=family, family=family, epochs=epochs)
    for family in preset.embedded:
        for inputs in preset.inputs:
            label = f"{family}, {inputs}"
            yield replace(base, factor="inputs", label=label, family=family, inputs=inputs, epochs=preset.epochs)
    for variant in preset.variants:
        for rate in preset.rates:
            yield replace(base, factor="sampling", label=f"{variant} {rate:.0%}", variant=variant, rate=rate)
    yield from _engines(preset, base)


def _engines(preset: Preset, base: Cell) -> Iterator[Cell]:
    """Yield engines on the semi-parametric surrogate, whose fronts have many points; all on the same jobs."""
    few = replace(base, factor="engine", family="semi-parametric", jobs=preset.engine_jobs)
    yield replace(few, label="exact")
    for engine in preset.engines:
        yield replace(few, label=engine, engine=engine, budget=preset.budget)
    if preset.mobo_jobs:
        yield replace(few, label="mobo", engine="mobo", budget=preset.mobo_budget, jobs=preset.mobo_jobs)
