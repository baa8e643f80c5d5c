"""What a network is trained on: logs and their machines, generated or given, and sequences drawn from them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hpcsim import registry
from hpcsim.cluster import Cluster
from hpcsim.errors import InvalidArgument
from hpcsim.policies.learning.heads import always_keeps
from hpcsim.policies.learning.reference import RuleCost
from hpcsim.policies.learning.sequences import HarderPart, JobSequence, Windows
from hpcsim.policies.orders import SAF, SJF
from hpcsim.policies.ppo_gtrxl.training_config import TrainingConfig
from hpcsim.workload import Workload

TRAINED_SHARE = 0.6
"""Of a log that is given, the first part that may be trained on; the rest stays for tests."""

SHORTEST_STRETCH = 0.7
"""Gaps between submits of a sequence are multiplied by this at least."""

LEAST_COST = 0.1
"""Cost a job below which a sequence counts as free: what costs are divided by is never less."""


@dataclass(frozen=True, slots=True, eq=False)
class Source:
    """A log, the machine that it is replayed on, and what happens beside a head in training."""

    name: str
    workload: Workload
    cluster: Cluster
    backfill: str = "easy"


class Mix(NamedTuple):
    """A kind of generated log: classes of Lublin and Feitelson's model, load, machine, estimates, backfilling."""

    classes: str
    load: float
    nodes: int
    estimates: str
    backfill: str


MIXES = (
    Mix("both", 0.85, 256, "exact", "rlscheduler"),
    Mix("batch", 1.0, 256, "exact", "rlscheduler"),
    Mix("typeless", 0.95, 256, "exact", "rlscheduler"),
    Mix("batch", 0.9, 128, "habits", "easy"),
    Mix("both", 1.0, 256, "habits", "easy"),
    Mix("typeless", 1.5, 256, "exact", "rlscheduler"),
)
"""Three size mixes, five loads, the last one more than the machine can do, and users who ask for too much."""


def generated(jobs: int, seed: int) -> list[Source]:
    """Return a log of *jobs* jobs of each of `MIXES`; other seeds, other jobs."""
    seeds = np.random.SeedSequence(seed).generate_state(len(MIXES)).tolist()
    return [_generate(mix, jobs, its) for mix, its in zip(MIXES, seeds, strict=True)]


def given(sources: Sequence[Source], part: str) -> list[Source]:
    """Return the *part*, ``"training"`` or ``"validation"``, of logs that were given.

    The last `1 - TRAINED_SHARE` of each is neither; of the rest the last sixth is for validation.
    """
    low, high = (0.0, TRAINED_SHARE * 5 / 6) if part == "training" else (TRAINED_SHARE * 5 / 6, TRAINED_SHARE)
    return [replace(one, workload=_cut(one.workload, low, high)) for one in sources]


class Drawn(NamedTuple):
    """A sequence, its machine, what happens beside a head, and what its costs are divided by."""

    sequence: JobSequence
    cluster: Cluster
    backfill: str
    unit: float


class Draws:
    """Draws sequences from all sources alike, the harder ones of each, and knows what rules make of them."""

    def __init__(self, sources: Sequence[Source], config: TrainingConfig) -> None:
        for source in sources:
            if len(source.workload) < config.jobs:
                raise InvalidArgument(
                    f"{source.name} has {len(source.workload)} jobs to train on, and a sequence takes {config.jobs}.",
                    "Give a longer log.",
                )
        self._sources, self._config = sources, config
        stretch = (SHORTEST_STRETCH, config.longest_stretch)
        self._windows = [Windows(source.workload, config.jobs, stretch=stretch) for source in sources]
        self._costs = [rule_cost(source, config, (SJF, SAF)) for source in sources]
        self._pools: dict[tuple[int, int, int], HarderPart] = {}

    def draw(self, seed: int, update: int) -> list[Drawn]:
        """Return the sequences of one update; equal arguments, equal sequences."""
        config = self._config
        rng = np.random.default_rng(np.random.SeedSequence([seed, update, 1]))
        first = int(rng.integers(len(self._sources)))
        drawn = []
        for at in ((first + np.arange(config.sequences)) % len(self._sources)).tolist():
            source = self._sources[at]
            sequence = self._pool(seed, update // config.pool_updates, at).draw(rng)
            unit = max(self._costs[at](sequence), LEAST_COST * config.jobs)
            drawn.append(Drawn(sequence, source.cluster, config.backfill or source.backfill, unit))
        return drawn

    def _pool(self, seed: int, era: int, at: int) -> HarderPart:
        """Return the harder windows of a source that this era draws from; they are found once."""
        key = (seed, era, at)
        if key not in self._pools:
            config = self._config
            number = int(np.random.SeedSequence(key).generate_state(1)[0])
            self._pools[key] = HarderPart(
                self._windows[at], self._costs[at], pool=config.pool, share=config.harder_share, seed=number
            )
        return self._pools[key]


def validation_of(
    sources: Sequence[Source], config: TrainingConfig, sequences: int, jobs: int, seed: int
) -> list[Drawn]:
    """Return sequences to validate on, as many from each source, with SAF's cost for a unit."""
    rng = np.random.default_rng(np.random.SeedSequence([seed, 2]))
    drawn = []
    for at in range(sequences):
        source = sources[at % len(sources)]
        length, stretch = min(jobs, len(source.workload)), (1.0, config.longest_stretch)
        sequence = Windows(source.workload, length, stretch=stretch).draw(rng)
        cost = rule_cost(source, config, (SAF,))(sequence)
        drawn.append(Drawn(sequence, source.cluster, config.backfill or source.backfill, cost))
    return drawn


def rule_cost(source: Source, config: TrainingConfig, rules: tuple[Any, ...]) -> RuleCost:
    """Return what a sequence of *source* costs under the best of *rules*, who keep their heads as the network does."""
    backfill = config.backfill or source.backfill
    keeps = config.keeps_heads or always_keeps(backfill)
    return RuleCost(source.cluster, config.objective, backfill=backfill, keeps_heads=keeps, rules=rules)


def _generate(mix: Mix, jobs: int, seed: int) -> Source:
    workload: Workload = registry.make(
        "models", "lublin", jobs=jobs, nodes=mix.nodes, classes=mix.classes, load=mix.load, seed=seed
    )
    if mix.estimates == "habits":
        workload = with_habits(workload, np.random.default_rng(np.random.SeedSequence([seed, 3])))
    name = f"lublin {mix.classes}, load {mix.load}, {mix.estimates} estimates, {mix.nodes} processors"
    return Source(name, workload, Cluster.of_processors(mix.nodes), mix.backfill)


def with_habits(workload: Workload, rng: np.random.Generator, users: int = 40) -> Workload:
    """Return the jobs with users who submit several in a row, each asking for too much by a factor of their own.

    A user's factor is log-normal about 3 and no less than 1; requests are rounded up to five minutes.
    """
    jobs = len(workload)
    session = np.cumsum(rng.random(jobs) < 0.2)
    weights = 1 / np.arange(1, users + 1)
    user = rng.choice(users, size=int(session[-1]) + 1, p=weights / weights.sum())[session]
    factor = np.maximum(rng.lognormal(np.log(3), 0.8, size=users), 1.0)
    asked = workload.columns["run_s"] * factor[user] * rng.lognormal(0, 0.2, size=jobs)
    asked = np.maximum(asked, workload.columns["run_s"])
    result = workload.select(np.arange(jobs), "users with habits")
    result.columns["limit_s"] = np.ceil(np.maximum(asked, 1) / 300) * 300
    result.columns["user_id"] = user.astype(np.int64)
    return result


def _cut(workload: Workload, low: float, high: float) -> Workload:
    order: NDArray[np.int64] = workload.arrival_order()
    rows = order[round(low * len(order)) : round(high * len(order))]
    return workload.select(rows, f"jobs from {low:.0%} to {high:.0%}")
