"""What an agent is paid for: costs that accrue at a rate, so that each gap between decisions has its exact share.

A rate is constant between events; an `Account` hears of them and keeps it. Run times enter here, and
only here: the reward may know what the agent may not.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from hpcsim.cluster import Cluster
from hpcsim.errors import InvalidArgument, closest
from hpcsim.job import Job


class Account:
    """The running cost of one objective over one run.

    Attributes:
        rate: cost a second, until the next event.
        next_change_s: when the rate changes by itself; ``inf``: it does not.
    """

    rate: float = 0.0
    next_change_s: float = math.inf

    def submitted(self, job: Job, run_s: float) -> None:
        """*job* waits from now on; it will run *run_s* seconds."""

    def left(self, job: Job, run_s: float, now_s: float) -> None:
        """*job* waits no longer."""

    def started(self, job: Job) -> None:
        """*job* holds its nodes from now on."""

    def ended(self, job: Job) -> None:
        """*job*, which had started, has ended."""

    def powered(self, power_w: float) -> None:
        """The machine draws *power_w* watts from now on."""

    def turn(self) -> None:
        """It is `next_change_s`."""


class Objective(ABC):
    """Something to be made small. Frozen parameters; the state of a run is in its `Account`."""

    @abstractmethod
    def open(self, cluster: Cluster) -> Account:
        """Return the account of a run on *cluster*, empty."""


class _Counting(Account):
    """Cost at a rate that each waiting job adds to. The rate of nobody is 0, without rounding errors."""

    def __init__(self, weight: Callable[[float], float]) -> None:
        self._weight = weight
        self._count = 0

    def submitted(self, job: Job, run_s: float) -> None:
        self._count += 1
        self.rate += self._weight(run_s)

    def left(self, job: Job, run_s: float, now_s: float) -> None:
        self._count -= 1
        self.rate = self.rate - self._weight(run_s) if self._count else 0.0


@dataclass(frozen=True, slots=True)
class BoundedSlowdown(Objective):
    """Sum over jobs of wait / max(run, *short_s*).

    That is the sum of (bounded slowdown - 1), but for jobs shorter than *short_s*, whose slowdown is
    never below 1.
    """

    short_s: float = 10.0

    def __post_init__(self) -> None:
        _check_parameter("short_s", self.short_s, least=0.0, is_above=True)

    def open(self, cluster: Cluster) -> Account:
        """Return an account that each waiting job charges 1 / max(run, short) a second."""
        return _Counting(lambda run_s: 1 / max(run_s, self.short_s))


@dataclass(frozen=True, slots=True)
class Wait(Objective):
    """Sum of waits in seconds: a second a second for each waiting job."""

    def open(self, cluster: Cluster) -> Account:
        """Return an account of the number of waiting jobs."""
        return _Counting(lambda _: 1.0)


class _InSystem(Account):
    def submitted(self, job: Job, run_s: float) -> None:
        self.rate += 1

    def left(self, job: Job, run_s: float, now_s: float) -> None:
        self.rate -= 1

    def started(self, job: Job) -> None:
        self.rate += 1

    def ended(self, job: Job) -> None:
        self.rate -= 1


@dataclass(frozen=True, slots=True)
class Turnaround(Objective):
    """Sum of turnarounds in seconds: a second a second for each job that waits or runs (Little's law)."""

    def open(self, cluster: Cluster) -> Account:
        """Return an account of the number of jobs in the system."""
        return _InSystem()


class _Idle(Account):
    def __init__(self, nodes: int) -> None:
        self.rate = 1.0
        self._nodes = nodes
        self._used = 0

    def started(self, job: Job) -> None:
        self._used += job.nodes
        self.rate = 1 - self._used / self._nodes

    def ended(self, job: Job) -> None:
        self._used -= job.nodes
        self.rate = 1 - self._used / self._nodes


@dataclass(frozen=True, slots=True)
class Utilisation(Objective):
    """Idle seconds of the whole machine, from first submit to last end: makespan x (1 - utilisation)."""

    def open(self, cluster: Cluster) -> Account:
        """Return an account of the idle share of the nodes."""
        return _Idle(cluster.nodes)


class _Clock(Account):
    rate = 1.0


@dataclass(frozen=True, slots=True)
class Makespan(Objective):
    """Seconds from first submit to last end."""

    def open(self, cluster: Cluster) -> Account:
        """Return an account of the time."""
        return _Clock()


class _Power(Account):
    def __init__(self, price: float) -> None:
        self._price_per_ws = price / 3.6e6

    def powered(self, power_w: float) -> None:
        self.rate = power_w * self._price_per_ws


@dataclass(frozen=True, slots=True)
class Energy(Objective):
    """Energy of the machine in kWh, times *price_per_kwh*. The cluster has to describe its power."""

    price_per_kwh: float = 1.0

    def __post_init__(self) -> None:
        _check_parameter("price_per_kwh", self.price_per_kwh)

    def open(self, cluster: Cluster) -> Account:
        """Return an account of the power.

        Raises:
            InvalidArgument: the cluster's power is not described.
        """
        if not cluster.has_power:
            raise InvalidArgument(
                "The objective is energy, but the cluster describes no power.",
                "Give its node groups power=NodePower(...).",
            )
        return _Power(self.price_per_kwh)


class _Beyond(Account):
    """Waits beyond a cap, which jobs reach in the order in which they came."""

    def __init__(self, cap_s: float) -> None:
        self._cap_s = cap_s
        self._coming: deque[tuple[float, int]] = deque()
        self._waiting: set[int] = set()
        self._beyond: set[int] = set()

    def submitted(self, job: Job, run_s: float) -> None:
        self._waiting.add(job.row)
        self._coming.append((job.submit_s + self._cap_s, job.row))
        self._look_ahead()

    def left(self, job: Job, run_s: float, now_s: float) -> None:
        self._waiting.discard(job.row)
        self._beyond.discard(job.row)
        self.rate = float(len(self._beyond))
        self._look_ahead()

    def turn(self) -> None:
        self._beyond.add(self._coming.popleft()[1])
        self.rate = float(len(self._beyond))
        self._look_ahead()

    def _look_ahead(self) -> None:
        coming = self._coming
        while coming and coming[0][1] not in self._waiting:
            coming.popleft()
        self.next_change_s = coming[0][0] if coming else math.inf


@dataclass(frozen=True, slots=True)
class WaitBeyondCap(Objective):
    """Sum over jobs of max(0, wait - *cap_s*) in seconds: a brake on starvation."""

    cap_s: float = 172_800.0

    def __post_init__(self) -> None:
        _check_parameter("cap_s", self.cap_s, least=0.0)

    def open(self, cluster: Cluster) -> Account:
        """Return an account of the jobs that have waited for longer."""
        return _Beyond(self.cap_s)


class _Longest(Account):
    """The longest wait so far: it grows while the oldest waiting job has waited for longer than any before."""

    def __init__(self) -> None:
        self._waiting: dict[int, float] = {}
        self._longest_s = 0.0

    def submitted(self, job: Job, run_s: float) -> None:
        self._waiting[job.row] = job.submit_s
        self._look_ahead()

    def left(self, job: Job, run_s: float, now_s: float) -> None:
        self._longest_s = max(self._longest_s, now_s - self._waiting.pop(job.row))
        self._look_ahead()

    def turn(self) -> None:
        self.rate, self.next_change_s = 1.0, math.inf

    def _look_ahead(self) -> None:
        """Nothing accrues until the oldest job has waited for as long as the longest so far."""
        oldest_s = next(iter(self._waiting.values()), math.inf)
        self.rate, self.next_change_s = 0.0, oldest_s + self._longest_s


@dataclass(frozen=True, slots=True)
class MaxWait(Objective):
    """The longest wait in seconds, charged as it grows."""

    def open(self, cluster: Cluster) -> Account:
        """Return an account of the growth of the longest wait."""
        return _Longest()


OBJECTIVES: Mapping[str, Callable[[], Objective]] = MappingProxyType(
    {
        "bounded-slowdown": BoundedSlowdown,
        "wait": Wait,
        "turnaround": Turnaround,
        "utilisation": Utilisation,
        "makespan": Makespan,
        "energy": Energy,
        "wait-beyond-cap": WaitBeyondCap,
        "max-wait": MaxWait,
    }
)
"""Objectives by name, with their default parameters."""

Wanted = str | Objective | Mapping[Any, float]
"""An objective, its name, or several (by either) with a weight each."""


def weighted(wanted: Wanted) -> tuple[tuple[str, Objective, float], ...]:
    """Return (label, objective, weight) of each objective that is *wanted*.

    Raises:
        InvalidArgument: there is none, none of that name, or a weight is no finite number.
    """
    pairs = list(wanted.items()) if isinstance(wanted, Mapping) else [(wanted, 1.0)]
    if not pairs:
        raise InvalidArgument("There is no objective.", "Give one, as objective='bounded-slowdown'.")
    chosen = []
    for what, weight in pairs:
        _check_parameter(f"The weight of {what!r}", weight)
        chosen.append((what if isinstance(what, str) else repr(what), _named(what), float(weight)))
    return tuple(chosen)


def _check_parameter(name: str, value: Any, *, least: float = -math.inf, is_above: bool = False) -> None:
    is_number = isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
    if not is_number or value < least or (is_above and value == least):
        wanted = "" if least == -math.inf else f" {'above' if is_above else 'of at least'} {least:g}"
        raise InvalidArgument(f"{name} is {value!r}.", f"Give a finite number{wanted}.")


def _named(what: Any) -> Objective:
    if isinstance(what, Objective):
        return what
    if not isinstance(what, str) or what not in OBJECTIVES:
        raise InvalidArgument(
            f"There is no objective {what!r}.{closest(str(what), OBJECTIVES)}",
            f"Give an Objective, or one of {', '.join(OBJECTIVES)}.",
        )
    return OBJECTIVES[what]()
