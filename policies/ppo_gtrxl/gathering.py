"""Experience of one update: episodes of the drawn sequences, played here or by worker processes."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import Executor
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hpcsim.errors import InvalidArgument
from hpcsim.policies.learning.episode import Rules
from hpcsim.policies.learning.objectives import weighted
from hpcsim.policies.ppo_gtrxl.advantages import (
    discounts,
    gaps_of,
    generalised_advantages,
    group_advantages,
    standardised,
)
from hpcsim.policies.ppo_gtrxl.checkpoint import View
from hpcsim.policies.ppo_gtrxl.experience import Experience, Record, joined, segments_of
from hpcsim.policies.ppo_gtrxl.forward import Forward
from hpcsim.policies.ppo_gtrxl.forward_parts import Floats as Weights
from hpcsim.policies.ppo_gtrxl.network_config import NetworkConfig
from hpcsim.policies.ppo_gtrxl.rollout import Played, Task, play
from hpcsim.policies.ppo_gtrxl.seen_ranges import SeenRanges, ranges_of
from hpcsim.policies.ppo_gtrxl.sources import Drawn
from hpcsim.policies.ppo_gtrxl.training_config import TrainingConfig

TOGETHER = 24
"""Episodes that are played side by side, by however many processes: the numbers depend on it."""

Floats = NDArray[np.float64]


class Gathered(NamedTuple):
    """Experience, the ranges of the features in it, and the mean cost of an episode in its unit."""

    experience: Experience
    seen: SeenRanges
    cost: float


class Network(NamedTuple):
    """What plays: an architecture, weights, and what it is shown. Cheap to send to a process."""

    config: NetworkConfig
    weights: dict[str, Weights]
    view: View


def rules_of(config: TrainingConfig) -> Rules:
    """Return the rules of the game in training and validation."""
    return Rules(
        can_wait=False,
        backfill="easy",  # each task has its own
        keeps_heads=config.keeps_heads,
        skip_forced=True,
        kill_at_limit=True,
        objectives=weighted(config.objective),
        beta_per_s=config.discount_rate_per_s,
    )


def play_all(
    network: Network, tasks: Sequence[Task], config: TrainingConfig, executor: Executor | None = None
) -> list[Played]:
    """Play *tasks*, some at a time, whole groups together; the executor's size changes nothing."""
    size = max(1, TOGETHER // config.group) * config.group
    chunks = [tasks[start : start + size] for start in range(0, len(tasks), size)]
    if executor is None:
        return [_play(network, chunk, config) for chunk in chunks]
    return list(executor.map(_play, [network] * len(chunks), chunks, [config] * len(chunks)))


def gather(
    network: Network,
    drawn: Sequence[Drawn],
    config: TrainingConfig,
    seed: np.random.SeedSequence,
    executor: Executor | None = None,
) -> Gathered:
    """Play each drawn sequence `TrainingConfig.group` times and work out what was better than expected."""
    seeds = iter(seed.spawn(len(drawn) * config.group))
    tasks = [
        Task(one.sequence, one.cluster, one.backfill, one.unit, next(seeds))
        for one in drawn
        for _ in range(config.group)
    ]
    played = play_all(network, tasks, config, executor)
    records = [one.record for one in played if one.record.lengths.any()]
    if not records:
        raise InvalidArgument(
            "The network was asked nothing in a whole update: each job that came next was overdue.",
            "Raise training.must_start_after_s.",
        )
    estimates, returns = zip(*(_estimates(record, config) for record in records), strict=True)
    advantages = _mixed([a for part in estimates for a in part], records, config)
    parts, first = [], 0
    for record, mine in zip(records, returns, strict=True):
        count = len(record.lengths)
        parts.append(segments_of(record, advantages[first : first + count], mine, network.config))
        first += count
    experience = joined(parts)
    asked = experience.weight > 0
    seen = ranges_of(experience.jobs[asked], experience.nodes[asked], experience.globals_[asked])
    return Gathered(experience, seen, float(np.mean(np.concatenate([one.costs for one in played]))))


def _play(network: Network, tasks: Sequence[Task], config: TrainingConfig) -> Played:
    return play(Forward(network.config, network.weights), tasks, rules_of(config), network.view)


def _estimates(record: Record, config: TrainingConfig) -> tuple[list[Floats], list[Floats]]:
    """Return the generalised advantages and the returns that values are fitted to, of each episode."""
    advantages, returns = [], []
    moments = record.moments
    for row, length in enumerate(record.lengths.tolist()):
        values = moments.values[row, :length].astype(np.float64)
        discount = discounts(gaps_of(moments.times_s[row, :length]), config.discount_rate_per_s)
        mine = generalised_advantages(record.rewards[row, :length], values, discount, config.trace)
        advantages.append(mine)
        returns.append(mine + values)
    return advantages, returns


def _mixed(estimates: list[Floats], records: Sequence[Record], config: TrainingConfig) -> list[Floats]:
    """Return the advantages to learn from: those estimated and those against the group, each standardised."""
    times, rewards = [], []
    for record in records:
        for row, length in enumerate(record.lengths.tolist()):
            times.append(record.moments.times_s[row, :length])
            rewards.append(record.rewards[row, :length])
    against: list[Floats] = []
    for first in range(0, len(times), config.group):
        group = slice(first, first + config.group)
        against += group_advantages(times[group], rewards[group], config.discount_rate_per_s)
    share = config.group_share
    pairs = zip(standardised(estimates), standardised(against), strict=True)
    return [(1 - share) * estimate + share * other for estimate, other in pairs]
