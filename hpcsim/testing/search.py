"""Look for a scenario that breaks a rule: Hypothesis draws once for all checks, a judge runs the policy on each."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache, partial
from typing import Any

from hpcsim.testing.extra import need_hypothesis
from hpcsim.testing.shrinking import smaller
from hpcsim.testing.trial import Scenario
from hpcsim.testing.violation import Violation

Judge = Callable[[Scenario, Any], Violation | None]
"""Returns how a scenario, with whatever else was drawn, breaks a rule; None if it does not. May raise `Foreign`."""


class Foreign(Exception):
    """A run failed by a rule that another check is about; `owner` is that check's name."""

    def __init__(self, owner: str) -> None:
        super().__init__(owner)
        self.owner = owner


class Untested(Exception):
    """A check cannot say anything: no run got so far."""


class NotDeclared(Exception):
    """A check does not apply: the policy does not claim what it is about."""


class _Found(Exception):
    pass


def smallest_violation(judge: Judge, scenarios: Sequence[Scenario], more: Sequence[Any]) -> Violation | None:
    """Return a small violation that *judge* finds in *scenarios*, each with one of *more*, or None.

    Raises:
        Untested: with every scenario *judge* raised `Foreign`.
    """
    owner, judged = "", 0
    for scenario, extra in zip(scenarios, more, strict=True):
        try:
            found = judge(scenario, extra)
        except Foreign as foreign:
            owner = owner or foreign.owner
            continue
        judged += 1
        if found is not None:
            return smaller(found, partial(_judge_again, judge, extra))
    if owner and not judged:
        raise Untested(owner)
    return None


def _judge_again(judge: Judge, extra: Any, scenario: Scenario) -> Violation | None:
    try:
        return judge(scenario, extra)
    except Foreign:
        return None


@cache
def drawn_scenarios(examples: int) -> tuple[Scenario, ...]:
    """Return *examples* scenarios that Hypothesis draws, the same ones each time that the same program asks."""
    from hpcsim.testing.strategies import scenarios

    return tuple(Scenario(*pair) for pair in drawn(scenarios(), examples))


def drawn(strategy: Any, examples: int) -> list[Any]:
    """Return *examples* values of a Hypothesis strategy, the same ones each time that the same program asks.

    Hypothesis also tries numbers that it finds in loaded modules, so that another program may get others.

    Raises:
        MissingExtra: Hypothesis is not installed.
    """
    need_hypothesis()
    from hypothesis import HealthCheck, Phase, Verbosity, given, settings

    values: list[Any] = []
    options = settings(
        max_examples=examples,
        derandomize=True,
        database=None,
        deadline=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
        verbosity=Verbosity.quiet,
    )

    def keep(value: Any) -> None:
        values.append(value)

    decorate: Any = given(strategy)
    options(decorate(keep))()
    return [values[place % len(values)] for place in range(examples)]
