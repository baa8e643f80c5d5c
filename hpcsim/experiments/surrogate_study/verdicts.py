"""Do embeddings help (H1), and does MOBO beat SOBO and chance (H2)? Decided by paired intervals; "no" is an answer.

What is paired saw the same: two surrogates the same log and seed, two engines the same predictions of
the same job. A claim holds if the intervals of all its comparisons lie on its side of 0.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from hpcsim.experiments.surrogate_study.plan import BESIDE_RAW, EMBEDDED, Cell
from hpcsim.results.statistics import holm
from hpcsim.results.statistics.student import mean_interval

Results = Sequence[tuple[Cell, dict[str, Any]]]
Trace = Sequence[dict[str, Any]]

MOBO, OTHERS = ("mobo", "mobo-fixed"), ("sobo-runtime", "sobo-power", "random", "random-shared")


@dataclass(frozen=True, slots=True)
class Comparison:
    """One against another on the same pairs; *gain* is positive where the first is better.

    Attributes:
        claim: H1 or H2.
        first, second: what is compared.
        measure: ``true hv_ratio`` and ``run rmse_log`` of table B; ``HV share at K``, of the exact predicted front's
            hypervolume after K evaluations.
        pairs: how many.
        gain, low, high: mean difference and the ends of its 95 % Student interval, NaN below two pairs.
        p_value: two-sided, Holm-adjusted within the claim.
    """

    claim: str
    first: str
    second: str
    measure: str
    pairs: int
    gain: float
    low: float
    high: float
    p_value: float

    @property
    def shown(self) -> str:
        """``better``, ``worse``, ``none`` (the interval holds 0) or ``no interval``."""
        if math.isnan(self.low):
            return "no interval"
        return "better" if self.low > 0 else "worse" if self.high < 0 else "none"


def compared(
    claim: str, first: str, second: str, measure: str, gains: Sequence[float] | np.ndarray[Any, Any]
) -> Comparison:
    """Return the comparison whose paired differences are *gains*; NaN ones are left out."""
    values = np.asarray(gains, dtype=np.float64)
    values = values[np.isfinite(values)]
    return Comparison(claim, first, second, measure, len(values), *mean_interval(values))


def comparisons(results: Results, *, is_one_log: bool = False) -> list[Comparison]:
    """Return every comparison that the cells allow, p-values adjusted within each claim.

    Where all seeds have the same log (*is_one_log*), as with a file, they search the same jobs: a job counts once
    then, by its mean over seeds, since repeats of one job are no further evidence.
    """
    answer = []
    for found in (list(_embeddings(results)), list(_engines(results, is_one_log=is_one_log))):
        adjusted = holm([one.p_value for one in found])
        answer += [replace(one, p_value=float(p)) for one, p in zip(found, adjusted, strict=True)]
    return answer


def verdicts(found: Sequence[Comparison]) -> dict[str, str]:
    """Return what is decided: ``H1``, ``H2`` -> ``yes``, ``no`` or ``not decided``, and why.

    H1 rests on raw and embedded inputs together against raw ones of the same trees, graded by the truth or, without
    one, by the error of run times; TabNet by itself decides nothing. H2 rests on the loop as published, or without it
    on ``mobo-fixed``.
    """
    honest = [one for one in found if one.claim == "H1" and _is_beside_raw(one)]
    engine = "mobo" if any(one.first == "mobo" for one in found) else "mobo-fixed"
    search = [one for one in found if one.claim == "H2" and one.first == engine]
    measure = next((name for name in ("hv_ratio", "rmse_log") if any(name in one.measure for one in honest)), "")
    return {
        "H1": _decided([one for one in honest if measure in one.measure], "embeddings beside raw features help"),
        "H2": _decided(search, f"{engine} beats SOBO and random search"),
    }


def _is_beside_raw(one: Comparison) -> bool:
    family, _, inputs = one.first.partition(", ")
    return inputs in BESIDE_RAW and one.second == f"{family}, raw"


def _decided(found: Sequence[Comparison], claim: str) -> str:
    if not found or any(one.shown == "no interval" for one in found):
        return f"not decided, too few pairs: {claim}"
    wins = sum(one.shown == "better" for one in found)
    losses = [f"{one.first} is worse than {one.second}" for one in found if one.shown == "worse"]
    answer = "yes" if wins == len(found) else "no"
    text = f"{answer}, {wins} of {len(found)} comparisons show it: {claim}"
    return text + (f"; {', '.join(losses)}" if losses else "")


def _embeddings(results: Results) -> Iterator[Comparison]:
    """Yield embedded inputs against raw ones, and against TabNet itself, as the paper compares."""
    cells = {(cell.family, cell.inputs, cell.seed): answer for cell, answer in results if _is_plain(cell)}
    families = sorted({family for family, inputs, _ in cells if inputs in EMBEDDED})
    for family in families:
        for inputs in sorted({inputs for name, inputs, _ in cells if name == family and inputs in EMBEDDED}):
            for other in ((family, "raw"), ("tabnet", "raw")):
                yield from _on_seeds(cells, (family, inputs), other)


def _on_seeds(cells: dict[Any, Any], first: tuple[str, str], second: tuple[str, str]) -> Iterator[Comparison]:
    seeds = [seed for *kind, seed in cells if tuple(kind) == first and (*second, seed) in cells]
    measures = (("hv_ratio", 1, "true hv_ratio"), ("run_rmse_log", -1, "run rmse_log"))
    for key, sign, measure in measures:
        rows = [(cells[*first, seed]["truth_graded"], cells[*second, seed]["truth_graded"]) for seed in seeds]
        pairs = [(ours[key], theirs[key]) for ours, theirs in rows if key in ours and key in theirs]
        gains = [sign * (ours - theirs) for ours, theirs in pairs if ours is not None and theirs is not None]
        if gains:
            yield compared("H1", ", ".join(first), ", ".join(second), measure, gains)


def _engines(results: Results, *, is_one_log: bool) -> Iterator[Comparison]:
    """Yield each MOBO against each other engine, at the evaluations that both have made."""
    traces: dict[tuple[str, int], Trace] = {}
    for cell, answer in results:
        if cell.factor == "engine":
            traces[cell.engine, cell.seed] = answer["trace"]
    for first in MOBO:
        for second in OTHERS:
            seeds = [seed for engine, seed in traces if engine == first and (second, seed) in traces]
            both = [(traces[first, seed], traces[second, seed]) for seed in seeds]
            count = _last_common(both)
            gains = [
                [
                    math.nan if a is None or b is None else a - b
                    for a, b in zip(_shares(ours, count), _shares(theirs, count), strict=False)
                ]
                for ours, theirs in both
            ]
            if gains:
                measure = f"HV share at {count:g}"
                by_job = np.array(gains, dtype=float)  # of several logs the jobs are others for each seed
                yield compared("H2", first, second, measure, by_job.mean(axis=0) if is_one_log else by_job.ravel())


def _last_common(pairs: Sequence[tuple[Trace, Trace]]) -> float:
    """Return the most evaluations at which all traces of *pairs* have a row, so that nobody is given a head start."""
    noted = [{row["evaluations"] for row in trace} for pair in pairs for trace in pair]
    return max(set.intersection(*noted), default=0) if noted else 0


def _shares(trace: Trace, count: float) -> list[float | None]:
    """Return the share of each job after *count* evaluations; nothing where the trace has no such row."""
    row: dict[str, Any] = next((row for row in trace if row["evaluations"] == count), {"by_job": []})
    shares: list[float | None] = row["by_job"]
    return shares


def _is_plain(cell: Cell) -> bool:
    return cell.engine == "exact" and cell.rate == 1 and cell.factor != "engine"
