"""One run: wire the parts together, drive it whole or decision by decision.

Most users call `hpcsim.simulate`. `Simulation` is for those who step: a learning environment, a
state machine, or somebody with SimPy processes of their own on `Simulation.env`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import get_args

import numpy as np
import simpy

from hpcsim.advisor import Advisor
from hpcsim.cluster import Cluster
from hpcsim.decision import Decision
from hpcsim.engine import arguments
from hpcsim.engine.advice import AdviceDesk
from hpcsim.engine.advice_log import AdviceLog
from hpcsim.engine.advised_jobs import AdvisedLife
from hpcsim.engine.checker import InvariantChecker
from hpcsim.engine.clock import paused_collector, pending_events, step
from hpcsim.engine.columns import RunColumns
from hpcsim.engine.decisions import Decider
from hpcsim.engine.job_power import PowerTrace, TruePower
from hpcsim.engine.jobs import JobLife
from hpcsim.engine.ledger import Ledger
from hpcsim.engine.need import Books, books_for, make_ledger
from hpcsim.engine.node_checker import NodeChecker
from hpcsim.engine.node_decisions import NodeDecider
from hpcsim.engine.node_ledger import NodeLedger
from hpcsim.engine.node_view import system_of
from hpcsim.engine.observers import Observers
from hpcsim.engine.passes import Passes
from hpcsim.engine.power import PowerBook
from hpcsim.engine.powered_ledger import PoweredLedger
from hpcsim.engine.processes import Arrivals
from hpcsim.engine.queue import JobQueue
from hpcsim.engine.requests import check_requests, check_watts
from hpcsim.engine.scalings import Scalings
from hpcsim.engine.truth import Truth
from hpcsim.engine.view import EngineSystem
from hpcsim.errors import HpcsimError, StalledPolicy, Unsupported, WorkloadError
from hpcsim.job import Job, JobState
from hpcsim.node_ids import MOST_NODES
from hpcsim.placement import Placement
from hpcsim.policy import Policy
from hpcsim.powered_nodes import WithWatts
from hpcsim.recorder import Recorder
from hpcsim.speedup import SpeedUp
from hpcsim.system import System
from hpcsim.workload import END_STATES, Workload

FOREIGN_STEPS = 100_000
"""Events of users' own processes in a row, on an idle machine with waiting jobs, before a run is stopped."""


class Simulation:
    """A workload on a cluster under a policy, or under a caller who decides (``policy=None``).

    Args:
        seed: root of all randomness of the run.
        check: watch the invariants (`InvariantChecker`); a breach is an error at once.
        recorders: observers.
        placement: which free nodes a job gets; default: the lowest ids.
        grace_s: seconds that a job may run over its limit before it is killed.
        kill_at_limit: False lets jobs outlive their limits.
        feedback: honour dependencies and think times of the log.
        advisor: node-count advice at submission; without one each job runs at the count it asks for.
        advice_budget_s: seconds of wall-clock time that an answer may take; a later one is discarded, and
            the run depends on how fast the machine is.
        scaling: how moldable jobs scale of whose run times at other counts the workload knows nothing;
            without it they keep their counts.
        books: which ledger keeps the nodes; default: the cheapest that serves (`hpcsim.engine.need`).
            Give ``"shared"`` if jobs that share nodes are submitted during the run.
        power_trace: which record of a job's power is simulated where the log has several: its series,
            its mean or its maximum.

    Raises:
        InvalidArgument: an argument is of a wrong type.
        Unsupported: the cluster, the workload or an option needs what this version has not.
    """

    def __init__(
        self,
        workload: Workload,
        cluster: Cluster,
        policy: Policy | None = None,
        *,
        seed: int = 0,
        check: bool = False,
        recorders: Sequence[Recorder] = (),
        placement: Placement | None = None,
        grace_s: float = 0,
        kill_at_limit: bool = True,
        feedback: bool = False,
        advisor: Advisor | None = None,
        advice_budget_s: float | None = None,
        scaling: SpeedUp | None = None,
        books: Books | None = None,
        power_trace: PowerTrace = "series",
    ) -> None:
        arguments.check_description(workload, cluster)
        arguments.check_plug_ins(policy, recorders, placement, advisor)
        _check_options(seed, grace_s, scaling, books, power_trace)
        arguments.check_advice_budget(advice_budget_s)
        check_requests(workload)
        _refuse_unsupported(workload, feedback)
        self.workload = workload
        self.cluster = cluster
        self.policy = policy
        scalings = Scalings(workload, scaling)
        self.truth = Truth(workload, scalings)
        self.env = simpy.Environment(initial_time=_first_submit_s(workload))
        self.queue = JobQueue()
        kind = books or books_for(workload, cluster)
        self.columns = RunColumns(len(workload), kind)
        ledger = make_ledger(kind, cluster, placement, limits_bind=kill_at_limit and grace_s == 0)
        self._checker = _checker(cluster, ledger) if check else None
        true_power = TruePower(workload, power_trace, scalings)
        self._power = self._connect_power(ledger, grace_s if kill_at_limit else math.inf, true_power)
        self._life = (JobLife if advisor is None else AdvisedLife)(
            self.env,
            cluster,
            ledger,
            self.queue,
            self.truth,
            self.columns,
            grace_s=grace_s,
            kill_at_limit=kill_at_limit,
            checker=self._checker,
            never_runs=ledger.never_runs if isinstance(ledger, NodeLedger) else None,
        )
        self._passes, self.system = self._passes_and_view(ledger)
        self._reset(placement, seed)
        observers = Observers(policy, recorders)
        if advisor is not None:
            self._connect_advisor(advisor, scalings, observers, seed, advice_budget_s)
        self._life.connect(observers, self.system)
        if self._power is not None:
            self._connect_hooks(self._power, observers)
        self._passes.connect(observers, self.system)
        self._arrivals = Arrivals(self.truth, self._life)

    @property
    def now_s(self) -> float:
        """The simulation clock."""
        return self.env.now

    @property
    def is_finished(self) -> bool:
        """Whether the workload is used up and every submitted job has ended."""
        return self._life.is_fed and not (self._life.open_jobs or self._life.has_news or self._passes.is_open)

    def run(self, until: float | None = None) -> None:
        """Run to the end, or until the clock reaches *until* seconds, before anything happens there.

        The end is when the workload is used up and every submitted job has ended; processes of
        your own that would go on, or submit more later, run on with ``until``.

        Raises:
            InvalidDecision: the policy decided something illegal and did not catch it.
            PolicyFailed: the policy raised an error.
            StalledPolicy: jobs wait and nothing is left to happen, or the policy never ends.
        """
        if self.policy is None:
            raise Unsupported("This simulation has no policy to run.", "Give one, or use run_to_decision().")
        arguments.check_until(until, self.env.now)
        with paused_collector():
            if until is None:
                self._drive(math.inf)
            else:
                self._drive(until, ends_when_finished=False)
                self.env._now = until
        if self._checker and self.is_finished:
            self._checker.finished(self.env.now)

    def run_to_decision(self) -> System | None:
        """Run until a pass opens with jobs waiting; return the view, or None when all is over.

        A pass that is still open is closed first.
        """
        if self.policy is not None:
            raise Unsupported("This simulation has a policy that decides.", "Use run(), or policy=None to decide.")
        if self._passes.is_open:
            self._passes.close()
        if not self.is_finished:
            self._drive(math.inf)
        if not self._passes.is_open:
            return None
        return self.system

    def apply(self, decision: Decision) -> None:
        """Apply one decision to the open pass.

        Raises:
            InvalidDecision: it breaks a rule; nothing has changed.
        """
        if not self._passes.is_open:
            raise Unsupported("No pass is open.", "Call run_to_decision() first.")
        self._passes.apply(decision)

    def close_pass(self) -> None:
        """End the open pass; time goes on with the next `run_to_decision`."""
        if not self._passes.is_open:
            raise Unsupported("No pass is open.", "Call run_to_decision() first.")
        self._passes.close()

    def submit(self, job: Job, run_s: float, end_state: JobState = JobState.COMPLETED) -> Job:
        """Submit *job* now; it would run *run_s* seconds and end in *end_state* by itself.

        Returns the job as queued: its row is the next free one, its submit time is now, and it is the
        effective one where the run has an advisor.
        """
        arguments.check_job(job)
        arguments.check_run_time(run_s)
        arguments.check_is_served(job, self.columns.books)
        queued = replace(job, row=len(self.columns.state), submit_s=self.env.now, requested=None)
        is_whole = isinstance(queued.nodes, int) and 1 <= queued.nodes <= MOST_NODES
        if not is_whole or not queued.limit_s >= 0 or not 0 <= run_s < math.inf or end_state not in END_STATES:
            raise WorkloadError(
                f"Job {job.job_id} asks for {job.nodes} nodes and {job.limit_s} s, would run {run_s} s and end "
                f"{end_state}.",
                f"Give at least 1 whole node and at most {MOST_NODES}, times of 0 or more, "
                "and COMPLETED, FAILED or CANCELLED.",
            )
        self.truth.add(queued.row, run_s, end_state)
        self.columns.add_row(queued)
        self._life.admit(queued)
        return self.queue.get(queued.row) or queued

    def advise_again(self, job: Job) -> Job:
        """Ask the advisor about a waiting job again; return the job that waits now, in the same place.

        The policy is told by `on_change`. Call it between passes, or in an open one. A job that advice has
        killed stays as its user asked for it.

        Raises:
            Unsupported: the run has no advisor.
            WorkloadError: the job does not wait.
        """
        arguments.check_job(job)
        if not isinstance(self._life, AdvisedLife):
            raise Unsupported("This simulation has no advisor.", "Give one: Simulation(..., advisor=...).")
        waiting = self.queue.get(job.row)
        if waiting is None:
            raise WorkloadError(f"Job {job.job_id} does not wait.", "Advise only about jobs in system.queue.")
        return self._life.advise_again(waiting)

    def cancel(self, job: Job, reason: str = "cancelled by its user") -> None:
        """Cancel a waiting or running job now."""
        arguments.check_job(job)
        if self.queue.get(job.row) is None and job.row not in self._life.ledger.running:
            raise WorkloadError(f"Job {job.job_id} neither waits nor runs.", "Cancel only what has not ended.")
        self._life.cancel(job.row, reason)

    def fail(self, node_ids: Sequence[int]) -> None:
        """Take nodes down. Not in this version."""
        raise Unsupported("Node failures cannot be simulated yet.", "Leave them out.")

    def repair(self, node_ids: Sequence[int]) -> None:
        """Bring nodes back. Not in this version."""
        raise Unsupported("Node failures cannot be simulated yet.", "Leave them out.")

    def finish(self) -> RunColumns:
        """Close the books and return the raw columns; open jobs become UNFINISHED."""
        self._life.cut()
        if self._power is not None:
            self.columns.energy = self._power.finish()
        return self.columns

    def _passes_and_view(self, ledger: Ledger) -> tuple[Passes, System]:
        """Return what holds decisions to the rules of these nodes, and what policies see of them."""
        decider = NodeDecider if isinstance(ledger, NodeLedger) else Decider
        return Passes(self._life, self.policy, self._checker, decider), self._view(ledger, self.policy)

    def _view(self, ledger: Ledger, whose: Policy | Advisor | None) -> System:
        """Return a view of these nodes for a policy or an advisor."""
        if isinstance(ledger, NodeLedger):
            return system_of(self._life, whose, ledger)
        return EngineSystem(self._life, whose)

    def _reset(self, placement: Placement | None, seed: int) -> None:
        """Prepare policy and placement for the run, each with random numbers of its own."""
        if self.policy is not None:
            rng = np.random.default_rng(np.random.SeedSequence(seed))
            Observers.tell([self.policy.reset], self.cluster, rng)
            Observers.tell([self.policy.begin], self.system)
        if placement is not None:
            rng = np.random.default_rng(np.random.SeedSequence(seed).spawn(1)[0])
            Observers.tell([placement.reset], self.cluster, rng)

    def _connect_advisor(
        self, advisor: Advisor, scalings: Scalings, observers: Observers, seed: int, budget_s: float | None
    ) -> None:
        """Let each job pass by the advisor, which has a view and random numbers of its own."""
        assert isinstance(self._life, AdvisedLife)
        log = self.columns.advice = AdviceLog(len(self.columns.state), has_budget=budget_s is not None)
        desk = self._life.desk = AdviceDesk(advisor, scalings, log, math.inf if budget_s is None else budget_s)
        view = self._view(self._life.ledger, advisor)
        rng = np.random.default_rng(np.random.SeedSequence(seed).spawn(2)[1])
        desk.open(self.cluster, rng, view)
        if type(advisor).on_end is not Advisor.on_end:
            observers.end += (desk.heard,)

    def _connect_hooks(self, power: PowerBook, observers: Observers) -> None:
        """Let changes of power reach waiting jobs and recorders."""
        power.on_change = self._life.look_again
        power.on_step = self._life.judge_again
        if observers.power:
            power.on_power = lambda power_w: observers.tell(observers.power, power_w, self.system)

    def _connect_power(self, ledger: Ledger, grace_s: float, true_power: TruePower) -> PowerBook | None:
        """Return the books of the machine's power, where it is described."""
        if not isinstance(ledger, PoweredLedger):
            return None
        layout = ledger.layout
        check_watts(self.workload)
        arguments.check_cap_means_something(self.workload, self.cluster)
        book = PowerBook(self.env, self.cluster, layout, true_power)
        if isinstance(layout, WithWatts):
            layout.watts = book.watts
        ledger.connect(book, grace_s)
        return book

    def _drive(self, until: float, *, ends_when_finished: bool = True) -> None:
        """Step through events before *until*, with a pass at the end of each instant that needs one.

        Returns when a pass has opened for a caller, or nothing is left to do.
        """
        env, passes, life, arrivals = self.env, self._passes, self._life, self._arrivals
        events = pending_events(env)
        strangers = 0
        while True:
            event_s = events[0][0] if events else math.inf
            next_s = min(event_s, arrivals.next_s)
            if life.has_news or passes.is_woken:
                strangers = 0
                if next_s != env._now:
                    passes.open()
                    if passes.is_open or (ends_when_finished and not life.open_jobs and life.is_fed):
                        return
                    continue
            elif ends_when_finished and not life.open_jobs and life.is_fed:
                return
            elif strangers > FOREIGN_STEPS and self._waits_for_strangers():
                raise self._stalled()
            if next_s >= until:
                break
            if arrivals.next_s < event_s:
                env._now = next_s
                arrivals.feed()
            else:
                step(env)
                strangers += 1
        if self.queue and next_s == math.inf and until == math.inf:
            raise self._stalled()

    def _waits_for_strangers(self) -> bool:
        """Whether only a user's own process could still start a waiting job."""
        return bool(self.queue and not self._life.ledger.running and self._life.is_fed and not self._passes.has_wakes)

    def _stalled(self) -> HpcsimError:
        waiting = [str(job.job_id) for job in self.queue]
        more = f" and {len(waiting) - 5} more" if len(waiting) > 5 else ""
        return StalledPolicy(
            f"At t = {self.env.now} s {self._passes.name} leaves jobs {', '.join(waiting[:5])}{more} waiting "
            "with nothing left to happen.",
            "Start them, Reject them, or yield WakeAt(later).",
        )


def _check_options(seed: int, grace_s: float, scaling: SpeedUp | None, books: Books | None, trace: PowerTrace) -> None:
    arguments.check_seed(seed)
    arguments.check_grace(grace_s)
    arguments.check_scaling(scaling)
    arguments.check_choice("books", books, (None, *get_args(Books)))
    arguments.check_choice("power_trace", trace, get_args(PowerTrace))


def _first_submit_s(workload: Workload) -> float:
    submits = workload.columns["submit_s"]
    first_s: float = submits.min().item() if len(submits) else 0
    return first_s


def _checker(cluster: Cluster, ledger: Ledger) -> InvariantChecker:
    return NodeChecker(cluster) if isinstance(ledger, NodeLedger) else InvariantChecker(cluster.nodes)


def _refuse_unsupported(workload: Workload, feedback: bool) -> None:
    columns = workload.columns
    faults = {
        "Dependencies and think times (feedback)": feedback or "after" in columns,
    }
    for what, is_asked in faults.items():
        if is_asked:
            raise Unsupported(f"{what} cannot be simulated yet.", "Leave them out.")
