"""Waits that were written down during the run (`hpcsim.results.wait_recorder`), as an explanation needs them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from hpcsim.errors import Unsupported
from hpcsim.results.schedule import counts_nodes
from hpcsim.results.waiting_causes import CAUSES, Cause

if TYPE_CHECKING:
    import pandas as pd

    from hpcsim.results.result import Result

Values = NDArray[Any]


def can_explain(result: Result) -> bool:
    """Tell whether waits of *result* can be explained: nodes were merely counted, or waits were recorded."""
    return counts_nodes(result) or result.waits is not None


def recorded(result: Result) -> pd.DataFrame | None:
    """Return the recorded waits of *result*, None where they follow from its other tables.

    Raises:
        Unsupported: neither.
    """
    if counts_nodes(result):
        return None
    if result.waits is None:
        raise Unsupported(
            f"Waits on cluster '{result.provenance['cluster']['name']}' were not recorded: where nodes differ, are "
            "shared or have power, they cannot be told afterwards.",
            "Run it again with simulate(..., explain=True), or hpcsim run --explain.",
        )
    return result.waits


def split_recorded(result: Result, waits: pd.DataFrame, targets: Values) -> Values:
    """Return the seconds of each of *targets*, positions in the table of jobs, by cause. Shape [targets, causes]."""
    rows = result.jobs["row"].to_numpy()
    code = {str(cause): at for at, cause in enumerate(CAUSES)}
    codes = np.array([code[cause] for cause in waits["cause"].tolist()], dtype=np.int64)
    seconds = (waits["to_s"] - waits["from_s"]).to_numpy()
    width = len(CAUSES)
    owner = waits["row"].to_numpy(dtype=np.int64)
    size = width * (int(rows.max(initial=0)) + 1)
    sums: Values = np.bincount(owner * width + codes, weights=seconds, minlength=size).astype(float).reshape(-1, width)
    parts: Values = sums[rows[targets]]
    held_s = (result.jobs["eligible_s"] - result.jobs["submit_s"]).to_numpy()[targets]
    parts[:, CAUSES.index(Cause.DEPENDENCY)] += held_s
    return parts


def stretches_of(result: Result, waits: pd.DataFrame, at: int) -> list[tuple[float, float, Cause, int]]:
    """Return the wait of the job at position *at* in order: from, to, cause, position of the blocker (-1: none)."""
    job = result.jobs.iloc[at]
    position = dict(zip(result.jobs["row"].tolist(), range(len(result.jobs)), strict=True))
    before = [(float(job["submit_s"]), float(job["eligible_s"]), Cause.DEPENDENCY, -1)]
    own = waits[waits["row"] == job["row"]]
    after = [
        (entry.from_s, entry.to_s, Cause(entry.cause), position.get(entry.blocker, -1)) for entry in own.itertuples()
    ]
    return [cut for cut in [*before, *after] if cut[1] > cut[0]]


def holders_of(result: Result, stretches: list[tuple[float, float, Cause, int]]) -> tuple[Values, Values]:
    """Return who held nodes while too few were free, by position, and each one's share of those seconds.

    Each second is shared out by the nodes that every running job holds, whatever their kind; a shared
    node counts for each job on it.
    """
    attempts = result.attempts
    start_s = attempts["start_s"].to_numpy()
    end_s = np.nan_to_num(attempts["end_s"].to_numpy(), nan=np.inf)
    nodes = attempts["nodes"].to_numpy(dtype=float)
    seconds = np.zeros(len(attempts))
    for from_s, to_s, cause, _ in stretches:
        if cause is not Cause.TOO_FEW_FREE:
            continue
        inside = np.flatnonzero((start_s < to_s) & (end_s > from_s))
        bounds = np.unique(np.clip(np.concatenate([[from_s, to_s], start_s[inside], end_s[inside]]), from_s, to_s))
        holds = (start_s[inside] <= bounds[:-1, None]) & (end_s[inside] >= bounds[1:, None])
        held = holds * nodes[inside]
        shares = np.diff(bounds)[:, None] * held / np.maximum(held.sum(axis=1), 1)[:, None]
        seconds[inside] += shares.sum(axis=0)
    rows = result.jobs["row"].to_numpy()
    position = np.full(int(rows.max(initial=0)) + 1, -1)
    position[rows] = np.arange(len(rows))
    return position[attempts["row"].to_numpy()], seconds
