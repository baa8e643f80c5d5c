"""From a front to one node count: the rules by which an advisor chooses, and what it may choose from.

Every rule gives each count a cost; the least wins, and of equals the one with fewest nodes. A count
whose prediction is not finite, or that a rule's condition excludes, is never chosen.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hpcsim.errors import InvalidArgument, closest
from hpcsim.search import is_on_front

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Candidates:
    """What one job is predicted to take at N node counts.

    Attributes:
        nodes: counts, shape [N].
        run_s: run time in seconds, shape [N].
        power_w: power of the whole job in watts, shape [N].
        upper_run_s: upper quantile of the run time, for `deadline`; the run time itself if not given.
    """

    nodes: NDArray[np.int64]
    run_s: Floats
    power_w: Floats
    upper_run_s: Floats | None = None

    @property
    def energy_j(self) -> Floats:
        """The energy of the job in joules at each count."""
        return self.run_s * self.power_w

    def at(self, places: NDArray[np.bool_] | NDArray[np.int64]) -> Candidates:
        """Return the candidates at *places*, a mask or indices."""
        upper = None if self.upper_run_s is None else self.upper_run_s[places]
        return Candidates(self.nodes[places], self.run_s[places], self.power_w[places], upper)


@dataclass(frozen=True, slots=True)
class Wishes:
    """Parameters of the rules; each rule says which it needs.

    Attributes:
        weight: share of the run time's logarithm in `weighted`, 0 to 1.
        power_cap_w: most watts of the job, for `cap`.
        limit_s: longest run time at the upper quantile, for `deadline`.
        slowdown: x in T <= (1 + x) T_user, for `slowdown`; 0 or more.
        user_nodes: the count that the user asked for, for `slowdown`.
    """

    weight: float = 0.5
    power_cap_w: float | None = None
    limit_s: float | None = None
    slowdown: float = 0.2
    user_nodes: int | None = None


def select(candidates: Candidates, rule: str = "edp", wishes: Wishes | None = None) -> int | None:
    """Return the node count that *rule* chooses, or None where no count is feasible.

    Rules: ``knee`` of (run time, power), farthest from the chord between the ends of the front in
    normalised log space; ``knee-energy``, the same of (run time, energy); ``weighted``
    w log T + (1 - w) log P; ``energy`` T P; ``edp`` T^2 P; ``ed2p`` T^3 P; ``cap``, least T with
    P <= cap; ``deadline``, least energy with upper T <= limit; ``slowdown``, least P with
    T <= (1 + x) T_user.

    Raises:
        InvalidArgument: there is no such rule, or it lacks a wish.
    """
    if rule not in RULES:
        raise InvalidArgument(f"There is no rule '{rule}'.{closest(rule, RULES)}", f"Known: {', '.join(RULES)}.")
    is_known = np.isfinite(candidates.run_s) & np.isfinite(candidates.power_w)
    known = candidates.at(is_known & (candidates.run_s > 0) & (candidates.power_w > 0))
    if not len(known.nodes):
        return None
    cost = RULES[rule](known, wishes or Wishes())
    place = int(np.lexsort((known.nodes, cost))[0])
    return int(known.nodes[place]) if np.isfinite(cost[place]) else None


def feasible(
    nodes: ArrayLike,
    *,
    most_nodes: int | None = None,
    allowed: Collection[int] | None = None,
    memory_bytes: float = 0.0,
    node_memory_bytes: float | None = None,
) -> NDArray[np.int64]:
    """Return those of *nodes* that the job may run at, ascending and each once.

    Args:
        nodes: counts asked about.
        most_nodes: of the partition.
        allowed: widths that the application supports, such as powers of two; None for any.
        memory_bytes: of the whole job, which its nodes have to hold together.
        node_memory_bytes: of one node; None where memory does not matter.
    """
    counts = np.unique(np.asarray(nodes, dtype=np.int64))
    counts = counts[counts >= 1]
    if most_nodes is not None:
        counts = counts[counts <= most_nodes]
    if allowed is not None:
        counts = counts[np.isin(counts, list(allowed))]
    if node_memory_bytes is not None:
        counts = counts[counts * node_memory_bytes >= memory_bytes]
    return counts


def _knee(first: Floats, second: Floats) -> Floats:
    """Return the cost of each point: minus its distance from the chord, towards the ideal; inf off the front."""
    logs = np.log(np.stack([first, second], axis=1))
    is_front = is_on_front(logs)
    low, high = logs[is_front].min(axis=0), logs[is_front].max(axis=0)
    scaled = (logs - low) / np.where(high > low, high - low, 1.0)
    return np.where(is_front, np.round(scaled.sum(axis=1) - 1.0, 12) / np.sqrt(2), np.inf)


def _cap(candidates: Candidates, wishes: Wishes) -> Floats:
    cap_w = _wanted("cap", "power_cap_w", wishes.power_cap_w)
    return np.where(candidates.power_w <= cap_w, candidates.run_s, np.inf)


def _deadline(candidates: Candidates, wishes: Wishes) -> Floats:
    limit_s = _wanted("deadline", "limit_s", wishes.limit_s)
    upper_s = candidates.run_s if candidates.upper_run_s is None else candidates.upper_run_s
    return np.where(upper_s <= limit_s, candidates.energy_j, np.inf)


def _slowdown(candidates: Candidates, wishes: Wishes) -> Floats:
    user = _wanted("slowdown", "user_nodes", wishes.user_nodes)
    own_s = candidates.run_s[candidates.nodes == user]
    if not len(own_s):
        raise InvalidArgument(f"The user's count {user:g} is no candidate.", "Predict at the user's count as well.")
    return np.where(candidates.run_s <= (1 + wishes.slowdown) * own_s[0], candidates.power_w, np.inf)


def _weighted(candidates: Candidates, wishes: Wishes) -> Floats:
    if not 0 <= wishes.weight <= 1:
        raise InvalidArgument(f"The weight is {wishes.weight}.", "Give a share from 0 to 1.")
    return wishes.weight * np.log(candidates.run_s) + (1 - wishes.weight) * np.log(candidates.power_w)


def _wanted(rule: str, name: str, value: float | None) -> float:
    if value is None:
        raise InvalidArgument(f"The rule '{rule}' needs {name}.", f"Set {name} of Wishes.")
    return value


RULES: dict[str, Callable[[Candidates, Wishes], Floats]] = {
    "knee": lambda found, _: _knee(found.run_s, found.power_w),
    "knee-energy": lambda found, _: _knee(found.run_s, found.energy_j),
    "weighted": _weighted,
    "energy": lambda found, _: found.energy_j,
    "edp": lambda found, _: found.energy_j * found.run_s,
    "ed2p": lambda found, _: found.energy_j * found.run_s**2,
    "cap": _cap,
    "deadline": _deadline,
    "slowdown": _slowdown,
}
"""Every rule by its name."""
