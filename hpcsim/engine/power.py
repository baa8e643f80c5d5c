"""What the machine draws, and what it may: jobs, idle, booting and off nodes, the cap, the energy ledger.

What jobs draw is counted job by job, the rest by states of nodes. Shared nodes are split by cores:
each job has its share of the node, and what no job has is idle. Two sums are kept, of the whole and
of the parts, and must agree at the end.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from hpcsim.cluster import Cluster
from hpcsim.engine.clock import CHANGE, COMPLETION, Happening
from hpcsim.engine.energy_log import EnergyLog, Sum
from hpcsim.engine.job_power import Share, TruePower, declared_w, idle_w
from hpcsim.engine.node_ledger import NodeAllocation
from hpcsim.engine.node_states import NodeStates
from hpcsim.errors import ClusterError, InvariantViolation
from hpcsim.job import Job
from hpcsim.node_ids import Interval
from hpcsim.node_layout import Claim, NodeLayout
from hpcsim.power_cap import PowerCap
from hpcsim.shared_nodes import KINDS, SharedNodes

MICRO = 1_000_000
_TOLERANCE_W = 1e-6


class Drawing(Happening):
    """What one running job draws, and the event of its next change."""

    def __init__(self, held: NodeAllocation, by_class: list[tuple[int, float]], shares: list[Share]) -> None:
        self.held = held
        self.by_class = by_class
        self.shares = shares
        self.committed_w = 0.0
        self.micro_w = 0
        self.since_s = math.nan
        self.steps: Iterator[tuple[float, float]] = iter(())
        self.next_w = 0.0

    @property
    def has_begun(self) -> bool:
        """Whether its nodes are on and it draws power."""
        return not math.isnan(self.since_s)


class PowerBook:
    """Watts now, watts committed to running jobs by declaration, and the log of what was drawn.

    Raises:
        ClusterError: the cap is below what the idle machine draws, or a node draws more off than
            idle, or more idle than busy.
    """

    def __init__(self, env: Any, cluster: Cluster, layout: NodeLayout, truth: TruePower) -> None:
        self.cap = PowerCap(cluster)
        self.log = EnergyLog()
        self.on_change: Callable[[], None] = lambda: None
        self.on_step: Callable[[], None] = lambda: None
        self.on_power: Callable[[float], None] = lambda power_w: None  # noqa: ARG005 - nobody listens
        self.states = NodeStates(env, layout, self._advance, self._has_changed)
        self._env = env
        self._layout = layout
        self._truth = truth
        self._cores = [kind.group.cores for kind in layout.classes] if isinstance(layout, SharedNodes) else None
        self._used = [0.0] * len(layout.classes)  # nodes on which jobs draw; a shared node by its share of cores
        self._jobs_micro_w = 0
        self._drawings: dict[int, Drawing] = {}
        self._last_s: float = env.now
        self._whole_j, self._parts_j, self._jobs_j = Sum(), Sum(), Sum()
        idle = zip(self.states.on, self.states.powers, strict=True)
        self._idle_machine_w = math.fsum(nodes * power.idle_w for nodes, power in idle)
        self._check(cluster)
        for time_s in self.cap.times_s:
            if time_s > env.now:
                Happening().happen_at(env, time_s, CHANGE, self._cap_steps)

    def _check(self, cluster: Cluster) -> None:
        for kind, power in zip(self._layout.classes, self.states.powers, strict=True):
            if not power.off_w <= power.idle_w <= power.busy_w:
                raise ClusterError(
                    f"A node of group '{kind.groups[0]}' draws {power.off_w:g} W off, {power.idle_w:g} W idle and "
                    f"{power.busy_w:g} W busy.",
                    "Give watts that rise in this order.",
                )
        if self.cap.least_w < self._idle_machine_w:
            raise ClusterError(
                f"The power cap of cluster '{cluster.name}' is {self.cap.least_w:g} W at its lowest, its idle nodes "
                f"alone draw {self._idle_machine_w:g} W.",
                "Raise the cap, or describe a smaller machine.",
            )

    @property
    def now_s(self) -> float:
        """The simulation clock."""
        now_s: float = self._env._now
        return now_s

    @property
    def power_w(self) -> float:
        """What the machine draws now."""
        return self._jobs_micro_w / MICRO + sum(self._rest_w())

    @property
    def committed_w(self) -> float:
        """What the machine may draw now by the declarations of the running jobs."""
        ahead_w = self.states.ahead_w(of_all=self._cores is not None)
        return math.fsum([*(self._beyond_w(drawing) for drawing in self._drawings.values()), *self._rest_w(), ahead_w])

    def _beyond_w(self, drawing: Drawing) -> float:
        """Return what a job may draw beyond what idle, booting and off nodes are accounted for.

        Where nodes are shared, a node that boots is counted by itself, for all jobs that wait for it.
        """
        if drawing.has_begun or self._cores is not None:
            return drawing.committed_w
        return drawing.committed_w - self.states.drawn_w(drawing.held.intervals)

    def watts(self, job: Job, claim: Claim) -> float:
        """Return what starting *job* on these nodes adds to the committed power, if they are on."""
        shares = self._shares(self._by_class(job, claim))
        return declared_w(job, shares) - idle_w(shares)

    def admits(self, job: Job, claim: Claim, intervals: Sequence[Interval], length_s: float) -> bool:
        """Tell whether *job* may start now on these nodes: all stay under the lowest cap until its last end."""
        if not self.cap.is_there:
            return True
        cap_w = self.cap.lowest_w(self._env._now, self.states.ready_s(intervals) + length_s)
        shares = self._shares(self._by_class(job, claim))
        committed_w, need_w = self.committed_w, self._need_w(job, shares, intervals)
        return committed_w + need_w <= cap_w + _TOLERANCE_W

    def _need_w(self, job: Job, shares: Sequence[Share], intervals: Sequence[Interval]) -> float:
        """Return what *job* adds to what is drawn now: at its start, or before it while nodes boot."""
        running_w = declared_w(job, shares) - idle_w(shares)
        if self.states.all_are_on:
            return running_w
        if self._cores is not None:
            return running_w + self.states.climb_w(intervals)
        rising_w, booting_w = self.states.boots_w(intervals)
        return max(running_w + rising_w, booting_w)

    def never_admits(self, job: Job, claims: Sequence[Claim], length_s: float) -> str:
        """Return why *job* exceeds the cap even with all other nodes idle, or the empty string."""
        least_w = math.inf
        for claim in claims:
            shares = self._shares(self._by_class(job, claim))
            running_w, boots_w = declared_w(job, shares) - idle_w(shares), self._boots_w(claim, shares)
            least_w = min(least_w, max(running_w, boots_w) if self._cores is None else running_w + boots_w)
        need_w, cap_w = self._idle_machine_w + least_w, self.cap.best_w(self._env._now, length_s)
        if need_w <= cap_w + _TOLERANCE_W:
            return ""
        return f"needs {need_w:g} W with all other nodes idle, the power cap is {cap_w:g} W"

    def _boots_w(self, claim: Claim, shares: Sequence[Share]) -> float:
        """Return by how much more than idle the nodes of a claim draw while they boot, if they are ever off."""
        nodes = shares
        if isinstance(self._layout, SharedNodes):
            kinds = map(self._layout.class_of, self._layout.nodes_in(claim))
            nodes = [Share(1, self.states.powers[at]) for at in kinds]
        return math.fsum(n * max(p.boot_w - p.idle_w, 0.0) for n, p in nodes if p.idle_timeout_s < math.inf)

    def started(self, held: NodeAllocation) -> None:
        """A job has been given its nodes: those that are off boot; it draws power from its start on."""
        self._advance()
        by_class = self._by_class(held.job, held.claim)
        drawing = Drawing(held, by_class, self._shares(by_class))
        if self._cores is None:
            need_w = self._need_w(held.job, drawing.shares, held.intervals)
            drawing.committed_w = need_w + self.states.drawn_w(held.intervals)
        else:
            drawing.committed_w = declared_w(held.job, drawing.shares) - idle_w(drawing.shares)
        drawing.steps = self._truth.steps(held.job, drawing.shares)
        drawing.next_w = next(drawing.steps)[1]
        self._drawings[held.job.row] = drawing
        self.states.occupied(held.intervals)
        if held.start_s > self._env._now:
            drawing.happen_at(self._env, held.start_s, COMPLETION, self._begin_booted)
        else:
            self._begin(drawing)

    def ended(self, held: NodeAllocation) -> None:
        """A job has ended, or was cancelled before its start."""
        self._advance()
        drawing = self._drawings.pop(held.job.row)
        drawing.annul()
        if drawing.has_begun:
            self._draw(drawing, 0)
            for at, nodes in drawing.by_class:
                self._used[at] -= nodes
        self.on_power(self.power_w)

    def finish(self) -> EnergyLog:
        """Close the log at the clock's instant, and check that energy is conserved.

        Raises:
            InvariantViolation: jobs and idle, booting and off nodes drew another energy than the machine.
        """
        self._advance()
        if math.isnan(self.log.end_s):
            for drawing in self._drawings.values():
                if drawing.has_begun:
                    self._close_span(drawing)
            self.log.end_s = self._env._now
            self._write()
        parts_j, whole_j = self._parts_j.value + self._jobs_j.value, self._whole_j.value
        if abs(parts_j - whole_j) > 1e-9 * max(abs(whole_j), 1.0):
            raise InvariantViolation(f"Jobs and idle, booting and off nodes drew {parts_j} J, the machine {whole_j} J.")
        return self.log

    def _by_class(self, job: Job, claim: Claim) -> list[tuple[int, float]]:
        """Return (class, nodes) of a claim; a shared node counts by the share of its cores."""
        found: dict[int, float] = {}
        if self._cores is None:
            found = {place: nodes for place, nodes in claim if place < len(self._used)}
        else:
            for place, cores in claim:
                if place % KINDS == 0 and place // KINDS <= self._layout.classes[-1].high:
                    at = self._layout.class_of(place // KINDS)
                    found[at] = found.get(at, 0) + cores / self._cores[at]
        return list(found.items())

    def _shares(self, by_class: Sequence[tuple[int, float]]) -> list[Share]:
        return [Share(nodes, self.states.powers[at]) for at, nodes in by_class]

    def _begin_booted(self, drawing: Drawing) -> None:
        """The nodes are on: what their boot took of the cap is free again."""
        self._begin(drawing)
        self._has_changed()

    def _begin(self, drawing: Drawing) -> None:
        self._advance()
        drawing.since_s = self._env._now
        drawing.held.energy_j = 0.0
        drawing.committed_w = declared_w(drawing.held.job, drawing.shares)
        for at, nodes in drawing.by_class:
            self._used[at] += nodes
        self._step(drawing)

    def _step(self, drawing: Drawing) -> None:
        """Draw what is due, and put the next change of the trace before the clock."""
        self._advance()
        self._draw(drawing, round(drawing.next_w * MICRO))
        following = next(drawing.steps, None)
        if following is not None:
            after_s, drawing.next_w = following
            drawing.happen_at(self._env, drawing.held.start_s + after_s, COMPLETION, self._step)
        self.on_power(self.power_w)

    def _draw(self, drawing: Drawing, micro_w: int) -> None:
        self._close_span(drawing)
        self._jobs_micro_w += micro_w - drawing.micro_w
        drawing.micro_w = micro_w

    def _close_span(self, drawing: Drawing) -> None:
        now_s, watts = self._env._now, drawing.micro_w / MICRO
        if now_s > drawing.since_s:
            self.log.span(drawing.held.job.row, drawing.since_s, now_s, watts)
            self._jobs_j.add(watts * (now_s - drawing.since_s))
            drawing.held.energy_j += watts * (now_s - drawing.since_s)
            drawing.since_s = now_s

    def _rest_w(self) -> tuple[float, float, float]:
        """Return what idle, booting and off nodes draw."""
        idle, boot, off = [], [], []
        states = self.states
        for at, power in enumerate(states.powers):
            idle.append((states.on[at] - self._used[at]) * power.idle_w)
            boot.append(states.booting[at] * power.boot_w)
            off.append(states.off[at] * power.off_w)
        return math.fsum(idle), math.fsum(boot), math.fsum(off)

    def _advance(self) -> None:
        """Account for what was drawn until now, before something changes."""
        now_s = self._env._now
        if now_s > self._last_s:
            rest_w, for_s = self._write(), now_s - self._last_s
            self._whole_j.add(self.power_w * for_s)
            self._parts_j.add(math.fsum(rest_w) * for_s)
            self._last_s = now_s

    def _write(self) -> tuple[float, float, float]:
        rest_w = self._rest_w()
        self.log.instant(self._last_s, self._jobs_micro_w / MICRO, rest_w)
        return rest_w

    def _cap_steps(self, event: Any) -> None:
        self.on_step()

    def _has_changed(self) -> None:
        """Let the policy look again, where that may let a job start."""
        self.on_power(self.power_w)
        if self.cap.is_there:
            self.on_change()
