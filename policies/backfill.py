"""Backfilling: let later jobs run early where that delays no reservation.

`Backfill` composes an order, a number of reservations and an estimator. `EASY` and `Conservative`
are its two textbook members.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import field
from typing import Any, Literal

import numpy as np

from hpcsim.cluster import Cluster
from hpcsim.decision import Decision
from hpcsim.errors import HpcsimError
from hpcsim.estimator import Estimator
from hpcsim.listener import Listener
from hpcsim.policies.conservative import ConservativePlan
from hpcsim.policies.estimators import Requested
from hpcsim.policies.orders import FCFS
from hpcsim.policies.per_set import PerSetReservingPass, PerSetShadowPass
from hpcsim.policies.per_set_conservative import PerSetConservativePlan
from hpcsim.policies.reserving import ReservingPass
from hpcsim.policies.shadow import ShadowPass
from hpcsim.policy import Order, Policy
from hpcsim.system import System


class Backfill(Policy):
    """Backfilling with *reservations* for the first blocked jobs.

    Parameters:
        order: who comes first.
        backfill_order: in which order later jobs are tried; default: *order*.
        reservations: 0, none: any job that fits starts; 1, EASY; k, the first k blocked jobs,
            re-derived at each pass; ``"all"``, conservative: a promise for every job at arrival.
        admit: with one reservation, who may pass: ``"shadow+extra"``, jobs that end by the shadow
            time or use only extra nodes; ``"shadow"``, only the former.
        boundary: ``"<="`` counts a job that ends exactly at the shadow time as ended by it.
        estimates: how long jobs are planned to run.
        depth: how many jobs behind the first blocked one are tried; None: all.
        compress: with ``"all"``, when promises are remade: ``"early"``, when a job ends before its
            planned end; ``"any"``, at every end.

    Source: Mu'alem and Feitelson, IEEE TPDS 12(6), 2001.
    """

    order: Order = field(default_factory=FCFS)
    backfill_order: Order | None = None
    reservations: int | Literal["all"] = 1
    admit: Literal["shadow+extra", "shadow"] = "shadow+extra"
    boundary: Literal["<=", "<"] = "<="
    estimates: Estimator = field(default_factory=Requested)
    depth: int | None = None
    compress: Literal["early", "any"] = "early"

    invariances = ("time-shift",)

    def __post_init__(self) -> None:
        _check_options(self)

    def reset(self, cluster: Cluster, rng: np.random.Generator) -> None:
        """Forget everything; pick the algorithm for the number of reservations."""
        self.order.reset(cluster, rng)
        if self.backfill_order is not None:
            self.backfill_order.reset(cluster, rng)
        self.estimates.reset()
        self._pass: ShadowPass | ReservingPass | ConservativePlan | PerSetShadowPass | PerSetReservingPass
        if self.reservations == "all":
            self._pass = ConservativePlan(self)
        elif self.reservations <= 1:
            self._pass = ShadowPass(self)
        else:
            self._pass = ReservingPass(self)

    def begin(self, system: System) -> None:
        """Reserve for each set of nodes where nodes differ."""
        if not system.nodes_are_alike:
            is_shadow = self.reservations in {0, 1}
            kind = PerSetShadowPass if is_shadow else PerSetReservingPass
            self._pass = PerSetConservativePlan(self) if self.reservations == "all" else kind(self)

    def listeners(self) -> Sequence[Listener]:
        """Return the parts that hear what happens: orders, estimates and the algorithm."""
        orders = [*self.order.listeners(), *(self.backfill_order.listeners() if self.backfill_order else ())]
        return (*orders, self.estimates, self._pass)

    def schedule(self, system: System) -> Iterable[Decision]:
        """Start what may start by the rules above."""
        return self._pass.schedule(system)


class EASY(Backfill):
    """EASY backfilling: the first blocked job gets the one reservation, later ones may not delay it.

    Source: Lifka, JSSPP 1995; as defined in Mu'alem and Feitelson 2001.
    """

    guarantees = ("no-head-delay",)


class Conservative(Backfill):
    """Conservative backfilling: every job is promised a start at arrival, and nobody delays a promise.

    Source: Mu'alem and Feitelson, IEEE TPDS 12(6), 2001.
    """

    reservations: int | Literal["all"] = "all"

    guarantees = ("no-delay-of-any",)


def _check_options(policy: Backfill) -> None:
    """Refuse values outside each option's range."""
    choices: dict[str, tuple[Any, ...]] = {
        "admit": ("shadow+extra", "shadow"),
        "boundary": ("<=", "<"),
        "compress": ("early", "any"),
    }
    for name, allowed in choices.items():
        if getattr(policy, name) not in allowed:
            raise HpcsimError(f"{name} is {getattr(policy, name)!r}.", f"Give one of {', '.join(allowed)}.")
    kinds: dict[str, tuple[type, bool]] = {
        "order": (Order, False),
        "backfill_order": (Order, True),
        "estimates": (Estimator, False),
    }
    for name, (kind, is_optional) in kinds.items():
        value = getattr(policy, name)
        if not isinstance(value, kind) and not (is_optional and value is None):
            raise HpcsimError(f"{name} is {value!r}.", f"Give an {kind.__name__}, such as the registered ones.")
    count = policy.reservations
    if count != "all" and not _is_count(count):
        raise HpcsimError(f"reservations is {count!r}.", "Give a whole number from 0, or 'all'.")
    if policy.depth is not None and not _is_count(policy.depth):
        raise HpcsimError(f"depth is {policy.depth!r}.", "Give a whole number from 0, or leave it out.")


def _is_count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0
