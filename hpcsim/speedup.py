"""How run time and power change with the node count: the laws, each a frozen value.

A law says how many times faster a job runs on n nodes than on one: S(n), with S(1) = 1. With the
run time on one node it gives T(n) = T(1) / S(n) and the efficiency S(n) / n, the share of the
allocated node time that works. `PowerCurve` turns efficiency into watts.

Each law is two things: a function over arrays, which broadcasts node counts against parameters (a
million jobs at once), and a dataclass that holds one job's parameters. Node counts may be any array
shape; the answer has the broadcast shape, in float64.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hpcsim.errors import InvalidArgument

Floats = NDArray[np.float64]


def amdahl_speed_up(nodes: ArrayLike, serial_share: ArrayLike, communication: ArrayLike = 0.0) -> Floats:
    """Return S(n) = 1 / (f + (1 - f)/n + c log2 n).

    *serial_share* f is the part of the work that does not divide (Amdahl 1967), *communication* c
    the cost of each doubling of the nodes as a share of T(1), as of a tree of messages.
    """
    n, f, c = _floats(nodes), _floats(serial_share), _floats(communication)
    return np.asarray(1.0 / (f + (1.0 - f) / n + c * np.log2(n)))


def downey_speed_up(nodes: ArrayLike, parallelism: ArrayLike, variation: ArrayLike) -> Floats:
    """Return Downey's S(n) for average *parallelism* A and its coefficient of *variation* sigma.

    Source: A. B. Downey, A model for speedup of parallel programs, UCB/CSD-97-933 (1997). The two
    forms, of low (sigma <= 1) and high variation, agree at sigma = 1.
    """
    n, a, sigma = np.broadcast_arrays(_floats(nodes), _floats(parallelism), _floats(variation))
    rising = a * n / (a + sigma * (n - 1) / 2)
    bending = a * n / (sigma * (a - 0.5) + n * (1 - sigma / 2))
    low = np.where(n <= a, rising, np.where(n <= 2 * a - 1, bending, a))
    curve = n * a * (sigma + 1) / (sigma * (n + a - 1) + a)
    high = np.where(n <= a + a * sigma - sigma, curve, a)
    return np.asarray(np.where(sigma <= 1, low, high))


def _downey_at(n: int, a: float, sigma: float) -> float:
    """Return what `downey_speed_up` gives at one count."""
    if sigma > 1:
        return n * a * (sigma + 1) / (sigma * (n + a - 1) + a) if n <= a + a * sigma - sigma else a
    if n <= a:
        return a * n / (a + sigma * (n - 1) / 2)
    return a * n / (sigma * (a - 0.5) + n * (1 - sigma / 2)) if n <= 2 * a - 1 else a


def power_law_speed_up(nodes: ArrayLike, exponent: ArrayLike) -> Floats:
    """Return S(n) = n ^ alpha; alpha 1 is ideal, 0 gains nothing."""
    return np.asarray(_floats(nodes) ** _floats(exponent))


class SpeedUp(ABC):
    """Base of all laws: how many times faster a job runs on n nodes than on one."""

    __slots__ = ()

    @abstractmethod
    def speed_up(self, nodes: ArrayLike) -> Floats:
        """Return S(n) at each of *nodes* (1 or more), in their shape."""

    def efficiency(self, nodes: ArrayLike) -> Floats:
        """Return S(n) / n: the share of the node time that works."""
        return self.speed_up(nodes) / _floats(nodes)

    def run_s(self, nodes: ArrayLike, one_node_s: float) -> Floats:
        """Return T(n) in seconds for a job that takes *one_node_s* on one node."""
        return one_node_s / self.speed_up(nodes)

    def ratio(self, nodes: ArrayLike, known_nodes: int) -> Floats:
        """Return T(n) / T(*known_nodes*): what the count changes in a run time known at one of them."""
        return self.speed_up(known_nodes) / self.speed_up(nodes)

    def fastest(self, most_nodes: int) -> int:
        """Return the count of 1 to *most_nodes* with the shortest run time, the least one where several tie."""
        return int(np.argmax(self.speed_up(np.arange(1, most_nodes + 1)))) + 1


@dataclass(frozen=True, slots=True)
class Amdahl(SpeedUp):
    """A share of the work does not divide; with *communication* each doubling of the nodes costs as well.

    S(n) = 1 / (f + (1 - f)/n + c log2 n): `serial_share` f in [0, 1], `communication` c >= 0.
    """

    serial_share: float
    communication: float = 0.0

    def __post_init__(self) -> None:
        _check("serial share", self.serial_share, 0 <= self.serial_share <= 1, "a share from 0 to 1")
        _check("cost of communication", self.communication, self.communication >= 0, "0 or more")

    def speed_up(self, nodes: ArrayLike) -> Floats:
        """Return S(n); with communication it falls again past its best count."""
        return amdahl_speed_up(nodes, self.serial_share, self.communication)


@dataclass(frozen=True, slots=True)
class Downey(SpeedUp):
    """Average `parallelism` A >= 1 and its coefficient of `variation` sigma >= 0; S never exceeds A."""

    parallelism: float
    variation: float

    def __post_init__(self) -> None:
        _check("average parallelism", self.parallelism, self.parallelism >= 1, "1 or more")
        _check("variation of parallelism", self.variation, self.variation >= 0, "0 or more")

    def speed_up(self, nodes: ArrayLike) -> Floats:
        """Return S(n), which is A from some count on."""
        if isinstance(nodes, int):  # of one job at one count, as schedulers ask: the same number in a tenth of the time
            return np.asarray(_downey_at(nodes, float(self.parallelism), float(self.variation)))
        return downey_speed_up(nodes, self.parallelism, self.variation)


@dataclass(frozen=True, slots=True)
class PowerLaw(SpeedUp):
    """S(n) = n ^ `exponent`, with an exponent from 0 (no gain) to 1 (ideal)."""

    exponent: float

    def __post_init__(self) -> None:
        _check("exponent", self.exponent, 0 <= self.exponent <= 1, "a number from 0 to 1")

    def speed_up(self, nodes: ArrayLike) -> Floats:
        """Return S(n)."""
        return power_law_speed_up(nodes, self.exponent)


@dataclass(frozen=True, slots=True)
class Sevcik(SpeedUp):
    """T(n) = phi W/n + alpha + beta n: imbalance phi >= 1, fixed overhead alpha, overhead beta a node.

    Source: K. C. Sevcik, Application scheduling and processor allocation in multiprogrammed parallel
    processing systems, Performance Evaluation 19 (1994). `work_s`, `fixed_s`, `per_node_s` in seconds.
    """

    work_s: float
    imbalance: float = 1.0
    fixed_s: float = 0.0
    per_node_s: float = 0.0

    def __post_init__(self) -> None:
        _check("work", self.work_s, self.work_s > 0, "seconds above 0")
        _check("imbalance", self.imbalance, self.imbalance >= 1, "1 or more")
        _check("overhead", self.fixed_s, self.fixed_s >= 0, "0 or more")
        _check("overhead of a node", self.per_node_s, self.per_node_s >= 0, "0 or more")

    def time_s(self, nodes: ArrayLike) -> Floats:
        """Return T(n) in seconds: this law knows its own run time."""
        n = _floats(nodes)
        return np.asarray(self.imbalance * self.work_s / n + self.fixed_s + self.per_node_s * n)

    def speed_up(self, nodes: ArrayLike) -> Floats:
        """Return T(1) / T(n)."""
        return self.time_s(1) / self.time_s(nodes)


@dataclass(frozen=True, slots=True)
class Table(SpeedUp):
    """Measured run times at some node counts; between two of them log T is linear in log n.

    Attributes:
        nodes: counts, ascending, 1 or more each.
        times_s: run time at each, above 0. S is relative to T at the first count times that count,
            which is T(1) where the table begins at 1.
    """

    nodes: tuple[int, ...]
    times_s: tuple[float, ...]

    def __post_init__(self) -> None:
        ascending = all(b > a for a, b in zip(self.nodes, self.nodes[1:], strict=False))
        is_table = 0 < len(self.nodes) == len(self.times_s) and ascending and self.nodes[0] >= 1
        _check("table of node counts", self.nodes, is_table, "ascending counts from 1, with one run time each")
        _check("table of run times", self.times_s, all(time > 0 for time in self.times_s), "seconds above 0")

    def speed_up(self, nodes: ArrayLike) -> Floats:
        """Return S(n); a count outside the table is refused, for nothing is known there.

        Raises:
            InvalidArgument: a count lies below the first or above the last of the table.
        """
        n = _floats(nodes)
        if np.any((n < self.nodes[0]) | (n > self.nodes[-1])):
            raise InvalidArgument(
                f"The table of run times covers {self.nodes[0]} to {self.nodes[-1]} nodes.", "Ask for a count within."
            )
        log_t = np.interp(np.log(n), np.log(self.nodes), np.log(self.times_s))
        return np.asarray(self.times_s[0] * self.nodes[0] / np.exp(log_t))


@dataclass(frozen=True, slots=True)
class PowerCurve:
    """Watts of a busy node by the efficiency of its job.

    One node draws idle + (peak - idle) (w + (1 - w) efficiency): a node that works all the time
    draws `peak_w`; a waiting core still draws the share w of what it adds to `idle_w` (it spins in
    the communication library), so w = 1 makes power independent of the count.
    """

    idle_w: float
    peak_w: float
    waiting_share: float = 0.5

    def __post_init__(self) -> None:
        _check("idle power", self.idle_w, self.idle_w >= 0, "watts, 0 or more")
        _check("peak power", self.peak_w, self.peak_w >= self.idle_w, "watts, not below the idle ones")
        _check("share of a waiting core", self.waiting_share, 0 <= self.waiting_share <= 1, "a share from 0 to 1")

    def node_w(self, efficiency: ArrayLike) -> Floats:
        """Return the watts of one node at *efficiency* (0 to 1)."""
        return node_power_w(efficiency, self.idle_w, self.peak_w, self.waiting_share)

    def job_w(self, nodes: ArrayLike, law: SpeedUp) -> Floats:
        """Return the watts of a whole job that scales by *law*, at each of *nodes*."""
        return _floats(nodes) * self.node_w(law.efficiency(nodes))


def node_power_w(efficiency: ArrayLike, idle_w: ArrayLike, peak_w: ArrayLike, waiting_share: ArrayLike = 0.5) -> Floats:
    """Return the watts of one busy node, as `PowerCurve` explains them, over arrays."""
    idle, peak, waiting = _floats(idle_w), _floats(peak_w), _floats(waiting_share)
    return np.asarray(idle + (peak - idle) * (waiting + (1.0 - waiting) * _floats(efficiency)))


def _floats(values: ArrayLike) -> Floats:
    return np.asarray(values, dtype=np.float64)


def _check(what: str, value: object, holds: bool, wanted: str) -> None:
    if not holds:
        raise InvalidArgument(f"The {what} is {value}.", f"Give {wanted}.")
