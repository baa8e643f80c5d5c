"""An advisor that forecasts a job at its node counts and lets a rule choose: all but where forecasts come from."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Callable
from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hpcsim.advisor import Advice, Advisor, Reason
from hpcsim.cluster import Cluster
from hpcsim.errors import HpcsimError, InvalidArgument
from hpcsim.job import Job
from hpcsim.surrogates.advice import candidates, rules
from hpcsim.surrogates.advice.forecast import Forecast
from hpcsim.surrogates.advice.waits import DEPTH, PlannedQueue
from hpcsim.surrogates.advisors import kept, whole_limit_s
from hpcsim.system import System

Floats = NDArray[np.float64]
Mask = NDArray[np.bool_]
Places = NDArray[np.int64]

FALLBACK = rules.parse("deadline(1.2)")
"""Chooses in place of a rule that looks at the queue where nobody can say how long a job would wait."""


class RuleAdvisor(Advisor):
    """Advise the count that costs least by a rule, of those that a job may have.

    Args:
        rule: see `hpcsim.surrogates.advice.rules`.
        guard: while anybody waits, advise no count that takes more node-seconds than the request.
        allow_unsafe: let rules that ruin a queue run without the guard, for studies that show so.
        margin: by how much the upper run time grows, in log, for each e-fold between a count and the one asked
            for: nobody has measured this job elsewhere.
        caution: 0 to 1; how far towards the upper bound the run time at another count is taken.
        support: advise only counts near those at which the application has run.
        most_counts: how many counts to forecast at most.
        depth: how many waiting jobs are planned one by one.
        adoption, adoption_seed: share of users who take advice, and which.
        power_budget_w: watts that the machine must not exceed by what is known.
        exploration: share of jobs that get another count near the request, for the sake of learning: one that
            `support`, the rule or the guard may close, but not the longest limit or the power budget.
    """

    rule: str = "qa(2, 1)"
    guard: bool = True
    allow_unsafe: bool = False
    margin: float = 0.0
    caution: float = 0.5
    support: bool = True
    most_counts: int = 64
    depth: int = DEPTH
    adoption: float = 1.0
    adoption_seed: int = 0
    power_budget_w: float = math.inf
    exploration: float = 0.0

    def __post_init__(self) -> None:
        self._rule = rules.parse(self.rule)
        for name in ("guard", "allow_unsafe", "support"):
            check(self, name, lambda value: isinstance(value, bool), "true or false")
        for name in ("caution", "adoption", "exploration"):
            check(self, name, lambda value: is_number(value) and 0 <= value <= 1, "a share from 0 to 1")
        check(self, "margin", lambda value: is_number(value) and 0 <= value < math.inf, "a number from 0")
        check(self, "most_counts", is_whole(2), "a whole number from 2")
        check(self, "depth", is_whole(0), "a whole number from 0")
        check(self, "adoption_seed", is_whole(0), "a whole number from 0")
        check(self, "power_budget_w", lambda value: is_number(value) and value > 0, "watts above 0")
        if not (self._rule.is_safe or self.guard or self.allow_unsafe):
            raise InvalidArgument(
                f"The rule '{self.rule}' ruins the queue without the guard.",
                "Leave guard on, or set allow_unsafe=True to see it happen.",
            )
        self._queue = PlannedQueue(self.depth)
        self._rng = np.random.default_rng(0)

    def reset(self, cluster: Cluster, rng: np.random.Generator) -> None:
        """Forget the last run."""
        self._queue = PlannedQueue(self.depth)
        self._rng = rng

    @abstractmethod
    def forecast(self, job: Job, counts: NDArray[np.int64], system: System) -> Forecast | None:
        """Return what *job* is expected to take at *counts*, the one asked for among them; None if nothing is known."""

    def advise(self, job: Job, system: System) -> Advice:
        """Advise the cheapest count that the guards allow; of equals the fewest nodes."""
        if not candidates.takes_advice(job, self.adoption, self.adoption_seed):
            return kept(job, "kept-declined")
        counts = candidates.counts_of(job, system.cluster.nodes, self.most_counts)
        forecast = self.forecast(job, counts, system)
        if forecast is None:
            return kept(job, "kept-no-support")
        places = candidates.sound_places(forecast)
        if not len(places):
            return kept(job, "kept-no-support")
        if len(places) < len(forecast.nodes):
            forecast = forecast.at(places)
        with np.errstate(over="ignore", invalid="ignore"):  # of figures beyond all reason; no such count is chosen
            return self._choose(job, forecast.widened(self.margin) if self.margin else forecast, system)

    def _choose(self, job: Job, forecast: Forecast, system: System) -> Advice:
        most_s = candidates.most_limit_s(job, system.cluster)
        limits_s = candidates.limits_s(job, forecast, most_s)
        rule, waits_s = self._waits(job, forecast, limits_s, system)
        is_possible = self._possible(forecast, most_s, waits_s, system)
        is_open, reason = self._open(forecast, is_possible)
        cost = self._costs(rule, forecast, is_open, rules.Moment(waits_s, len(system.queue), system.cluster.nodes))

        def never_runs(place: int) -> bool:
            advised = job.advised(int(forecast.nodes[place]), whole_limit_s(job, float(limits_s[place])))
            return place != forecast.asked and bool(system.cluster.never_runs(advised))

        greedy = int(np.argmin(cost))
        while math.isfinite(cost[greedy]) and never_runs(greedy):
            cost[greedy] = np.inf
            greedy = int(np.argmin(cost))
        if not math.isfinite(cost[greedy]):
            greedy, reason = forecast.asked, "kept-deadline"
        chosen, propensity = greedy, 1.0
        if self.exploration:
            chosen, propensity = self._explored(greedy, _near(forecast, is_possible, never_runs))
        front = _front(forecast)
        if chosen == forecast.asked:
            return kept(job, reason, front, propensity)
        limit_s = whole_limit_s(job, float(limits_s[chosen]))
        nodes = int(forecast.nodes[chosen])
        return Advice(nodes=nodes, limit_s=limit_s, reason="advised", front=front, propensity=propensity)

    def _costs(self, rule: rules.Rule, forecast: Forecast, is_open: Mask, moment: rules.Moment) -> Floats:
        """Return what each count costs; ``inf`` where it is closed, or by no rule a number."""
        cautious_s = forecast.run_s * np.exp(self.caution * forecast.doubt)
        seen = Forecast(
            forecast.nodes, cautious_s, forecast.upper_run_s, forecast.power_w, forecast.supported, forecast.asked
        )
        if self.guard and moment.waiting:
            is_open = is_open & candidates.spends_no_more(seen)
        cost = rules.costs(rule, seen, moment)
        return np.where(is_open & np.isfinite(cost), cost, np.inf)

    def _waits(self, job: Job, forecast: Forecast, limits_s: Floats, system: System) -> tuple[rules.Rule, Floats]:
        """Return the rule that can be used, and the wait at each count; 0 where the rule does not ask."""
        nothing = np.zeros(len(forecast.nodes))
        if not (self._rule.needs_waits or math.isfinite(self.power_budget_w)):
            return self._rule, nothing
        try:
            waits_s = self._queue.waits_s(system, forecast.nodes, limits_s)
        except HpcsimError:
            return (FALLBACK if self._rule.needs_waits else self._rule), nothing
        return self._rule, waits_s

    def _possible(self, forecast: Forecast, most_s: float, waits_s: Floats, system: System) -> Mask:
        """Return at which counts the job keeps the longest limit and the power budget, by all that is known."""
        is_possible = candidates.clears_limit(forecast, most_s)
        if math.isfinite(self.power_budget_w):
            budget = self.power_budget_w
            is_possible &= candidates.within_budget(forecast, waits_s, system.cluster, system.power_w, budget)
        return is_possible

    def _open(self, forecast: Forecast, is_possible: Mask) -> tuple[Mask, Reason]:
        """Return which counts may be advised, that asked for among them, and the reason to give if it stands."""
        is_open = np.ones(len(forecast.nodes), dtype=bool)
        others = np.arange(len(is_open)) != forecast.asked
        reason: Reason = "kept-no-gain"
        if self.support:
            is_open &= forecast.supported
            if not (is_open & others).any():
                reason = "kept-no-support"
        had_some = bool((is_open & others).any())
        is_open &= is_possible
        if had_some and not (is_open & others).any():
            reason = "kept-deadline"
        is_open[forecast.asked] = True
        return is_open, reason

    def _explored(self, greedy: int, places: Places) -> tuple[int, float]:
        """Return the place to take, now and then one of *places*, and how likely that choice was."""
        draw, pick = self._rng.random(2)
        if not len(places):
            return greedy, 1.0
        chosen = int(places[int(pick * len(places))]) if draw < self.exploration else greedy
        by_chance = self.exploration / len(places) if chosen in places else 0.0
        return chosen, by_chance + (1 - self.exploration if chosen == greedy else 0.0)


def _near(forecast: Forecast, is_possible: Mask, never_runs: Callable[[int], bool]) -> Places:
    """Return the places of other counts between half and twice the one asked for at which the job can run."""
    asked = forecast.nodes[forecast.asked]
    near = (forecast.nodes * 2 >= asked) & (forecast.nodes <= 2 * asked) & (forecast.nodes != asked) & is_possible
    return np.array([place for place in np.flatnonzero(near).tolist() if not never_runs(place)], dtype=np.int64)


def _front(forecast: Forecast) -> tuple[tuple[int, float, float], ...]:
    """Return the counts that no other beats in both run time and power, in order of run time."""
    order = np.lexsort((forecast.power_w, forecast.run_s))
    power_w = forecast.power_w[order]
    least_before = np.concatenate([[np.inf], np.minimum.accumulate(power_w)[:-1]])
    kept_places = order[power_w < least_before]
    columns = (forecast.nodes, forecast.run_s, forecast.power_w)
    return tuple(zip(*(column[kept_places].tolist() for column in columns), strict=True))


def check(advisor: Advisor, name: str, is_good: Callable[[Any], bool], wanted: str) -> None:
    """Refuse an *advisor* whose parameter *name* is not good; *wanted* says in words what is.

    Raises:
        InvalidArgument: it is not.
    """
    value = getattr(advisor, name)
    if not is_good(value):
        raise InvalidArgument(f"The {name} of the advisor is {value!r}.", f"Give {wanted}.")


def is_number(value: Any) -> bool:
    """Tell whether *value* is a number."""
    return isinstance(value, Real) and not isinstance(value, bool) and not math.isnan(value)


def is_whole(least: int) -> Callable[[Any], bool]:
    """Return what tells whether a value is a whole number from *least* on."""
    return lambda value: isinstance(value, Integral) and not isinstance(value, bool) and int(value) >= least
