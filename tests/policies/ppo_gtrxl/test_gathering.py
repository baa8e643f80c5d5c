"""What is learned from: advantages of a whole update, worked out again from what was played."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from hpcsim import Cluster, Workload
from hpcsim.errors import HpcsimError
from hpcsim.policies.learning.sequences import JobSequence
from hpcsim.policies.ppo_gtrxl.checkpoint import View
from hpcsim.policies.ppo_gtrxl.experience import Record
from hpcsim.policies.ppo_gtrxl.gathering import Network, gather, play_all
from hpcsim.policies.ppo_gtrxl.rollout import Task
from hpcsim.policies.ppo_gtrxl.sources import Drawn
from hpcsim.policies.ppo_gtrxl.training_config import TrainingConfig
from hpcsim.policies.ppo_gtrxl.untrained import network_config
from tests.policies.ppo_gtrxl.test_experience import crowded, shaken

RATE_PER_S = 1e-3
CONFIG = TrainingConfig(group=3, epochs=1, group_share=0.25, discount_rate_per_s=RATE_PER_S, trace=0.9)


def estimated(rewards: np.ndarray, values: np.ndarray, times_s: np.ndarray) -> list[float]:
    """Generalised advantages as the double sum that defines them; the gap of a decision is the one behind it."""
    gaps_s = [after - before for before, after in pairwise(times_s)] + [0.0]
    discount = [np.exp(-RATE_PER_S * gap_s) for gap_s in gaps_s]
    ahead = [*values[1:], 0.0]
    surprise = [rewards[at] + discount[at] * ahead[at] - values[at] for at in range(len(rewards))]
    return [
        sum(surprise[later] * np.prod([0.9 * each for each in discount[at:later]]) for later in range(at, len(rewards)))
        for at in range(len(rewards))
    ]


def left(rewards: np.ndarray, times_s: np.ndarray) -> list[float]:
    """What is still to come at each decision, discounted to it."""
    return [
        sum(rewards[later] * np.exp(-RATE_PER_S * (times_s[later] - times_s[at])) for later in range(at, len(rewards)))
        for at in range(len(rewards))
    ]


def unit(parts: list[np.ndarray]) -> list[np.ndarray]:
    together = np.concatenate(parts)
    return [(part - together.mean()) / together.std() for part in parts]


def test_advantages_of_an_update() -> None:
    """Two sequences, three rollouts each: every rollout against its own three, both halves on one scale."""
    network = shaken(network_config(width=8, memory=4, segment=4))
    weights = {name: value.detach().numpy() for name, value in network.state_dict().items()}
    player = Network(network.config, weights, View(window=6))
    drawn = crowded(23)
    seeds = np.random.SeedSequence(1).spawn(6)
    tasks = [
        Task(one.sequence, one.cluster, one.backfill, one.unit, seeds[3 * at + rollout])
        for at, one in enumerate(drawn)
        for rollout in range(3)
    ]
    played = play_all(player, tasks, CONFIG)
    rollouts = [rollout for one in played for rollout in rollouts_of(one.record)]
    assert len({tuple(actions) for *_, actions in rollouts[:3]}) == 3, "rollouts of one sequence differ"
    estimates = unit([np.array(estimated(rewards, values, times_s)) for rewards, values, times_s, _ in rollouts])
    against = []
    for first in (0, 3):
        group = [(times_s, left(rewards, times_s)) for rewards, _, times_s, _ in rollouts[first : first + 3]]
        for times_s, mine in group:
            mean = np.mean([np.interp(times_s, its_s, its, right=0.0) for its_s, its in group], axis=0)
            against.append(mine - mean)
    expected = [0.75 * mine + 0.25 * other for mine, other in zip(estimates, unit(against), strict=True)]
    experience = gather(player, drawn, CONFIG, np.random.SeedSequence(1)).experience
    found = experience.advantages[experience.weight > 0]
    assert found == pytest.approx(np.concatenate(expected), abs=1e-4)
    fitted = [np.array(estimated(*rollout[:3])) + rollout[1] for rollout in rollouts]
    assert experience.returns[experience.weight > 0] == pytest.approx(np.concatenate(fitted), rel=1e-4, abs=1e-4)


def rollouts_of(record: Record) -> list[tuple[np.ndarray, np.ndarray, np.ndarray, list[int]]]:
    moments = record.moments
    return [
        (
            record.rewards[row, :length],
            moments.values[row, :length].astype(float),
            moments.times_s[row, :length],
            moments.actions[row, :length].tolist(),
        )
        for row, length in enumerate(record.lengths.tolist())
    ]


def test_no_update_without_a_question() -> None:
    """Four jobs as wide as the machine, a second between them: when one is to be chosen all have waited too long."""
    jobs = Workload.of(submit_s=[0, 1, 2, 3], run_s=[10] * 4, nodes=[64] * 4)
    drawn = [Drawn(JobSequence(jobs, 0, 0, 4), Cluster.of_processors(64), "easy", 1.0)]
    network = shaken(network_config(width=8))
    weights = {name: value.detach().numpy() for name, value in network.state_dict().items()}

    def experience(cap_s: float | None) -> int:
        player = Network(network.config, weights, View(window=6, must_start_after_s=cap_s))
        return gather(player, drawn, CONFIG, np.random.SeedSequence(1)).experience.decisions

    assert experience(None) > 0
    with pytest.raises(HpcsimError, match=r"asked nothing .* Raise training\.must_start_after_s"):
        experience(1.0)
