"""How good is a network? Arg-max on sequences that training never draws, held against SAF on the same jobs."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import Executor

import numpy as np
from numpy.typing import NDArray

from hpcsim.policies.ppo_gtrxl.gathering import Network, play_all
from hpcsim.policies.ppo_gtrxl.rollout import Task
from hpcsim.policies.ppo_gtrxl.sources import Drawn
from hpcsim.policies.ppo_gtrxl.training_config import TrainingConfig


def ratios_to_saf(
    network: Network, drawn: Sequence[Drawn], config: TrainingConfig, executor: Executor | None = None
) -> NDArray[np.float64]:
    """Return the cost of each sequence over SAF's. One unit a job (a slowdown of 1, a second) is added to both."""
    tasks = [Task(one.sequence, one.cluster, one.backfill, 1.0) for one in drawn]
    costs = np.concatenate([played.costs for played in play_all(network, tasks, config, executor)])
    saf = np.array([one.unit for one in drawn])
    jobs = np.array([one.sequence.length for one in drawn])
    ratios: NDArray[np.float64] = (costs + jobs) / (saf + jobs)
    return ratios


def geometric_mean(ratios: NDArray[np.float64]) -> float:
    """Return exp of the mean logarithm."""
    return float(np.exp(np.log(ratios).mean()))
