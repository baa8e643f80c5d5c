"""Play many episodes side by side: one forward pass in NumPy serves a decision of each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hpcsim.cluster import Cluster
from hpcsim.policies.learning.episode import Episode, Rules
from hpcsim.policies.learning.heads import always_keeps
from hpcsim.policies.learning.observation import Observation, Observer
from hpcsim.policies.learning.priors import HEURISTIC_PRIORS, Prior
from hpcsim.policies.learning.sequences import JobSequence
from hpcsim.policies.ppo_gtrxl.checkpoint import View
from hpcsim.policies.ppo_gtrxl.experience import Moment, Record
from hpcsim.policies.ppo_gtrxl.forward import Forward, Step
from hpcsim.policies.ppo_gtrxl.starvation import starving_slot

IMPOSSIBLE = np.float32(-1e9)


@dataclass(frozen=True, slots=True, eq=False)
class Task:
    """One episode to be played.

    Attributes:
        sequence: its jobs.
        cluster: its machine.
        backfill: beside its heads.
        unit: what costs are divided by, such as a rule's cost of the same jobs.
        seed: of the draws of its actions; None: the likeliest action is taken.
    """

    sequence: JobSequence
    cluster: Cluster
    backfill: str
    unit: float
    seed: np.random.SeedSequence | None = None


class Played(NamedTuple):
    """What came of some tasks: the record of all decisions, and each episode's cost in its unit."""

    record: Record
    costs: NDArray[np.float64]


class _Player:
    """An episode, and the numbers that decide its actions."""

    def __init__(self, task: Task, rules: Rules, view: View) -> None:
        self.unit = task.unit
        self._cap_s = view.must_start_after_s
        observer = Observer(view.window, view.groups, wait_cap_s=view.wait_cap_s)
        keeps = rules.keeps_heads or always_keeps(task.backfill)
        its_rules = rules._replace(backfill=task.backfill, keeps_heads=keeps)
        self.episode = Episode(task.sequence.workload, task.cluster, its_rules, observer)
        rng = None if task.seed is None else np.random.default_rng(task.seed)
        # asked once a start, and once more a pass: one at each submit and each end
        self.draws = None if rng is None else rng.random(3 * len(task.sequence.workload) + 16)
        self._before = self.episode.begin() + self._pass_by_the_starving()

    def step(self, action: int) -> float:
        """Take an action; return the cost until the network is asked again, or the end, in units.

        What accrued before the first decision is part of the first one's.
        """
        cost = self._before + self.episode.step(action)[0] + self._pass_by_the_starving()
        self._before = 0.0
        return cost / self.unit

    def _pass_by_the_starving(self) -> float:
        cost, episode = 0.0, self.episode
        while not episode.is_over:
            slot = starving_slot(episode.observation, episode.system.now_s, self._cap_s)
            if slot is None:
                break
            cost += episode.step(slot)[0]
        return cost


def play(forward: Forward, tasks: Sequence[Task], rules: Rules, view: View) -> Played:
    """Play all *tasks* to their ends, a decision of each at a time."""
    players = [_Player(task, rules, view) for task in tasks]
    record = Record(len(players))
    memory = forward.begin(len(players))
    prior = HEURISTIC_PRIORS[forward.config.prior]
    at = 0
    while len(rows := np.array([row for row, one in enumerate(players) if not one.episode.is_over], dtype=np.int64)):
        active = [players[row] for row in rows]
        seen = [one.episode.observation for one in active]
        step, mask = _stack(seen, prior_of=prior)
        answer = forward.step(memory, step, slice(None) if len(rows) == len(players) else rows)
        log_probs = _log_softmax(np.where(mask, answer.logits, IMPOSSIBLE))
        actions = _choose(log_probs, [None if one.draws is None else one.draws[at] for one in active])
        times_s = np.array([one.episode.system.now_s for one in active])
        states = np.stack(answer.states, axis=1) if answer.states else np.zeros((len(rows), 0, 1), np.float32)
        record.keep(rows, at, Moment(*step[:3], mask, step.prior, actions, log_probs, answer.values, times_s, states))
        for row, one, action in zip(rows.tolist(), active, actions.tolist(), strict=True):
            record.rewards[row, at] = -one.step(action)
        at += 1
    return Played(record, np.array([one.episode.cost / one.unit for one in players]))


def _stack(seen: Sequence[Observation], prior_of: Prior) -> tuple[Step, NDArray[np.bool_]]:
    prior = np.stack([prior_of(one) for one in seen])
    jobs, nodes, globals_ = (np.stack([getattr(one, name) for one in seen]) for name in ("jobs", "nodes", "globals"))
    return Step(jobs, nodes, globals_, prior), np.stack([one.mask for one in seen]) > 0


def _log_softmax(logits: NDArray[np.float32]) -> NDArray[np.float32]:
    shifted = logits - logits.max(-1, keepdims=True)
    out: NDArray[np.float32] = shifted - np.log(np.exp(shifted).sum(-1, keepdims=True))
    return out


def _choose(log_probs: NDArray[np.float32], draws: Sequence[float | None]) -> NDArray[np.int64]:
    """Return an action for each row: the likeliest where nothing was drawn, else by inverse distribution."""
    likeliest: NDArray[np.int64] = log_probs.argmax(-1)
    if draws[0] is None:
        return likeliest
    sums = np.exp(log_probs.astype(np.float64)).cumsum(-1)
    drawn = (sums < np.array(draws, dtype=np.float64)[:, None] * sums[:, -1:]).sum(-1)
    chosen: NDArray[np.int64] = np.where(np.isfinite(sums[:, -1]), drawn, likeliest)
    return chosen
