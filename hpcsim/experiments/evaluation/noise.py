"""How much a change of order that means nothing moves a mean: smallest area first with noise on its key.

Schedules are chaotic: two jobs swapped early can move the mean over ten sequences by several points. A
difference between two policies that lies within this band says nothing.
"""

from __future__ import annotations

from collections.abc import Sequence as Many
from typing import Any, NamedTuple

import numpy as np

from hpcsim.cluster import Cluster
from hpcsim.experiments.evaluation.contenders import Contender, Mode
from hpcsim.experiments.evaluation.runner import Progress, Score, evaluate
from hpcsim.job import Job
from hpcsim.policy import Order
from hpcsim.system import System

SIGMA = 0.05
"""Standard deviation of the natural logarithm of the noise: about 5 %."""

DRAWS = 40


class NoisySAF(Order):
    """Smallest area first, each job's area times a log-normal factor that is drawn at its arrival.

    Parameters:
        sigma: standard deviation of the factor's natural logarithm; 0 is SAF.
        draw: seed of the factors.
    """

    sigma: float = SIGMA
    draw: int = 0

    def reset(self, cluster: Cluster, rng: np.random.Generator) -> None:
        """Forget the queue and draw from the start; *rng* is not used, so that a draw is the same in any run."""
        super().reset(cluster, rng)
        self._noise = np.random.default_rng(self.draw)

    def key(self, job: Job, system: System) -> Any:
        """Return the requested node-seconds, with noise."""
        return job.area_node_s * float(np.exp(self.sigma * self._noise.standard_normal()))


class NoiseBand(NamedTuple):
    """Means of a suite, one a draw of the noise.

    Attributes:
        sigma: of the noise.
        means: mean bounded slowdown over the suite's sequences.
        scores: mean over the draws, one a sequence; the largest of longest waits.
    """

    sigma: float
    means: tuple[float, ...]
    scores: Many[Score]

    def sentence(self) -> str:
        """Return what the band is and what it is good for, in words."""
        mean, low, high = np.mean(self.means), min(self.means), max(self.means)
        deviation = np.std(self.means, ddof=1) if len(self.means) > 1 else float("nan")
        return (
            f"Noise band: saf with {self.sigma:.0%} noise on its key, {len(self.means)} draws: mean slowdown "
            f"{mean:.1f}, standard deviation {deviation:.1f}, from {low:.1f} to {high:.1f}. A difference within "
            "that says nothing."
        )


def noisy(label: str, sigma: float, **draw: int) -> Contender:
    """Return smallest area first with noise as a contender."""
    return Contender(label, f"{NoisySAF.__module__}:{NoisySAF.__name__}", {"sigma": sigma, **draw})


def noise_band(
    suite: str,
    mode: Mode,
    draws: int,
    *,
    data: str | None = None,
    sequences: int | None = None,
    workers: int = 1,
    progress: Progress | None = None,
) -> NoiseBand:
    """Return the noise band of a suite; arguments are those of `hpcsim.experiments.evaluation.runner.evaluate`."""
    contenders = [noisy(f"draw {draw}", SIGMA, draw=draw) for draw in range(draws)]
    scores = evaluate(contenders, suite, mode, data=data, sequences=sequences, workers=workers, progress=progress)
    means = (float(np.mean([score.mean_bounded_slowdown for score in found])) for found in scores.values())
    return NoiseBand(SIGMA, tuple(means), [_over_draws(found) for found in zip(*scores.values(), strict=True)])


def _over_draws(found: Many[Score]) -> Score:
    means = {name: float(np.mean([getattr(score, name) for score in found])) for name in Score._fields}
    return Score(**means | {"max_wait_s": max(score.max_wait_s for score in found)})
