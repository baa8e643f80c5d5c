"""An evaluation as plain data: one record a contender and suite."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from collections.abc import Sequence as Many
from typing import Any

from hpcsim.experiments.evaluation.contenders import Contender, Mode
from hpcsim.experiments.evaluation.noise import NoiseBand, noisy
from hpcsim.experiments.evaluation.runner import Score
from hpcsim.experiments.evaluation.sequences import Tested


def records(
    contenders: Mapping[Contender, int | None],
    scores: Mapping[str, Many[Score]],
    sequences: Many[Tested],
    suite: str,
    mode: Mode,
    noise: NoiseBand | None = None,
) -> Iterator[dict[str, Any]]:
    """Yield one record a contender: its figures over the suite, and those of every sequence.

    *contenders* has the training seed of each, None of one that was not trained. The noise band is one
    record more, of the noisy rule; its figures are means over draws, and ``draws`` has the mean of each.
    """
    for contender, seed in contenders.items():
        yield _record(contender, scores[contender.label], sequences, suite, mode) | {"training_seed": seed}
    if noise is not None:
        label = f"saf, {noise.sigma:.0%} noise, {len(noise.means)} draws"
        yield _record(noisy(label, noise.sigma), noise.scores, sequences, suite, mode) | {"draws": list(noise.means)}


def _record(
    contender: Contender, scores: Many[Score], sequences: Many[Tested], suite: str, mode: Mode
) -> dict[str, Any]:
    return {
        "policy": contender.name,
        "label": contender.label,
        "parameters": dict(contender.parameters),
        "suite": suite,
        "mode": mode,
        "training_seed": None,
        **_means(scores),
        "per_sequence": [_row(sequence, score) for sequence, score in zip(sequences, scores, strict=True)],
    }


def _row(sequence: Tested, score: Score) -> dict[str, Any]:
    return {
        "sequence": sequence.label,
        "source": sequence.source,
        "condition": sequence.condition,
        "jobs": sequence.jobs,
        **score._asdict(),
    }


def _means(scores: Many[Score]) -> dict[str, float]:
    def mean(name: str) -> float:
        return math.fsum(getattr(score, name) for score in scores) / len(scores)

    return {
        "mean_bounded_slowdown": mean("mean_bounded_slowdown"),
        "mean_wait_s": mean("mean_wait_s"),
        "max_wait_s": max(score.max_wait_s for score in scores),
        "utilisation": mean("utilisation"),
    }
