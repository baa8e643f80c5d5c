"""Write a scheduling policy: a generator of decisions, as a SimPy process is one of events.

    class FCFS(Policy):
        def schedule(self, system):
            for job in system.queue:
                if not system.fits(job):
                    return
                yield Start(job)

The engine applies each decision before it resumes the generator, so *system* is always up to date.
An illegal decision is thrown back into the generator as `InvalidDecision`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, fields
from typing import Any, ClassVar, dataclass_transform

import numpy as np

from hpcsim.cluster import Cluster
from hpcsim.decision import Decision, Start
from hpcsim.job import Job
from hpcsim.listener import Listener
from hpcsim.system import System
from hpcsim.waiting import SortedQueue

GUARANTEES = ("fcfs-order", "no-head-delay", "no-delay-of-any")
INVARIANCES = ("time-shift", "time-scale")


@dataclass_transform(kw_only_default=True, eq_default=False)
class Policy(Listener, ABC):
    """Base of all policies.

    Annotated class attributes are its keyword-only parameters (each subclass becomes a dataclass),
    so `repr`, TOML and provenance come free. State is born in `reset`, never in the constructor.

    Attributes:
        clairvoyant: it may call `System.true_run_time_s`; results name such policies.
        guarantees: promises that the conformance kit checks, out of `GUARANTEES`.
        invariances: changes of the workload that must not change the schedule, out of `INVARIANCES`.
    """

    clairvoyant: ClassVar[bool] = False
    guarantees: ClassVar[tuple[str, ...]] = ()
    invariances: ClassVar[tuple[str, ...]] = ()

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        dataclass(kw_only=True, eq=False)(cls)

    @abstractmethod
    def schedule(self, system: System) -> Iterable[Decision]:
        """Yield the decisions of one pass."""

    def reset(self, cluster: Cluster, rng: np.random.Generator) -> None:
        """Forget everything and prepare for a run on *cluster*; draw random numbers from *rng* only."""

    def begin(self, system: System) -> None:
        """A run begins: the view is there for the first time, after `reset`, and nothing has happened yet."""

    def listeners(self) -> Sequence[Listener]:
        """Return whose hooks the engine calls: this policy, and parts of it that listen as well."""
        return (self,)

    def parameters(self) -> dict[str, Any]:
        """Return the constructor's parameters, nested ones as ``{"class": name, ...}``."""
        return {field.name: _plain(getattr(self, field.name)) for field in fields(self)}  # type: ignore[arg-type]


def _start_leading(waiting: Iterable[Job], system: System) -> Iterator[Decision]:
    for job in waiting:
        if not system.fits(job):
            return
        yield Start(job)


def _start_unstopped(waiting: Iterable[Job], system: System) -> Iterator[Decision]:
    stopped: set[str] = set()
    for job in waiting:
        wanted = system.competes_for(job)
        if stopped.isdisjoint(wanted) and system.fits(job):
            yield Start(job)
        else:
            stopped |= wanted
            if len(stopped) == len(system.cluster.groups):
                return


class Order(Policy):
    """A priority: jobs start in key order, smallest first, stopping at the first that does not fit.

    Ties go by queue position. An order is a policy by itself, and the `order` or `backfill_order` of
    a backfilling policy.

    Attributes:
        is_dynamic: the key changes while a job waits, so the queue is sorted at each pass.
            Otherwise it is computed once, at arrival.
    """

    is_dynamic: ClassVar[bool] = False

    _nodes_are_alike: ClassVar[bool] = True

    @abstractmethod
    def key(self, job: Job, system: System) -> Any:
        """Return the sort key of a waiting job."""

    def reset(self, cluster: Cluster, rng: np.random.Generator) -> None:
        """Forget the queue. A subclass that overrides this calls ``super().reset(cluster, rng)``."""
        self._sorted = SortedQueue(self.key)

    def begin(self, system: System) -> None:
        """Note whether nodes differ. A subclass that overrides this calls ``super().begin(system)``."""
        vars(self)["_nodes_are_alike"] = system.nodes_are_alike

    def listeners(self) -> Sequence[Listener]:
        """Return this order and, where keys are static, its sorted queue."""
        return (self,) if self.is_dynamic else (self, self._sorted)

    def in_order(self, system: System) -> Sequence[Job]:
        """Return the waiting jobs in key order. With static keys that is a live view of them."""
        return sorted(system.queue, key=lambda job: self.key(job, system)) if self.is_dynamic else self._sorted

    def schedule(self, system: System) -> Iterable[Decision]:
        """Start jobs in key order; stop at the first that does not fit.

        Where nodes differ, that job stops only those that could want the same nodes.
        """
        start = _start_leading if self._nodes_are_alike else _start_unstopped
        return start(self.in_order(system), system)


def _plain(value: Any) -> Any:
    """Return *value* as plain data for provenance."""
    if isinstance(value, str | int | float | bool | None):
        return value
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if hasattr(value, "__dataclass_fields__"):
        return {"class": type(value).__name__} | {f.name: _plain(getattr(value, f.name)) for f in fields(value)}
    return getattr(value, "__qualname__", repr(value))
