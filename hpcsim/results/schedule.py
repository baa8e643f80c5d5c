"""A finished schedule as arrays: who waited, held nodes and was promised a start, from which instant to which."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from hpcsim.results.result import Result

Values = NDArray[Any]


def counts_nodes(result: Result) -> bool:
    """Tell whether any free nodes of the machine serve any job, so that counts say who could have started."""
    return bool(result.provenance.get("books", "counting") == "counting")


@dataclass(frozen=True, slots=True)
class Schedule:
    """What explaining a wait needs, between *low_s* and *high_s* of the run.

    Instants are indices into `time_s`; spans of instants are half-open. Jobs are positions in the
    table of jobs; only attempts and promises that fall into the time are there.

    Attributes:
        time_s: every instant at which something changed, ascending.
        free: nodes that no job holds from each instant to the next.
        submit_s, eligible_s, left_s: of each job; it left the queue by a start, an end or the cut.
        nodes, limit_s: what each job asks for.
        first, last: span of the instants at which each job waits.
        held_by, held_from, held_to: job and span of each attempt.
        claim_of, claim_from, claim_to, claim_s: job, span and promised start of each promise.
    """

    time_s: Values
    free: Values
    submit_s: Values
    eligible_s: Values
    left_s: Values
    nodes: Values
    limit_s: Values
    first: Values
    last: Values
    held_by: Values
    held_from: Values
    held_to: Values
    held_start_s: Values
    claim_of: Values
    claim_from: Values
    claim_to: Values
    claim_s: Values

    @classmethod
    def of(cls, result: Result, low_s: float = -np.inf, high_s: float = np.inf) -> Self:
        """Return the schedule of *result* from *low_s* to *high_s* seconds, both instants included.

        The machine's nodes have to be alike and without power (`counts_nodes`).
        """
        jobs, attempts = result.jobs, result.attempts
        position = np.full(int(jobs["row"].max()) + 1 if len(jobs) else 1, -1)
        position[jobs["row"].to_numpy()] = np.arange(len(jobs))
        eligible_s, left_s = jobs["eligible_s"].to_numpy(), left_queue_s(result)
        start_s, end_s = attempts["start_s"].to_numpy(), attempts["end_s"].to_numpy()
        end_s = np.where(np.isnan(end_s), np.inf, end_s)
        overlaps = (start_s < high_s) & (end_s > low_s)
        held_by, start_s, end_s = position[attempts["row"].to_numpy()[overlaps]], start_s[overlaps], end_s[overlaps]
        claim_of, made_s, until_s, claim_s = _claims(result, position, left_s, low_s, high_s)
        waits = (eligible_s <= high_s) & (left_s >= low_s)
        every = np.concatenate([eligible_s[waits], left_s[waits], start_s, end_s, made_s, until_s])
        bounds = [bound for bound in (low_s, high_s) if np.isfinite(bound)]
        time_s = np.unique(np.concatenate([every[np.isfinite(every) & (every >= low_s) & (every <= high_s)], bounds]))
        held_from, held_to = _places(time_s, start_s), _places(time_s, end_s)
        nodes = jobs["nodes"].to_numpy().astype(np.int64)
        used = _level(nodes[held_by], held_from, held_to, len(time_s))
        return cls(
            time_s=time_s,
            free=result.nodes - used,
            submit_s=jobs["submit_s"].to_numpy(),
            eligible_s=eligible_s,
            left_s=left_s,
            nodes=nodes,
            limit_s=jobs["limit_s"].to_numpy(),
            first=_places(time_s, eligible_s),
            last=_places(time_s, left_s),
            held_by=held_by,
            held_from=held_from,
            held_to=held_to,
            held_start_s=start_s,
            claim_of=claim_of,
            claim_from=_places(time_s, made_s),
            claim_to=_places(time_s, until_s),
            claim_s=claim_s,
        )

    def loads(self) -> Values:
        """Return how many attempts and promises hold at each instant."""
        count = len(self.time_s)
        held = _level(np.ones(len(self.held_from)), self.held_from, self.held_to, count)
        promised = _level(np.ones(len(self.claim_from)), self.claim_from, self.claim_to, count)
        return held + promised


def left_queue_s(result: Result) -> Values:
    """Return when each job left the queue, in seconds: at its start, else its end, else when the run was cut."""
    start_s, end_s = result.jobs["start_s"].to_numpy(), result.jobs["end_s"].to_numpy()
    clock_s = float(result.provenance["clock_s"])
    left_s = np.where(np.isnan(start_s), np.where(np.isnan(end_s), clock_s, end_s), start_s)
    not_before: Values = np.maximum(left_s, result.jobs["eligible_s"].to_numpy())
    return not_before


def _claims(
    result: Result, position: Values, left_s: Values, low_s: float, high_s: float
) -> tuple[Values, Values, Values, Values]:
    """Return job, first and last second and promised start of each promise that held for some time."""
    table = result.promises
    of = position[table["row"].to_numpy()]
    made_s, start_s = table["time_s"].to_numpy(), table["start_s"].to_numpy()
    order = np.argsort(of, kind="stable")
    of, made_s, start_s = of[order], made_s[order], start_s[order]
    is_last = np.append(of[1:] != of[:-1], True)[: len(of)]
    until_s = np.where(is_last, np.inf, np.append(made_s[1:], np.inf)[: len(of)])
    until_s = np.minimum(until_s, left_s[of])
    holds = (made_s < until_s) & np.isfinite(start_s) & (made_s < high_s) & (until_s > low_s)
    return of[holds], made_s[holds], until_s[holds], start_s[holds]


def _places(time_s: Values, when_s: Values) -> Values:
    """Return the instant of each time; times before the first count as the first, later ones as the last."""
    return np.minimum(np.searchsorted(time_s, when_s), max(len(time_s) - 1, 0))


def _level(amount: Values, first: Values, last: Values, count: int) -> Values:
    """Return the sum of the amounts whose spans cover each of *count* instants, as whole numbers."""
    change = np.bincount(first, weights=amount, minlength=count) - np.bincount(last, weights=amount, minlength=count)
    level: Values = np.cumsum(np.rint(change).astype(np.int64))
    return level
