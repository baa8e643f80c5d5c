"""Conservative backfilling where nodes differ: each promise names its nodes, and is kept on them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from hpcsim.decision import Decision, Reserve, WakeAt
from hpcsim.job import Job
from hpcsim.node_layout import Claim as Nodes
from hpcsim.node_plan import NodePlan
from hpcsim.policies.conservative import Claim, ConservativePlan
from hpcsim.policies.estimators import Requested
from hpcsim.system import System


class NodeClaim(Claim):
    """A claim that knows which nodes it is on."""

    __slots__ = ("nodes",)

    def __init__(self, job: Job, length_s: float) -> None:
        super().__init__(job, length_s)
        self.nodes: Nodes = ()


class PerSetConservativePlan(ConservativePlan):
    """The promises of one run on a machine whose nodes differ; the rules are those of `ConservativePlan`."""

    _claims_of = NodeClaim

    def _new_plan(self, system: System) -> Any:
        return system.plan(None if type(self._estimates) is Requested else self._estimates)

    def _future(self, system: System) -> NodePlan:
        plan: Any = self._plan(system)
        return plan  # type: ignore[no-any-return]

    def _give_back(self, claim: Any, from_s: float, system: System) -> None:
        plan = self._future(system)
        plan.give_back(claim.nodes, from_s, claim.end_s)

    def _place(self, claim: Any, system: System) -> None:
        plan = self._future(system)
        length_s = claim.length_s
        claim.start_s, claim.nodes = plan.earliest(claim.job, length_s, system.now_s)
        if claim.start_s <= system.now_s and (boot_s := plan.boot_s(claim.job, claim.nodes)):
            length_s += boot_s
            claim.start_s, claim.nodes = plan.earliest(claim.job, length_s, system.now_s)
        claim.end_s = claim.start_s + length_s
        plan.take(claim.nodes, claim.start_s, claim.end_s)

    def _compress(self, system: System) -> Iterator[Decision]:
        """Move each promise, in queue order, to the first place that has room once its own is given up."""
        plan = self._future(system)
        plan.forget_before(system.now_s)
        for claim in self._in_order(system):
            was_s = claim.start_s
            if was_s <= system.now_s or not plan.may_fit_before(claim.job, was_s):
                continue
            self._give_back(claim, was_s, system)
            self._place(claim, system)
            if claim.start_s < was_s:
                self._next_s = min(self._next_s, claim.start_s)
                yield Reserve(claim.job, claim.start_s)

    def schedule(self, system: System) -> Iterator[Decision]:
        """Do as on like nodes; where a boot or a shutdown keeps a due job from its start, plan anew in a second."""
        yield from super().schedule(system)
        if any(claim.start_s <= system.now_s for claim in self._promised.values()):
            self._is_broken = True
            yield WakeAt(system.now_s + 1)

    def _start_due(self, system: System) -> Iterator[Decision]:
        now_s, plan = system.now_s, self._future(system)
        due: list[Any] = [claim for claim in self._promised.values() if claim.start_s <= now_s]
        for claim in due:
            start = plan.decide(claim.job, claim.nodes) if system.fits(claim.job) else None
            if start is not None:
                yield start
