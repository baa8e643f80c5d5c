"""One episode: a simulation driven from decision to decision."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hpcsim.cluster import Cluster
from hpcsim.engine.simulation import Simulation
from hpcsim.errors import WorkloadError
from hpcsim.job import Job, JobOutcome
from hpcsim.listener import Listener
from hpcsim.policies.learning.features import JOB_FEATURES
from hpcsim.policies.learning.heads import Ask, AskingPass, Pass, StartOrWait, committed
from hpcsim.policies.learning.meter import Meter
from hpcsim.policies.learning.objectives import Objective
from hpcsim.policies.learning.observation import Observation, Observer
from hpcsim.recorder import Recorder
from hpcsim.results.run import collect
from hpcsim.system import System
from hpcsim.workload import Workload


class Rules(NamedTuple):
    """The rules of the game, the same in all episodes of an environment."""

    can_wait: bool
    backfill: str
    keeps_heads: bool
    skip_forced: bool
    kill_at_limit: bool
    objectives: tuple[tuple[str, Objective, float], ...]
    beta_per_s: float


class Episode:
    """A sequence of jobs on an empty machine, suspended at each decision.

    Attributes:
        observation: what is seen at this decision.
        mask: int8, the valid actions; with WAIT the last one. All 0 when the episode is over.
        is_over: all jobs have ended.
    """

    def __init__(self, workload: Workload, cluster: Cluster, rules: Rules, observer: Observer) -> None:
        self._workload, self._cluster, self._rules, self._observer = workload, cluster, rules, observer
        self._open(rules.skip_forced)

    def begin(self) -> float:
        """Go to the first decision; return what has been paid until then.

        Where all decisions are forced the first is put to the agent even so: an episode has one at least.

        Raises:
            WorkloadError: no job of the sequence can ever run on this machine.
        """
        cost = self._advance(None)[0]
        if self.is_over and self._rules.skip_forced:
            self._open(skip_forced=False)
            cost = self._advance(None)[0]
        if self.is_over:
            raise WorkloadError(
                f"None of the {len(self._workload)} jobs of this sequence can ever run on a machine of "
                f"{self._cluster.nodes} {self._cluster.counted}.",
                "Give a larger cluster, or another sequence.",
            )
        return cost

    def step(self, action: int) -> tuple[float, float]:
        """Take a valid action; return (cost, seconds) until the next decision or the end."""
        return self._advance(self._job_of(action))

    @property
    def system(self) -> System:
        """The simulator's read-only view."""
        return self._simulation.system

    @property
    def cost(self) -> float:
        """The undiscounted, weighted cost so far."""
        return self._meter.cost

    @property
    def costs(self) -> dict[str, float]:
        """The undiscounted cost of each objective so far."""
        return self._meter.costs

    def metrics(self) -> dict[str, Any]:
        """Return the simulator's own report, see `Result.summary`; no decision can follow."""
        return dict(collect(self._simulation).summary())

    def _open(self, skip_forced: bool) -> None:
        rules = self._rules
        self._skip_forced = skip_forced
        self._pass: AskingPass = (
            StartOrWait()
            if rules.can_wait
            else committed(rules.backfill, skip_forced=skip_forced, keeps=rules.keeps_heads)
        )
        self._pass.reset(self._cluster)
        self._observer.reset(self._cluster)
        self._meter = Meter(
            rules.objectives,
            self._workload,
            self._cluster,
            kill_at_limit=rules.kill_at_limit,
            beta_per_s=rules.beta_per_s,
        )
        self._simulation = Simulation(
            self._workload,
            self._cluster,
            recorders=[*map(_recorder, (self._observer, *self._pass.listeners())), self._meter],
            kill_at_limit=rules.kill_at_limit,
        )
        self._meter.begin(self._simulation.system.power_w)
        self._going: Pass | None = None
        self.observation: Observation
        self.mask: NDArray[np.int8]
        self.is_over = False

    def _job_of(self, action: int) -> Job | None:
        """Return the job in a slot; None: wait."""
        queue = self.observation.queue
        assert queue is not None
        return queue[action] if action < len(queue) else None

    def _advance(self, answer: Job | None) -> tuple[float, float]:
        """Answer the question that is open, if any, and go on to the next one that is no matter of course."""
        simulation = self._simulation
        while True:
            if self._going is None:
                if simulation.run_to_decision() is None:
                    self._finish()
                    break
                self._going = self._pass.schedule(simulation.system)
                answer = None
            try:
                said = self._going.send(answer)
            except StopIteration:
                self._going = None
                simulation.close_pass()
                continue
            answer = None
            if not isinstance(said, Ask):
                simulation.apply(said)
                continue
            self._look(said)
            if not (self._rules.can_wait and self._skip_forced and int(self.mask.sum()) == 1):
                break
            answer = self._job_of(int(self.mask.argmax()))
        return self._meter.read(simulation.now_s)

    def _look(self, ask: Ask) -> None:
        system, window = self._simulation.system, self._observer.window
        hidden = ask.hidden
        if self._rules.can_wait and len(system.queue) > window:
            hidden = [job.row for job in system.queue if not system.fits(job)]
        self.observation = self._observer.observe(system, hidden, ask.free)
        self.mask = self.observation.mask
        if self._rules.can_wait:
            fits = self.observation.jobs[:, _FITS] > 0
            self.mask = np.append(self.mask * fits, ask.may_wait).astype(np.int8)

    def _finish(self) -> None:
        self.is_over = True
        self.observation = self._observer.observe(self._simulation.system)
        self.mask = np.zeros(self._observer.window + self._rules.can_wait, dtype=np.int8)


class _Told(Recorder):
    """Lets a listener that is no recorder hear a run that has no policy."""

    def __init__(self, listener: Listener) -> None:
        self._listener = listener

    def on_submit(self, job: Job, system: System) -> None:
        self._listener.on_submit(job, system)

    def on_leave(self, job: Job, system: System) -> None:
        self._listener.on_leave(job, system)

    def on_start(self, job: Job, node_ids: str, system: System) -> None:
        self._listener.on_start(job, node_ids, system)

    def on_end(self, job: Job, outcome: JobOutcome, system: System) -> None:
        self._listener.on_end(job, outcome, system)


def _recorder(listener: Listener) -> Recorder:
    return listener if isinstance(listener, Recorder) else _Told(listener)


_FITS = [name for name, _ in JOB_FEATURES].index("fits")
