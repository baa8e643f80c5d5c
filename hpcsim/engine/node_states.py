"""Nodes that are on, shut down, are off, or boot: when they change by themselves, and what they draw.

Idle nodes shut down after their time-out and are booted when a job is given them. A node that is
wanted while it shuts down goes through with it and boots then. Something is pending only for nodes
that will do something.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from hpcsim.engine.clock import CHANGE, COMPLETION, Happening
from hpcsim.engine.node_ledger import node_ids
from hpcsim.node_ids import Interval
from hpcsim.node_layout import NodeLayout
from hpcsim.power import NodePower

ON, SHUTTING, OFF, BOOTING = range(4)
_RANK = np.array([0, 2, 3, 1])  # in which order idle nodes are given to a job, by state


class NodesDo(Happening):
    """Some nodes of one class are due to change at an instant."""

    def __init__(self, kind: int, nodes: Sequence[int]) -> None:
        self.kind = kind
        self.nodes = nodes


class NodeStates:
    """The state of each node, and how many of each class are on, boot, or are off.

    Attributes:
        powers: watts and times of each class.
        on: nodes of each class that are on or shut down; both draw idle watts without a job.
        wanted: of those, nodes that shut down and will boot, as a job waits for them.
        strays: nodes of each class that boot for nobody, as the job that wanted them was cancelled.
    """

    def __init__(self, env: Any, layout: NodeLayout, before: Callable[[], None], after: Callable[[], None]) -> None:
        """*before* is called before nodes change by themselves, *after* when they have."""
        self._env = env
        self._layout = layout
        self._before, self._after = before, after
        self.powers = [kind.group.power or NodePower() for kind in layout.classes]
        self.on = [kind.nodes for kind in layout.classes]
        self.booting = [0] * len(self.on)
        self.off = [0] * len(self.on)
        self.wanted = [0] * len(self.on)
        self.strays = [0] * len(self.on)
        nodes = layout.classes[-1].high + 1
        self._state = np.zeros(nodes, dtype=np.uint8)
        self._done_s = np.zeros(nodes)  # when a transition is over
        self._is_wanted = np.zeros(nodes, dtype=bool)  # by a job, while it shuts down
        self._idle_since_s = np.full(nodes, env.now, dtype=np.float64)
        self._away = 0  # nodes that are not on
        for at, kind in enumerate(layout.classes):
            self._watch(at, list(range(kind.low, kind.high + 1)))

    @property
    def all_are_on(self) -> bool:
        """Whether every node is on."""
        return not self._away

    def ready_s(self, intervals: Sequence[Interval]) -> float:
        """Return when all these nodes can be on, booted now as far as need be."""
        now_s: float = self._env._now
        if not self._away:
            return now_s
        return max([now_s, *(self._node_ready_s(node) for node in node_ids(intervals))])

    def _node_ready_s(self, node: int) -> float:
        state = self._state[node]
        if state == ON:
            return self._env._now  # type: ignore[no-any-return]
        boot_s = self.powers[self._layout.class_of(node)].boot_s
        if state == OFF:
            return self._env._now + boot_s  # type: ignore[no-any-return]
        return self._done_s[node].item() + (boot_s if state == SHUTTING else 0)  # type: ignore[no-any-return]

    def on_first(self, free: Sequence[Interval], nodes: int) -> list[int]:
        """Return *nodes* ids out of *free*, the lowest first: those on, then booting, shutting down, off."""
        ids = np.array(node_ids(free))
        chosen: list[int] = ids[np.argsort(_RANK[self._state[ids]], kind="stable")][:nodes].tolist()
        return sorted(chosen)

    def drawn_w(self, intervals: Sequence[Interval]) -> float:
        """Return what these nodes draw now if no job draws there."""
        return math.fsum(self._now_w(node) for node in node_ids(intervals))

    def _now_w(self, node: int) -> float:
        power = self.powers[self._layout.class_of(node)]
        return (power.idle_w, power.idle_w, power.off_w, power.boot_w)[self._state[node]]

    def boots_w(self, intervals: Sequence[Interval]) -> tuple[float, float]:
        """Return by how much more than now the nodes that are not on will draw idle, and while they boot."""
        rising_w, booting_w = [], []
        for node in node_ids(intervals):
            if self._state[node] != ON:
                power, now_w = self.powers[self._layout.class_of(node)], self._now_w(node)
                rising_w.append(power.idle_w - now_w)
                booting_w.append(max(power.boot_w - now_w, 0.0))
        return math.fsum(rising_w), math.fsum(booting_w)

    def ahead_w(self, *, of_all: bool) -> float:
        """Return by how much more than now nodes under way will draw, idle or booting: all of them, or strays alone."""
        booting = self.booting if of_all else self.strays
        kinds = zip(self.powers, booting, self.wanted, strict=True)
        return math.fsum(
            boots * max(power.idle_w - power.boot_w, 0.0) + (of_all and waits * max(power.boot_w - power.idle_w, 0.0))
            for power, boots, waits in kinds
        )

    def climb_w(self, intervals: Sequence[Interval]) -> float:
        """Return by how much more than `ahead_w` counts these nodes will draw, idle or booting, if they are taken."""
        return math.fsum(self._climb_w(node) for node in node_ids(intervals) if self._state[node] in {SHUTTING, OFF})

    def _climb_w(self, node: int) -> float:
        power = self.powers[self._layout.class_of(node)]
        if self._state[node] == OFF:
            return max(power.boot_w, power.idle_w) - power.off_w
        return 0.0 if self._is_wanted[node] else max(power.boot_w - power.idle_w, 0.0)

    def occupied(self, intervals: Sequence[Interval]) -> None:
        """A job has been given these nodes: those that are not on boot."""
        nodes = node_ids(intervals)
        if not self._away:
            self._idle_since_s[nodes] = math.nan
            return
        for at, some in self._by_class(nodes):
            self.strays[at] -= sum(self._is_stray(node) for node in some)
            self._idle_since_s[some] = math.nan
            off = [node for node in some if self._state[node] == OFF]
            down = [node for node in some if self._state[node] == SHUTTING and not self._is_wanted[node]]
            self._is_wanted[down] = True
            self.wanted[at] += len(down)
            self.off[at] -= len(off)
            self._boot(at, off)

    def _is_stray(self, node: int) -> bool:
        return bool(self._state[node] == BOOTING and not math.isnan(self._idle_since_s[node]))

    def vacated(self, intervals: Sequence[Interval]) -> None:
        """Nobody holds anything of these nodes any more."""
        nodes = node_ids(intervals)
        self._idle_since_s[nodes] = self._env._now
        for at, some in self._by_class(nodes):
            if self._away:
                self._let_go(at, some)
            self._watch(at, some)

    def _let_go(self, kind: int, nodes: list[int]) -> None:
        """Nobody waits for these nodes any more: those that shut down stay off, those that boot do so for nobody."""
        down = [node for node in nodes if self._is_wanted[node]]
        self._is_wanted[down] = False
        self.wanted[kind] -= len(down)
        self.strays[kind] += sum(self._is_stray(node) for node in nodes)

    def _by_class(self, nodes: Iterable[int]) -> list[tuple[int, list[int]]]:
        found: dict[int, list[int]] = {}
        for node in nodes:
            found.setdefault(self._layout.class_of(node), []).append(node)
        return list(found.items())

    def _watch(self, kind: int, nodes: list[int]) -> None:
        timeout_s = self.powers[kind].idle_timeout_s
        if timeout_s < math.inf:
            due_s = self._env._now + timeout_s
            NodesDo(kind, nodes).happen_at(self._env, due_s, CHANGE, self._time_out)

    def _time_out(self, event: NodesDo) -> None:
        """Shut down those that have been idle all the time since."""
        power, now_s = self.powers[event.kind], self._env._now
        since_s = self._idle_since_s
        nodes = [n for n in event.nodes if since_s[n] + power.idle_timeout_s <= now_s and self._state[n] == ON]
        if nodes:
            self._before()
            self._state[nodes] = SHUTTING
            self._done_s[nodes] = now_s + power.shutdown_s
            self._away += len(nodes)
            shutting = NodesDo(event.kind, nodes)
            if power.shutdown_s:
                shutting.happen_at(self._env, now_s + power.shutdown_s, COMPLETION, self._shut)
            else:
                self._shut(shutting)

    def _shut(self, event: NodesDo) -> None:
        """They are down: off, or booted at once if a job waits for them."""
        self._before()
        wanted = [node for node in event.nodes if self._is_wanted[node]]
        gone = [node for node in event.nodes if not self._is_wanted[node]]
        self._is_wanted[wanted] = False
        self.wanted[event.kind] -= len(wanted)
        self.on[event.kind] -= len(event.nodes)
        self.off[event.kind] += len(gone)
        self._state[gone] = OFF
        self._boot(event.kind, wanted)
        self._after()

    def _boot(self, kind: int, nodes: list[int]) -> None:
        """Boot nodes that are counted nowhere."""
        if not nodes:
            return
        boot_s = self.powers[kind].boot_s
        self._state[nodes] = BOOTING
        self._done_s[nodes] = self._env._now + boot_s
        self.booting[kind] += len(nodes)
        booting = NodesDo(kind, nodes)
        if boot_s:
            booting.happen_at(self._env, self._env._now + boot_s, COMPLETION, self._booted)
        else:
            self._booted(booting)

    def _booted(self, event: NodesDo) -> None:
        self._before()
        self._state[event.nodes] = ON
        self._away -= len(event.nodes)
        self.booting[event.kind] -= len(event.nodes)
        self.on[event.kind] += len(event.nodes)
        idle = [node for node in event.nodes if not math.isnan(self._idle_since_s[node])]
        if idle:  # the job that wanted them was cancelled meanwhile
            self.strays[event.kind] -= len(idle)
            self._idle_since_s[idle] = self._env._now
            self._watch(event.kind, idle)
        self._after()
