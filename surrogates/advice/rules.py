"""The rules by which an advisor chooses, as people write them: ``qa(2, 1)``, ``deadline(1.2)``, ``energy``.

Those that look at one job only are those of `hpcsim.surrogates.selection`. ``qa(w, p)`` looks at the
queue: it minimises

    ln(wait(n) + T(n) + p q n T(n) / N) + w ln E(n)

where wait(n) is when the job would start if the q jobs that wait were planned before it, E(n) its
energy, and p q n T(n)/N the time by which its node-seconds delay those who wait, on N nodes: a price.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hpcsim.errors import InvalidArgument, closest
from hpcsim.surrogates import selection
from hpcsim.surrogates.advice.forecast import Forecast

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Parameter:
    """A number of a rule: its name, its default (None: it must be given), its least and its most value."""

    name: str
    default: float | None
    least: float = 0.0
    most: float = 1e6


SIGNATURES: dict[str, tuple[Parameter, ...]] = {
    "qa": (Parameter("weight of energy", 2.0), Parameter("price", 1.0)),
    "deadline": (Parameter("share of the user's run time", 1.2, 0.01),),
    "slowdown": (Parameter("slowdown", 0.2),),
    "weighted": (Parameter("weight of the run time", 0.5, 0.0, 1.0),),
    "cap": (Parameter("power cap in watts", None, 0.0, math.inf),),
    **dict.fromkeys(("energy", "edp", "ed2p", "knee", "knee-energy", "fastest"), ()),
}
"""The rules and their parameters."""

UNSAFE = ("edp", "ed2p", "knee", "knee-energy", "fastest", "weighted", "cap", "slowdown")
"""Rules that are good for one job and ruin a queue: they may raise the load without end, so they need the guard."""

SPELLING = re.compile(r"\s*([a-z][a-z0-9-]*)\s*(?:\(([^()]*)\))?\s*")


@dataclass(frozen=True, slots=True)
class Rule:
    """A rule with its numbers; `parse` makes one of its text."""

    name: str
    numbers: tuple[float, ...]

    @property
    def is_safe(self) -> bool:
        """Whether it keeps the load of the machine in bounds by itself."""
        return self.name not in UNSAFE and not (self.name == "qa" and self.numbers[1] == 0)

    @property
    def needs_waits(self) -> bool:
        """Whether it looks at the queue."""
        return self.name == "qa"


@dataclass(frozen=True, slots=True, eq=False)
class Moment:
    """The machine at the moment of the advice.

    Attributes:
        waits_s: the wait in seconds at each count of the forecast, shape [N].
        waiting: how many jobs wait.
        machine_nodes: nodes of the machine.
    """

    waits_s: Floats
    waiting: int
    machine_nodes: int


def parse(text: str) -> Rule:
    """Return the rule that *text* spells, such as ``qa(2, 1)``; numbers may be left out from the end.

    Raises:
        InvalidArgument: there is no such rule, or a number is missing, too many or out of its range.
    """
    match = SPELLING.fullmatch(text) if isinstance(text, str) else None
    name = match.group(1) if match else str(text)
    if match is None or name not in SIGNATURES:
        raise InvalidArgument(
            f"There is no rule '{text}'.{closest(name, SIGNATURES)}",
            f"Known: {', '.join(SIGNATURES)}; numbers go in brackets, as in qa(2, 1).",
        )
    wanted = SIGNATURES[name]
    given = _numbers(match.group(2), text)
    if len(given) > len(wanted):
        raise InvalidArgument(f"The rule '{text}' has {len(given)} numbers.", f"Give at most {len(wanted)}.")
    return Rule(name, tuple(_checked(text, *pair) for pair in zip(wanted, _padded(given, len(wanted)), strict=True)))


def costs(rule: Rule, forecast: Forecast, moment: Moment | None = None) -> Floats:
    """Return what each count costs by *rule*, shape [N]; ``inf`` where the rule excludes it. The least wins.

    *moment* is needed where `Rule.needs_waits`. Where no power is known, node-seconds stand for energy.
    """
    power_w = np.where(np.isfinite(forecast.power_w) & (forecast.power_w > 0), forecast.power_w, np.nan)
    if np.isnan(power_w).any():
        power_w = forecast.nodes.astype(np.float64)
    if rule.name == "qa":
        assert moment is not None
        return _queue_aware(rule, forecast, power_w, moment)
    if rule.name == "fastest":
        return forecast.run_s
    candidates = selection.Candidates(forecast.nodes, forecast.run_s, power_w, forecast.run_s)
    return selection.RULES[rule.name](candidates, _wishes(rule, forecast))


def _queue_aware(rule: Rule, forecast: Forecast, power_w: Floats, moment: Moment) -> Floats:
    weight, price = rule.numbers
    node_s = forecast.nodes * forecast.run_s
    delay_s = moment.waits_s + forecast.run_s + price * moment.waiting * node_s / moment.machine_nodes
    return np.asarray(np.log(delay_s) + weight * np.log(power_w * forecast.run_s))


def _wishes(rule: Rule, forecast: Forecast) -> selection.Wishes:
    asked_nodes, asked_s = int(forecast.nodes[forecast.asked]), float(forecast.run_s[forecast.asked])
    number = rule.numbers[0] if rule.numbers else 0.0
    if rule.name == "deadline":
        return selection.Wishes(limit_s=number * asked_s * (1 + 1e-12))
    if rule.name == "slowdown":
        return selection.Wishes(slowdown=number + 1e-12, user_nodes=asked_nodes)
    return selection.Wishes(power_cap_w=number) if rule.name == "cap" else selection.Wishes(weight=number)


def _numbers(inside: str | None, text: str) -> list[float]:
    parts = [] if inside is None or not inside.strip() else inside.split(",")
    try:
        return [float(part) for part in parts]
    except ValueError as error:
        raise InvalidArgument(f"The rule '{text}' has something else than numbers.", "Write it as qa(2, 1).") from error


def _padded(given: list[float], length: int) -> list[float | None]:
    return [*given, *[None] * (length - len(given))]


def _checked(text: str, parameter: Parameter, given: float | None) -> float:
    value = parameter.default if given is None else given
    if value is None:
        raise InvalidArgument(f"The rule '{text}' lacks its {parameter.name}.", "Write it as cap(5000).")
    if not parameter.least <= value <= parameter.most or not math.isfinite(value):
        most = "" if parameter.most == math.inf else f" to {parameter.most:,g}"
        raise InvalidArgument(
            f"The {parameter.name} of the rule '{text}' is {value:g}.", f"Give a number from {parameter.least:g}{most}."
        )
    return value
