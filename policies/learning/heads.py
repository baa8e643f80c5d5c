"""Let somebody choose: passes that ask for the next job, and do what the answer entails.

A pass is a generator of decisions, as a policy's is, that also yields an `Ask` and is sent the job
chosen. So an environment can suspend it while its agent thinks, a policy answers at once, and both run
the same code.

*commit*: the job chosen becomes the head. It starts if it fits; else it stays the head until it does,
over as many passes as it takes, and others are backfilled beside it. *start-or-wait*: a job chosen
fits and starts; with None for an answer the pass ends.
"""

from __future__ import annotations

import math
import sys
from abc import abstractmethod
from collections.abc import Collection, Generator, Iterable, Iterator, Sequence
from dataclasses import field
from typing import Any, NamedTuple

import numpy as np

from hpcsim.cluster import Cluster
from hpcsim.decision import Decision, Reserve, Start
from hpcsim.errors import InvalidArgument, closest
from hpcsim.job import Job
from hpcsim.listener import Listener
from hpcsim.policies.backfill import Backfill
from hpcsim.policies.committed import CommittedPass
from hpcsim.policies.composition import each_once
from hpcsim.policies.orders import SAF, SJF
from hpcsim.policy import Order, Policy
from hpcsim.recorder import Recorder
from hpcsim.system import System
from hpcsim.waiting import SortedQueue, WaitingJobs, choose_among

BACKFILLS = ("easy", "easy-sjbf", "none", "rlscheduler", "rlscheduler-none")
"""What happens beside a committed head that does not fit.

``easy``: textbook EASY, its shadow time derived anew at each pass, jobs tried by arrival;
``easy-sjbf``: the same, shortest request first; ``none``: nothing. ``rlscheduler`` and
``rlscheduler-none`` are the protocol of RLScheduler, event by event, see `hpcsim.policies.committed`.
"""

_NEVER = sys.float_info.max  # a shadow time that every limit meets, except no limit


class Ask(NamedTuple):
    """A pass asks which waiting job comes next.

    Attributes:
        hidden: rows of jobs that wait by the engine, but whose turn to be seen has not come.
        free: nodes that count as free.
        may_wait: None is an answer, too: wait for the next event.
    """

    hidden: Collection[int]
    free: int
    may_wait: bool = False


Pass = Generator[Decision | Ask, Job | None, None]


class AskingPass(Recorder):
    """A pass in which somebody chooses. It listens to the run."""

    def reset(self, cluster: Cluster) -> None:
        """Forget everything; the next run is on *cluster*."""

    @abstractmethod
    def schedule(self, system: System) -> Pass:
        """Yield decisions, and an `Ask` where somebody has to choose; that one is answered by `send`."""

    def listeners(self) -> Sequence[Listener]:
        """Return the parts that listen to the run."""
        return (self,)


class CommittedHead(AskingPass):
    """Heads are chosen one by one; behind one that does not fit, EASY or nothing.

    Args:
        backfill: ``"easy"``, ``"easy-sjbf"`` or ``"none"``.
        skip_forced: do not ask where a single job waits.
        keeps: a head stays the head until it starts; else each pass asks anew.
    """

    def __init__(self, backfill: str = "easy", *, skip_forced: bool = True, keeps: bool = True) -> None:
        self._backfill = backfill
        self._skip_forced = skip_forced
        self._keeps = keeps

    def reset(self, cluster: Cluster) -> None:
        """Forget the head."""
        self._head: Job | None = None
        order = SJF() if self._backfill == "easy-sjbf" else None
        self._sorted = SortedQueue(order.key) if order else None
        self._head_first = _HeadFirst()
        self._by_sets = Backfill(order=self._head_first, backfill_order=order)
        self._by_sets.reset(cluster, np.random.default_rng(0))
        self._has_begun = False
        self._arrived: list[Job] = []
        self._refused_at = -1
        self._latest_end_s = math.inf
        self._extra = 0

    def listeners(self) -> Sequence[Listener]:
        """Return this pass, and the sorted queue of candidates where there is one."""
        return (self,) if self._sorted is None else (self, self._sorted)

    def on_submit(self, job: Job, system: System) -> None:
        """A job has arrived."""
        self._arrived.append(job)

    def on_leave(self, job: Job, system: System) -> None:
        """A head that leaves, started or cancelled, is the head no more."""
        if self._head is not None and self._head.row == job.row:
            self._head = None
            self._refused_at = -1

    def on_change(self, old: Job, new: Job, system: System) -> None:
        """A head stays the head when it is changed."""
        if self._head is not None and self._head.row == old.row:
            self._head = new
        self._refused_at = -1

    def schedule(self, system: System) -> Pass:
        """Start heads while they fit; behind one that does not, backfill."""
        last = self._head
        if not self._keeps:
            self._head = None
        while len(system.queue):
            head = self._head
            if head is None:
                is_forced = self._skip_forced and len(system.queue) == 1
                head = system.queue[0] if is_forced else (yield Ask((), system.free))
            assert head is not None
            if not system.fits(head):
                if last is not None and last.row != head.row:
                    self._refused_at = -1
                    if last.row in system.promised:
                        yield Reserve(last, math.inf)
                self._head = head
                yield from self._behind(head, system)
                return
            yield Start(head)
            self._refused_at = -1  # it took nodes that the last pass left over

    def _behind(self, head: Job, system: System) -> Iterable[Decision]:
        """Return what starts beside *head*.

        Where nothing but arrivals has happened since the last pass, whatever was refused then cannot
        start now, and only the new arrivals are tried.
        """
        arrived, self._arrived = self._arrived, []
        if not system.nodes_are_alike:
            return () if self._backfill == "none" else self._behind_by_sets(head, system)
        now_s = system.now_s
        if self._refused_at == system.ends_seen and now_s + 1 <= self._latest_end_s and self._backfill != "easy-sjbf":
            if self._backfill == "none" or not system.free:
                return ()
            chosen, self._extra = choose_among(arrived, system.free, now_s, self._latest_end_s, self._extra)
            return map(Start, chosen)
        return self._derive(head, system)

    def _derive(self, head: Job, system: System) -> Iterator[Decision]:
        """Derive the head's shadow time, and start what may start beside it."""
        shadow_s, self._extra = system.shadow(head.nodes)
        self._latest_end_s = min(shadow_s, _NEVER)
        self._refused_at = system.ends_seen
        if system.promised.get(head.row, math.inf) != shadow_s:
            yield Reserve(head, shadow_s)
        if self._backfill == "none" or not system.free:
            return
        candidates: WaitingJobs = system.queue if self._sorted is None else self._sorted
        chosen, self._extra = candidates.choose(system.free, system.now_s, self._latest_end_s, self._extra)
        for job in chosen:
            yield Start(job)

    def _behind_by_sets(self, head: Job, system: System) -> Iterable[Decision]:
        """Return what backfilling decides where nodes differ, this head before all others."""
        if not self._has_begun:
            self._by_sets.begin(system)
            self._has_begun = True
        self._head_first.head_row = head.row
        return self._by_sets.schedule(system)


class _HeadFirst(Order):
    """One job before all others, which stand as they arrived."""

    is_dynamic = True

    def reset(self, cluster: Cluster, rng: np.random.Generator) -> None:
        """Forget the head."""
        super().reset(cluster, rng)
        self.head_row = -1

    def key(self, job: Job, system: System) -> Any:
        """Return False for the head."""
        return job.row != self.head_row


class ProtocolPass(CommittedPass, AskingPass):
    """RLScheduler's protocol, its heads chosen by whoever drives the pass.

    Args:
        has_backfill: jobs are backfilled beside a head that does not fit.
        skip_forced: do not ask where a single job has been seen.
    """

    def __init__(self, *, has_backfill: bool = True, skip_forced: bool = True) -> None:
        self._backfill = Backfill(protocol="rlscheduler", depth=None if has_backfill else 0)
        self._skip_forced = skip_forced

    def reset(self, cluster: Cluster) -> None:
        """Forget everything."""
        CommittedPass.__init__(self, self._backfill)

    def schedule(self, system: System) -> Any:
        """Let what happened at this instant happen one by one; ask after each."""
        return CommittedPass.schedule(self, system)

    def _first(self, system: System) -> Generator[Any, Any, Job | None]:
        seen = len(system.queue) - len(self._arrived)
        if not seen:
            return None
        if seen == 1 and self._skip_forced:
            return next(job for job in system.queue if job.row not in self._arrived)
        chosen: Job | None = yield Ask(tuple(self._arrived), self._free(system))
        return chosen


class StartOrWait(AskingPass):
    """Jobs that fit are started one by one, until the answer is to wait or nothing fits.

    To wait is no answer while nothing runs.
    """

    def schedule(self, system: System) -> Pass:
        """Ask while something fits; end the pass when told to wait."""
        while any(system.fits(job) for job in system.queue):
            job = yield Ask((), system.free, may_wait=bool(len(system.running)))
            if job is None:
                return
            yield Start(job)


def committed(backfill: str = "easy", *, skip_forced: bool = True, keeps: bool = True) -> AskingPass:
    """Return the pass in which heads are chosen, with one of `BACKFILLS` beside them.

    Raises:
        InvalidArgument: there is no such backfilling, or it keeps its heads and *keeps* says that it does not.
    """
    if backfill not in BACKFILLS:
        raise InvalidArgument(
            f"backfill is {backfill!r}.{closest(str(backfill), BACKFILLS)}", f"Give one of {', '.join(BACKFILLS)}."
        )
    if not isinstance(keeps, bool):
        raise InvalidArgument(f"keeps_heads is {keeps!r}.", "Give true or false.")
    if always_keeps(backfill):
        if not keeps:
            raise InvalidArgument(
                "The protocol of RLScheduler keeps its heads.", "Leave keeps_heads out, or give another backfill."
            )
        return ProtocolPass(has_backfill=backfill == "rlscheduler", skip_forced=skip_forced)
    return CommittedHead(backfill, skip_forced=skip_forced, keeps=keeps)


def always_keeps(backfill: str) -> bool:
    """Tell whether a protocol keeps its heads, whatever one would like."""
    return backfill.startswith("rlscheduler")


class ChoosesHeads(Policy):
    """Base of policies that choose heads: a subclass says which job comes next, in `choose`.

    Parameters:
        backfill: one of `BACKFILLS`.
        keeps_heads: a head stays the head until it starts; False: `choose` is asked anew at each pass. None: it
            stays, unless a subclass knows better.
    """

    backfill: str = "easy"
    keeps_heads: bool | None = None

    def __post_init__(self) -> None:
        committed(self.backfill, keeps=self._keeps())

    def _keeps(self) -> bool:
        """Return whether a head stays until it starts."""
        return True if self.keeps_heads is None else self.keeps_heads

    def reset(self, cluster: Cluster, rng: np.random.Generator) -> None:
        """Forget everything. A subclass that overrides this calls ``super().reset(cluster, rng)``."""
        self._pass = committed(self.backfill, keeps=self._keeps())
        self._pass.reset(cluster)

    def listeners(self) -> Sequence[Listener]:
        """Return this policy and its pass. A subclass adds what else listens."""
        return each_once(self, *self._pass.listeners())

    @abstractmethod
    def choose(self, ask: Ask, system: System) -> Job:
        """Return the waiting job that comes next, none of the hidden ones."""

    def schedule(self, system: System) -> Iterator[Decision]:
        """Answer what the pass asks; pass on what it decides."""
        going = self._pass.schedule(system)
        answer: Job | None = None
        while True:
            try:
                said = going.send(answer)
            except StopIteration:
                return
            answer = None
            if isinstance(said, Ask):
                answer = self.choose(said, system)
            else:
                yield said


class OrderedHeads(ChoosesHeads):
    """Heads by an order, committed: what a rule does in the place of an agent.

    Parameters:
        order: who comes first.
    """

    order: Order = field(default_factory=SAF)

    def reset(self, cluster: Cluster, rng: np.random.Generator) -> None:
        """Forget everything."""
        super().reset(cluster, rng)
        self.order.reset(cluster, rng)

    def listeners(self) -> Sequence[Listener]:
        """Return the order's listeners and the pass."""
        return each_once(*super().listeners(), *self.order.listeners())

    def choose(self, ask: Ask, system: System) -> Job:
        """Return the job that comes first by the order."""
        return next(job for job in self.order.in_order(system) if job.row not in ask.hidden)
