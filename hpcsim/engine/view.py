"""The engine's side of `System`: reads everything, changes nothing."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from types import MappingProxyType

from hpcsim.advisor import Advisor
from hpcsim.cluster import Cluster
from hpcsim.decision import Start
from hpcsim.engine.jobs import JobLife
from hpcsim.engine.ledger import Allocation
from hpcsim.engine.queue import JobQueue
from hpcsim.errors import Clairvoyance
from hpcsim.estimator import Estimator
from hpcsim.job import Job
from hpcsim.node_layout import Claim, NodeLayout
from hpcsim.node_plan import NodePlan, PlannedEnd
from hpcsim.policy import Policy
from hpcsim.profile import Profile, Shadow
from hpcsim.system import RunningJob, System


class RunningView(Collection[RunningJob]):
    """The running jobs, built one by one when somebody looks."""

    __slots__ = ("__running",)

    def __init__(self, running: Mapping[int, Allocation]) -> None:
        self.__running = running

    def __len__(self) -> int:
        return len(self.__running)

    def __iter__(self) -> Iterator[RunningJob]:
        for held in list(self.__running.values()):
            yield RunningJob(held.job, held.start_s, held.limit_end_s, held.node_ids)

    def __contains__(self, entry: object) -> bool:
        return isinstance(entry, RunningJob) and any(entry == other for other in self)


class EngineSystem(System):
    """The view that policies, advisors and recorders get."""

    __slots__ = ("__env", "__free", "__ledger", "__life", "__policy", "__promised", "__queue", "__running")

    def __init__(self, life: JobLife, policy: Policy | Advisor | None) -> None:
        """*policy* is whose view it is: what it may know goes by its class."""
        self.__life = life
        self.__policy = policy
        self.__env = life.env
        self.__ledger = life.ledger
        self.__free = life.ledger.free_nodes
        self.__queue = life.queue
        self.__running = RunningView(life.ledger.running)
        self.__promised = MappingProxyType(life.promised)

    @property
    def now_s(self) -> float:
        now_s: float = self.__env._now
        return now_s

    @property
    def cluster(self) -> Cluster:
        return self.__ledger.cluster

    @property
    def queue(self) -> JobQueue:
        return self.__queue

    @property
    def running(self) -> Collection[RunningJob]:
        return self.__running

    def started_s(self, job: Job) -> float:
        return self.__ledger.running[job.row].start_s

    @property
    def free(self) -> int:
        return self.__free.count

    @property
    def ends_seen(self) -> int:
        return self.__life.ends_seen

    @property
    def promised(self) -> Mapping[int, float]:
        return self.__promised

    @property
    def power_w(self) -> float:
        return float("nan")

    def fits(self, job: Job) -> bool:
        return job.nodes <= self.__free.count

    def earliest_start_s(self, job: Job) -> float:
        return self.shadow(job.nodes).start_s

    def shadow(self, nodes: int) -> Shadow:
        return self.__ledger.shadow(self.now_s, nodes)

    def profile(self, estimates: Estimator | None = None) -> Profile:
        now_s = self.now_s
        if estimates is None:
            return self.__ledger.profile(now_s)
        releases = [
            (planned_end_s(held, estimates, self), held.job.row, held.job.nodes)
            for held in self.__ledger.running.values()
        ]
        return Profile(now_s, self.free, sorted(releases))

    def plan(self, estimates: Estimator | None = None) -> NodePlan:
        now_s, ledger = self.now_s, self.__ledger
        profile_ends = ledger.releases(now_s) if estimates is None else self.profile(estimates).releases
        ends: list[PlannedEnd] = [(end_s, row, ((0, nodes),)) for end_s, row, nodes in profile_ends]
        return NodePlan(NodeLayout(ledger.cluster), now_s, [self.free], ends, _start)

    def true_run_time_s(self, job: Job) -> float:
        self.__check_clairvoyant(job, "run time")
        held = self.__ledger.running.get(job.row)
        return held.run_s if held else self.__life.truth.run_s(job)

    def true_power_w(self, job: Job) -> float:
        self.__check_clairvoyant(job, "power")
        return self.__life.truth.power_w(job)

    def __check_clairvoyant(self, job: Job, what: str) -> None:
        policy = self.__policy
        if policy is None or not policy.clairvoyant:
            raise Clairvoyance(
                f"{type(policy).__name__} asked for the true {what} of job {job.job_id}.",
                "Use job.limit_s or an estimator, or declare clairvoyant = True in the class.",
            )


def _start(job: Job, _: Claim) -> Start:
    """Decide to start *job*: where nodes are alike any claim is the default choice."""
    return Start(job)


def planned_end_s(held: Allocation, estimates: Estimator, system: System) -> float:
    """Return when a running job is planned to end by *estimates*; one that has outlived them, a new estimate."""
    now_s = system.now_s
    end_s = held.start_s + estimates.limit_s(held.job, system)
    if end_s <= now_s and held.start_s < now_s:
        end_s = max(held.start_s + estimates.expired(held.job, system), now_s + 1)
    return end_s
