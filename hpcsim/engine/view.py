"""The engine's side of `System`: reads everything, changes nothing."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING

from hpcsim.cluster import Cluster
from hpcsim.engine.ledger import Allocation, CountingLedger
from hpcsim.engine.queue import QueueView
from hpcsim.errors import Clairvoyance
from hpcsim.estimator import Estimator
from hpcsim.job import Job
from hpcsim.profile import Profile
from hpcsim.system import RunningJob, System

if TYPE_CHECKING:
    from hpcsim.engine.simulation import Simulation


class RunningView(Collection[RunningJob]):
    """The running jobs, built one by one when somebody looks."""

    __slots__ = ("__running",)

    def __init__(self, running: dict[int, Allocation]) -> None:
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

    __slots__ = ("__env", "__free", "__ledger", "__promised", "__queue", "__running", "__simulation")

    def __init__(self, simulation: Simulation, ledger: CountingLedger, promised: dict[int, float]) -> None:
        self.__simulation = simulation
        self.__env = simulation.env
        self.__ledger = ledger
        self.__free = ledger.free_nodes
        self.__queue = QueueView(simulation.queue)
        self.__running = RunningView(ledger.running)
        self.__promised = MappingProxyType(promised)

    @property
    def now_s(self) -> float:
        return self.__env._now

    @property
    def cluster(self) -> Cluster:
        return self.__ledger.cluster

    @property
    def queue(self) -> Sequence[Job]:
        return self.__queue

    @property
    def running(self) -> Collection[RunningJob]:
        return self.__running

    @property
    def free(self) -> int:
        return self.__free.count

    @property
    def promised(self) -> Mapping[int, float]:
        return self.__promised

    @property
    def power_w(self) -> float:
        return float("nan")

    def fits(self, job: Job) -> bool:
        return job.nodes <= self.__free.count

    def earliest_start_s(self, job: Job) -> float:
        return self.profile().shadow(job.nodes).start_s

    def profile(self, estimates: Estimator | None = None) -> Profile:
        now_s = self.now_s
        if estimates is None:
            return self.__ledger.profile(now_s)
        releases = []
        for held in self.__ledger.running.values():
            end_s = held.start_s + estimates.limit_s(held.job, self)
            if end_s <= now_s and held.start_s < now_s:
                end_s = max(held.start_s + estimates.expired(held.job, self), now_s + 1)
            releases.append((end_s, held.job.row, held.job.nodes))
        return Profile(now_s, self.free, sorted(releases))

    def true_run_time_s(self, job: Job) -> float:
        policy = self.__simulation.policy
        if policy is None or not policy.clairvoyant:
            raise Clairvoyance(
                f"{type(policy).__name__} asked for the true run time of job {job.job_id}.",
                "Use job.limit_s or an estimator, or declare clairvoyant = True in the class.",
            )
        return self.__simulation.truth.run_s(job.row)
