"""Backfilling: let later jobs run early where that delays no reservation.

`Backfill` composes an order, a number of reservations and an estimator. `EASY` and `Conservative`
are its two textbook members.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import field
from typing import Literal

import numpy as np

from hpcsim.cluster import Cluster
from hpcsim.decision import Decision
from hpcsim.estimator import Estimator
from hpcsim.listener import Listener
from hpcsim.policies.backfill_options import check_options
from hpcsim.policies.committed import CommittedPass
from hpcsim.policies.composition import declare, each_once
from hpcsim.policies.conservative import ConservativePlan
from hpcsim.policies.cqsim import CqsimPass
from hpcsim.policies.estimators import Requested
from hpcsim.policies.identical_nodes import need_identical_nodes
from hpcsim.policies.orders import FCFS, SJF
from hpcsim.policies.per_set import PerSetReservingPass, PerSetShadowPass
from hpcsim.policies.per_set_conservative import PerSetConservativePlan
from hpcsim.policies.reserving import ReservingPass
from hpcsim.policies.shadow import ShadowPass
from hpcsim.policies.sorted_candidates import SortedCandidatesPass
from hpcsim.policy import Order, Policy
from hpcsim.system import System

Pass = (
    ShadowPass
    | ReservingPass
    | ConservativePlan
    | CommittedPass
    | PerSetShadowPass
    | PerSetReservingPass
    | PerSetConservativePlan
)


class Backfill(Policy):
    """Backfilling with *reservations* for the first blocked jobs.

    Parameters:
        order: who comes first.
        backfill_order: in which order later jobs are tried; default: *order* (``"rlscheduler"``:
            order of arrival).
        reservations: 0, none: any job that fits starts; 1, EASY; k, the first k blocked jobs,
            re-derived at each pass; ``"all"``, conservative: a promise for every job at arrival.
        admit: with one reservation, who may pass: ``"shadow+extra"``, jobs that end by the shadow
            time or use only extra nodes; ``"shadow"``, only the former. Default: the protocol's own.
        boundary: ``"<="`` counts a job that ends exactly at the shadow time as ended by it, ``"<"``
            does not. Default: the protocol's own.
        estimates: how long jobs are planned to run.
        depth: how many jobs behind the first blocked one are tried; None: all.
        compress: with ``"all"``, when promises are remade: ``"early"``, when a job ends before its
            planned end; ``"any"``, at every end.
        protocol: ``"textbook"``, one pass an instant, reservations derived anew at each. The others
            repeat what another simulator calls EASY, with one reservation: ``"rlscheduler"`` goes
            event by event, with a committed head and a fixed shadow time, admits by ``"shadow"`` and
            ``"<"``, and backfills in order of arrival unless told otherwise (``depth=0``: no
            backfilling); ``"cqsim"`` tests candidates by their true run times, clairvoyantly.

    Source: Mu'alem and Feitelson, IEEE TPDS 12(6), 2001.
    """

    order: Order = field(default_factory=FCFS)
    backfill_order: Order | None = None
    reservations: int | Literal["all"] = 1
    admit: Literal["shadow+extra", "shadow"] | None = None
    boundary: Literal["<=", "<"] | None = None
    estimates: Estimator = field(default_factory=Requested)
    depth: int | None = None
    compress: Literal["early", "any"] = "early"
    protocol: Literal["textbook", "rlscheduler", "cqsim"] = "textbook"

    invariances = ("time-shift",)

    def __post_init__(self) -> None:
        is_committed = self.protocol == "rlscheduler"
        if self.admit is None:
            self.admit = "shadow" if is_committed else "shadow+extra"
        if self.boundary is None:
            self.boundary = "<" if is_committed else "<="
        check_options(self)
        parts = (self.order, self.backfill_order, self.estimates)
        declare(self, parts, is_clairvoyant=self.protocol == "cqsim", keeps_guarantees=_keeps_guarantees(self))

    def reset(self, cluster: Cluster, rng: np.random.Generator) -> None:
        """Forget everything; pick the algorithm for the number of reservations."""
        self.order.reset(cluster, rng)
        if self.backfill_order is not None:
            self.backfill_order.reset(cluster, rng)
        self.estimates.reset()
        self._pass: Pass
        if self.protocol != "textbook":
            self._pass = CommittedPass(self) if self.protocol == "rlscheduler" else CqsimPass(self)
        elif self.reservations == "all":
            self._pass = ConservativePlan(self)
        elif self.reservations <= 1:
            self._pass = SortedCandidatesPass(self) if SortedCandidatesPass.serves(self) else ShadowPass(self)
        else:
            self._pass = ReservingPass(self)

    def begin(self, system: System) -> None:
        """Reserve for each set of nodes where nodes differ."""
        if not system.nodes_are_alike:
            if self.protocol != "textbook":
                need_identical_nodes(f"Protocol '{self.protocol}'", system)
            if self.reservations in {0, 1}:
                self._pass = PerSetShadowPass(self, may_boot=system.cluster.has_power)
            else:
                self._pass = PerSetConservativePlan(self) if self.reservations == "all" else PerSetReservingPass(self)

    def listeners(self) -> Sequence[Listener]:
        """Return the parts that hear what happens: orders, estimates and the algorithm."""
        orders = [*self.order.listeners(), *(self.backfill_order.listeners() if self.backfill_order else ())]
        return each_once(self.estimates, *orders, self._pass)

    def schedule(self, system: System) -> Iterable[Decision]:
        """Start what may start by the rules above."""
        return self._pass.schedule(system)


class EASY(Backfill):
    """EASY backfilling: the first blocked job gets the one reservation, later ones may not delay it.

    Source: Lifka, JSSPP 1995; as defined in Mu'alem and Feitelson 2001.
    """

    guarantees = ("no-head-delay",)


class EasySJBF(Backfill):
    """EASY-SJBF: EASY in which later jobs are tried shortest first, by requested time.

    Source: Tsafrir, Etsion and Feitelson, IEEE TPDS 18(6), 2007, for the name.
    """

    backfill_order: Order | None = field(default_factory=SJF)

    guarantees = ("no-head-delay",)


class Conservative(Backfill):
    """Conservative backfilling: every job is promised a start at arrival, and nobody delays a promise.

    Source: Mu'alem and Feitelson, IEEE TPDS 12(6), 2001.
    """

    reservations: int | Literal["all"] = "all"

    guarantees = ("no-delay-of-any",)


def _keeps_guarantees(policy: Backfill) -> bool:
    """Whether what the class guarantees holds with these options.

    Promises by anything but limits can be broken, and so can those to a head that others overtake.
    Nobody but the first has one unless all have, and a first one among many may wait behind theirs.
    """
    if policy.protocol != "textbook" or type(policy.estimates) is not Requested:
        return False
    if "no-delay-of-any" in policy.guarantees:
        return policy.reservations == "all"
    return policy.reservations not in (0, "all") and isinstance(policy.order, FCFS)
