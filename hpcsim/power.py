"""Watts of nodes, steps of a facility cap, and what energy costs: descriptions that a `Cluster` is made of."""

from __future__ import annotations

import math
from dataclasses import dataclass, fields
from numbers import Real
from typing import Any, ClassVar

from hpcsim.errors import ClusterError


@dataclass(frozen=True, slots=True, kw_only=True)
class NodePower:
    """Watts and transition times of one node. A node without one is not accounted for.

    Attributes:
        idle_w, busy_w, off_w, boot_w: drawn while idle, at full load, off, booting. A node that
            shuts down draws its idle watts.
        boot_s, shutdown_s: how long the transitions take.
        idle_timeout_s: an idle node shuts down after so long; ``inf``: never.
        waiting_share: share of the dynamic power, busy less idle, that a core still draws while it
            waits for others, for jobs whose parallel efficiency is known.
    """

    __pydantic_config__: ClassVar[dict[str, str]] = {"extra": "forbid"}

    idle_w: float = 0.0
    busy_w: float = 0.0
    off_w: float = 0.0
    boot_w: float = 0.0
    boot_s: float = 0.0
    shutdown_s: float = 0.0
    idle_timeout_s: float = math.inf
    waiting_share: float = 1.0

    def __post_init__(self) -> None:
        for field in fields(self):
            check_amount("Node power", field.name, getattr(self, field.name), may_be_inf=field.name == "idle_timeout_s")
        if self.waiting_share > 1:
            raise ClusterError(f"Node power has waiting_share = {self.waiting_share}.", "Give a share from 0 to 1.")


@dataclass(frozen=True, slots=True, kw_only=True)
class CapStep:
    """An announced change of the facility cap: *power_cap_w* watts hold from *from_s* on."""

    __pydantic_config__: ClassVar[dict[str, str]] = {"extra": "forbid"}

    from_s: float
    power_cap_w: float

    def __post_init__(self) -> None:
        if not _is_finite(self.from_s):
            raise ClusterError(f"A power cap holds from {self.from_s!r} s.", "Give seconds of the log's clock.")
        check_amount("A step of the power cap", "power_cap_w", self.power_cap_w)


@dataclass(frozen=True, slots=True, kw_only=True)
class Tariff:
    """What energy costs, in money and in carbon, hour by hour; the hours repeat when they are used up.

    Attributes:
        price_per_kwh: of each hour from *start_s* on, in any currency.
        co2_kg_per_kwh: of each hour likewise.
        start_s: when the first hour begins, in seconds of the log's clock.
    """

    __pydantic_config__: ClassVar[dict[str, str]] = {"extra": "forbid"}

    price_per_kwh: tuple[float, ...] = (0.0,)
    co2_kg_per_kwh: tuple[float, ...] = (0.0,)
    start_s: float = 0.0

    def __post_init__(self) -> None:
        for name in ("price_per_kwh", "co2_kg_per_kwh"):
            hours = getattr(self, name)
            if not isinstance(hours, tuple | list) or not hours or not all(_is_finite(hour) for hour in hours):
                raise ClusterError(f"The tariff has {name} = {hours!r}.", "Give a tuple, a number for each hour.")
        if not _is_finite(self.start_s):
            raise ClusterError(f"The tariff has start_s = {self.start_s!r}.", "Give seconds of the log's clock.")


def check_amount(what: str, name: str, value: Any, *, may_be_zero: bool = True, may_be_inf: bool = True) -> None:
    """Refuse what is no number, NaN, and what is below zero.

    Raises:
        ClusterError: *value*, the field *name* of *what*, is such a thing.
    """
    is_number = isinstance(value, Real) and not isinstance(value, bool)
    if not is_number or not value >= 0 or (value == 0 and not may_be_zero) or (value == math.inf and not may_be_inf):
        bound = "0 or more" if may_be_zero else "above 0"
        end = "; inf where there is none" if may_be_inf else ""
        raise ClusterError(f"{what} has {name} = {value!r}.", f"Give a number, {bound}{end}.")


def _is_finite(value: Any) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool) and math.isfinite(value)
