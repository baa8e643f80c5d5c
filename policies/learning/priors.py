"""Scores that make a network begin as a rule: the largest score is the rule's choice.

A residual policy adds kappa times the prior to its logits; with its last layer at zero the arg-max
policy is the rule itself. SAF and SJF come from the features alone, natural logarithms, with ties told
apart by rank, so that single precision keeps the order.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from hpcsim.policies.learning.features import AREA_OFFSET, AREA_SCALE, JOB_FEATURES, LOG_SCALE
from hpcsim.policies.scores import F1
from hpcsim.system import System

if TYPE_CHECKING:
    from hpcsim.policies.learning.observation import Observation

Scores = NDArray[np.float32]
Prior = Callable[["Observation"], Scores]

_COLUMN = {name: at for at, (name, _) in enumerate(JOB_FEATURES)}
_TIE = 0.05
"""Between the first and the last rank of a window: far less than what any unlike requests differ by in effect."""


def no_prior(observation: Observation) -> Scores:
    """Return zeros, shape [K]."""
    return np.zeros(len(observation.mask), dtype=np.float32)


def shortest_first(observation: Observation) -> Scores:
    """Return -ln(requested time in s), shape [K]; 0 in empty slots."""
    log = _of_jobs("log_request", observation) * (LOG_SCALE * math.log(10))
    return _masked(-log - _TIE * _of_jobs("rank_by_request", observation), observation)


def smallest_area_first(observation: Observation) -> Scores:
    """Return -ln(requested seconds of the whole machine), shape [K]; 0 in empty slots."""
    log = (_of_jobs("log_area", observation) * AREA_SCALE - AREA_OFFSET) * math.log(10)
    return _masked(-log - _TIE * _of_jobs("rank_by_area", observation), observation)


def f1_first(observation: Observation) -> Scores:
    """Return the score of F1, negated and brought to mean 0 and deviation 1 over the window, shape [K].

    F1 reads submit times and counts of nodes, which no feature holds: the observation needs its queue.
    """
    scores = np.zeros(len(observation.mask), dtype=np.float32)
    if observation.queue is None or not observation.mask.any():
        return scores
    waiting = [(slot, job) for slot, job in enumerate(observation.queue) if job is not None]
    keys = np.array([_F1.key(job, _NOBODY) for _, job in waiting])
    deviation = keys.std()
    ranks = np.argsort(np.argsort(keys, kind="stable"), kind="stable") / len(keys)
    scores[[slot for slot, _ in waiting]] = -(keys - keys.mean()) / (deviation or 1.0) - _TIE * ranks
    return scores


HEURISTIC_PRIORS: Mapping[str, Prior] = MappingProxyType(
    {"none": no_prior, "sjf": shortest_first, "saf": smallest_area_first, "f1": f1_first}
)
"""Prior scores by name, each from an `Observation` to float32 [K]."""

_F1 = F1()
_NOBODY: System = None  # type: ignore[assignment] # F1 reads the job alone


def _of_jobs(feature: str, observation: Observation) -> NDArray[np.float64]:
    return observation.jobs[:, _COLUMN[feature]].astype(np.float64)


def _masked(scores: NDArray[np.float64], observation: Observation) -> Scores:
    return np.where(observation.mask > 0, scores, 0.0).astype(np.float32)
