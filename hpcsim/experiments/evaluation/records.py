"""An evaluation as plain data and as Markdown."""

from __future__ import annotations

import math
from collections.abc import Mapping
from collections.abc import Sequence as Many
from typing import Any

from hpcsim.experiments.evaluation.contenders import Contender, Mode
from hpcsim.experiments.evaluation.runner import Score
from hpcsim.experiments.evaluation.sequences import Sequence
from hpcsim.experiments.evaluation.standing import OverSeeds, Standing
from hpcsim.results.quantities import duration, number
from hpcsim.results.statistics import Interval

HEADINGS = ("policy", "slowdown", "ratio", "95 %", "won", "mean wait", "longest", "util.")


def records(
    contenders: Mapping[Contender, int | None],
    scores: Mapping[str, Many[Score]],
    sequences: Many[Sequence],
    suite: str,
    mode: Mode,
) -> list[dict[str, Any]]:
    """Return one record a contender: its figures over the suite, and those of every sequence.

    *contenders* has the training seed of each, None of one that was not trained.
    """
    return [
        {
            "policy": contender.name,
            "label": contender.label,
            "parameters": dict(contender.parameters),
            "suite": suite,
            "mode": mode,
            "training_seed": seed,
            **_means(scores[contender.label]),
            "per_sequence": [
                {
                    "sequence": sequence.label,
                    "source": sequence.source,
                    "condition": sequence.condition,
                    "jobs": len(sequence.workload),
                }
                | score._asdict()
                for sequence, score in zip(sequences, scores[contender.label], strict=True)
            ],
        }
        for contender, seed in contenders.items()
    ]


def _means(scores: Many[Score]) -> dict[str, float]:
    def mean(name: str) -> float:
        return math.fsum(getattr(score, name) for score in scores) / len(scores)

    return {
        "mean_bounded_slowdown": mean("mean_bounded_slowdown"),
        "mean_wait_s": mean("mean_wait_s"),
        "max_wait_s": max(score.max_wait_s for score in scores),
        "utilisation": mean("utilisation"),
    }


def row(standing: Standing) -> tuple[str, ...]:
    """Return the cells of a contender under `HEADINGS`."""
    return (
        standing.label,
        number(standing.mean),
        f"{standing.ratio.estimate:.3f}",
        _ends(standing.ratio),
        f"{standing.won:.0%}",
        duration(standing.mean_wait_s),
        duration(standing.max_wait_s),
        f"{standing.utilisation:.0%}",
    )


def _ends(interval: Interval) -> str:
    return "" if math.isnan(interval.low) else f"{interval.low:.3f}-{interval.high:.3f}"


def sentence_of(together: OverSeeds, reference: str) -> str:
    """Return what several training seeds together are worth, in words."""
    profile = ", ".join(f"{share:.0%} at {limit:g}" for limit, share in together.profile.items())
    return (
        f"{together.label}, {together.seeds} training seeds: interquartile mean of the ratio to {reference} "
        f"{together.ratio:.3f} ({together.low:.3f} to {together.high:.3f}); better with probability "
        f"{together.improvement:.2f} ({together.improvement_low:.2f} to {together.improvement_high:.2f}); "
        f"share of runs with a ratio of at most: {profile}."
    )


def markdown(title: str, rows: Many[tuple[str, ...]], notes: Many[str]) -> str:
    """Return a table under `HEADINGS` with *notes* below it."""
    lines = [f"### {title}", "", f"| {' | '.join(HEADINGS)} |", f"| --- |{' ---: |' * (len(HEADINGS) - 1)}"]
    lines += [f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |" for cells in rows]
    return "\n".join([*lines, "", *(f"{note}\n" for note in notes)])
