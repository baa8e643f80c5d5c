"""What a record of a network's decisions shows, in words and in numbers: is its memory used at all?"""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from hpcsim.inspection import Inspection
from hpcsim.results.quantities import count, percentage

Floats = NDArray[np.float64]

SELDOM = 0.05
"""Memory that changes at most this share of the choices hardly matters."""


def by_age(inspection: Inspection) -> Floats:
    """Return [heads, span], mean weight on decisions of each age over the queries that could see one; NaN: none."""
    seen = ~np.isnan(inspection.attention)
    total, there = np.where(seen, inspection.attention, 0).sum(axis=0), seen.sum(axis=0)
    means: Floats = np.where(there > 0, total / np.maximum(there, 1), np.nan)
    return means


def if_uniform(inspection: Inspection) -> Floats:
    """Return [span], the same of a head that looks at everything it sees alike."""
    seen = ~np.isnan(inspection.attention[:, 0])
    alike = seen / np.maximum(seen.sum(axis=1, keepdims=True), 1)
    there = seen.sum(axis=0)
    means: Floats = np.where(there > 0, alike.sum(axis=0) / np.maximum(there, 1), np.nan)
    return means


def on_the_past(inspection: Inspection) -> Floats:
    """Return [heads], mean weight on all earlier decisions together, of queries that could see some."""
    could = ~np.isnan(inspection.attention[:, 0, 1:]).all(axis=1) if inspection.attention.shape[2] > 1 else np.zeros(0)
    if not could.any():
        return np.full(len(inspection.heads), math.nan)
    past: Floats = 1 - inspection.attention[could, :, 0].mean(axis=0)
    return past


def changed_by_memory(inspection: Inspection) -> NDArray[np.bool_]:
    """Return [N], whether the network would have chosen another job without its past."""
    changed: NDArray[np.bool_] = inspection.columns["alone_job_id"] != inspection.columns["job_id"]
    return changed


def disagreements(inspection: Inspection) -> NDArray[np.bool_]:
    """Return [N], whether the network chose another job than the rule."""
    other: NDArray[np.bool_] = inspection.columns["rule_job_id"] != inspection.columns["job_id"]
    return other


def verdict(inspection: Inspection) -> str:
    """Return whether memory is used, in a sentence."""
    changed = changed_by_memory(inspection)
    told = f"hiding the past from the network changes {changed.sum():,} of its {count(len(changed), 'choice')}"
    if not changed.any():
        return f"Memory decides nothing here: {told}."
    if changed.mean() <= SELDOM:
        return f"Memory hardly matters here: {told} ({percentage(changed.mean())})."
    return f"Memory is used: {told} ({percentage(changed.mean())}). That does not say that it helps."


def sentences(inspection: Inspection) -> Iterator[str]:
    """Yield what stands behind the verdict, and how the network differs from the rule."""
    moved = inspection.columns["moved"].astype(float)
    yield (
        f"Without its past, its probabilities over the waiting jobs differ by {moved.mean():.3f} on average and "
        f"{moved.max():.3f} at most (total variation: 0 the same, 1 nothing in common)."
    )
    past = ", ".join(f"{share:.0%}" for share in on_the_past(inspection))
    alike = 1 - if_uniform(inspection)[0] if len(inspection) else math.nan
    yield f"Attention on earlier decisions, by head: {past}; a head that looks at all it sees alike: {alike:.0%}."
    for name, openness in inspection.gates.items():
        yield (
            f"Gate of {name}: {openness.mean():.0%} open on average, {openness.min():.0%} to {openness.max():.0%}; "
            f"untrained {inspection.gates_at_first:.0%}."
        )
    yield _difference(inspection)


def _alike(inspection: Inspection, among: NDArray[np.bool_]) -> int:
    """Return in how many of some decisions the job chosen and the rule's ask for the same nodes and time."""
    same = [inspection.columns[name] == inspection.columns[f"rule_{name}"] for name in ("nodes", "limit_s")]
    return int((same[0] & same[1] & among).sum())


def _difference(inspection: Inspection) -> str:
    """Return how often the network and the rule differ, and what it takes then."""
    other = disagreements(inspection)
    rule = f"its prior, {inspection.rule}," if inspection.is_prior else f"{inspection.rule} (it has no prior)"
    if not other.any():
        return f"It always chooses what {rule} would."
    compared = []
    for name, words in (("area_node_s", "area"), ("nodes", "nodes"), ("limit_s", "requested time")):
        mine, theirs = (inspection.columns[f"{each}{name}"][other].astype(float) for each in ("", "rule_"))
        usable = np.isfinite(mine) & np.isfinite(theirs) & (mine > 0) & (theirs > 0)
        compared.append(f"{np.median(mine[usable] / theirs[usable]):.2g} times the {words}" if usable.any() else "")
    mine_s, theirs_s = (inspection.columns[name][other].astype(float) for name in ("wait_s", "rule_wait_s"))
    return (
        f"It differs from {rule} in {other.sum():,} of {count(len(other), 'decision')} ({percentage(other.mean())}). "
        f"Then its job has, in the median, {', '.join(filter(None, compared))} of the other's, and has waited longer "
        f"in {percentage((mine_s > theirs_s).mean())} of them. In {_alike(inspection, other):,} of them both jobs ask "
        "for the same."
    )
