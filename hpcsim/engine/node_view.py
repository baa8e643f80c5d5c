"""The engine's side of `System` on a machine whose nodes differ."""

from __future__ import annotations

from hpcsim.advisor import Advisor
from hpcsim.engine.jobs import JobLife
from hpcsim.engine.node_ledger import NodeLedger
from hpcsim.engine.powered_ledger import PoweredLedger
from hpcsim.engine.view import EngineSystem, planned_end_s
from hpcsim.estimator import Estimator
from hpcsim.job import Job
from hpcsim.node_plan import NodePlan
from hpcsim.policy import Policy
from hpcsim.powered_nodes import POWER_CAP
from hpcsim.profile import Profile


class NodeSystem(EngineSystem):
    """The view of unlike or shared nodes: what fits is asked of the ledger, job by job."""

    __slots__ = ("__books", "__layout")

    def __init__(self, life: JobLife, policy: Policy | Advisor | None, ledger: NodeLedger) -> None:
        super().__init__(life, policy)
        self.__books = ledger
        self.__layout = ledger.layout

    @property
    def nodes_are_alike(self) -> bool:
        return False

    def fits(self, job: Job) -> bool:
        return self.__books.fits(job)

    def earliest_start_s(self, job: Job) -> float:
        return self.plan().shadow(job)[0]

    def competes_for(self, job: Job) -> frozenset[str]:
        return self.__layout.eligible(job).groups

    def plan(self, estimates: Estimator | None = None) -> NodePlan:
        ledger, now_s = self.__books, self.now_s
        if estimates is None:
            return ledger.plan(now_s)
        ends = [(planned_end_s(held, estimates, self), held.job.row, held.claim) for held in ledger.running.values()]
        return ledger.plan(now_s, sorted(ends))

    def profile(self, estimates: Estimator | None = None) -> Profile:
        plan = self.plan(estimates)
        return Profile(self.now_s, self.free, self.__books.releases_of(plan.planned_ends))


class PoweredSystem(NodeSystem):
    """The view of a machine whose power is described."""

    __slots__ = ("__power",)

    def __init__(self, life: JobLife, policy: Policy | Advisor | None, ledger: PoweredLedger) -> None:
        super().__init__(life, policy, ledger)
        self.__power = ledger.power

    @property
    def power_w(self) -> float:
        return self.__power.power_w

    def competes_for(self, job: Job) -> frozenset[str]:
        groups = super().competes_for(job)
        return groups | {POWER_CAP} if self.__power.cap.is_there else groups


def system_of(life: JobLife, policy: Policy | Advisor | None, ledger: NodeLedger) -> NodeSystem:
    """Return the view that goes with a ledger."""
    return (
        PoweredSystem(life, policy, ledger) if isinstance(ledger, PoweredLedger) else NodeSystem(life, policy, ledger)
    )
