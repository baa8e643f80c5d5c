"""Integrates costs exactly from event to event, discounted or not."""

from __future__ import annotations

import math
from collections.abc import Sequence

from hpcsim.cluster import Cluster
from hpcsim.job import Job, JobOutcome
from hpcsim.policies.learning.objectives import Account, Objective
from hpcsim.recorder import Recorder
from hpcsim.system import System
from hpcsim.workload import Workload


class Meter(Recorder):
    """What a run has cost, in all and since the last reading.

    Args:
        objectives: (label, objective, weight) of each.
        workload: the jobs; their run times are read here and nowhere else.
        cluster: the machine.
        kill_at_limit: jobs end at their limits at the latest.
        beta_per_s: rate of discounting; 0: none.

    Attributes:
        totals: undiscounted cost of each objective so far, unweighted, in its own unit.
    """

    def __init__(
        self,
        objectives: Sequence[tuple[str, Objective, float]],
        workload: Workload,
        cluster: Cluster,
        *,
        kill_at_limit: bool,
        beta_per_s: float = 0.0,
    ) -> None:
        self._labels = [label for label, _, _ in objectives]
        self._weights = [weight for _, _, weight in objectives]
        self._accounts: list[Account] = [objective.open(cluster) for _, objective, _ in objectives]
        self._starts = [one.started for one in self._accounts if type(one).started is not Account.started]
        self._ends = [one.ended for one in self._accounts if type(one).ended is not Account.ended]
        self.totals = [0.0] * len(self._accounts)
        run_s, limit_s = workload.columns["run_s"].tolist(), workload.columns["limit_s"].tolist()
        self._run_s = list(map(min, run_s, limit_s)) if kill_at_limit else run_s
        self._beta = beta_per_s
        self._reading = 0.0
        self._now_s = self._read_s = float(min(workload.columns["submit_s"].tolist(), default=0.0))

    @property
    def cost(self) -> float:
        """The undiscounted, weighted cost so far."""
        return math.fsum(weight * total for weight, total in zip(self._weights, self.totals, strict=True))

    @property
    def costs(self) -> dict[str, float]:
        """The undiscounted cost of each objective so far."""
        return dict(zip(self._labels, self.totals, strict=True))

    def read(self, now_s: float) -> tuple[float, float]:
        """Return (cost, seconds) since the last reading, the cost discounted to that instant."""
        self._turn_to(now_s)
        cost, gap_s = self._reading, now_s - self._read_s
        self._reading, self._read_s = 0.0, now_s
        return cost, gap_s

    def begin(self, power_w: float) -> None:
        """A run begins; the machine draws *power_w* watts (NaN: not known)."""
        if not math.isnan(power_w):
            self.on_power_w(power_w)

    def on_power_w(self, power_w: float) -> None:
        """Tell the accounts what the machine draws from now on."""
        for account in self._accounts:
            account.powered(power_w)

    def on_submit(self, job: Job, system: System) -> None:
        """A job waits from now on."""
        self._turn_to(system.now_s)
        for account in self._accounts:
            account.submitted(job, self._run_s[job.row])

    def on_leave(self, job: Job, system: System) -> None:
        """A job waits no longer."""
        self._turn_to(system.now_s)
        for account in self._accounts:
            account.left(job, self._run_s[job.row], self._now_s)

    def on_start(self, job: Job, node_ids: str, system: System) -> None:
        """A job holds its nodes from now on."""
        for started in self._starts:
            started(job)

    def on_end(self, job: Job, outcome: JobOutcome, system: System) -> None:
        """A job has ended; one that never started has left the queue, or was never in it."""
        self._turn_to(system.now_s)
        if outcome.attempts:
            for ended in self._ends:
                ended(job)

    def on_power(self, power_w: float, system: System) -> None:
        """The machine's power has changed."""
        self._turn_to(system.now_s)
        self.on_power_w(power_w)

    def _turn_to(self, now_s: float) -> None:
        """Let the costs accrue until *now_s*, rates that change by themselves on the way."""
        if now_s <= self._now_s:
            return
        for at, account in enumerate(self._accounts):
            since_s = self._now_s
            while account.next_change_s < now_s:
                change_s = max(account.next_change_s, since_s)
                self._accrue(at, account.rate, since_s, change_s)
                account.turn()
                since_s = change_s
            self._accrue(at, account.rate, since_s, now_s)
        self._now_s = now_s

    def _accrue(self, at: int, rate: float, since_s: float, until_s: float) -> None:
        gap_s = until_s - since_s
        if not rate or gap_s <= 0:
            return
        self.totals[at] += rate * gap_s
        beta = self._beta
        if beta:
            gap_s = -math.expm1(-beta * gap_s) / beta * math.exp(-beta * (since_s - self._read_s))
        self._reading += self._weights[at] * rate * gap_s
