"""RLScheduler's protocol as one plain loop over single events, sharing nothing with the product."""

from __future__ import annotations

import math
from typing import Any

from hpcsim.workload import Workload

KEYS: dict[str, Any] = {
    "FCFS": lambda now, submit, limit, nodes: submit,
    "SJF": lambda now, submit, limit, nodes: limit,
    "WFP3": lambda now, submit, limit, nodes: -(((now - submit) / limit) ** 3) * nodes,
}


class Machine:
    """A clock, the free nodes, the queue, who runs; `step` lets the next event happen."""

    def __init__(self, workload: Workload, nodes: int) -> None:
        names = ("submit_s", "run_s", "limit_s", "nodes")
        self.submit, self.run, self.limit, self.nodes = (workload.columns[name].tolist() for name in names)
        self.to_come = workload.arrival_order().tolist()
        self.free, self.now = nodes, -math.inf
        self.queue: list[int] = []
        self.running: list[int] = []
        self.start: dict[int, float] = {}

    def begin(self, row: int) -> None:
        """Start a waiting job."""
        self.start[row] = self.now
        self.free -= self.nodes[row]
        self.queue.remove(row)
        self.running.append(row)

    def step(self) -> None:
        """Let one arrival happen, or one completion if it comes strictly first; of equals the first in the log."""
        done = min(self.running, key=lambda row: (self.start[row] + self.run[row], row), default=None)
        done_s = math.inf if done is None else self.start[done] + self.run[done]
        if self.to_come and self.submit[self.to_come[0]] <= done_s:
            row = self.to_come.pop(0)
            self.now = self.submit[row]
            self.queue.append(row)
        else:
            assert done is not None
            self.now = done_s
            self.free += self.nodes[done]
            self.running.remove(done)

    def reserve(self, row: int) -> tuple[float, int]:
        """Return when *row* can start by the limits of what runs, and the nodes left beside it then."""
        ends = {done: self.start[done] + self.limit[done] for done in self.running}
        for end_s in sorted(ends.values()):
            free = self.free + sum(self.nodes[done] for done in ends if ends[done] <= end_s)
            if free >= self.nodes[row]:
                return end_s, free - self.nodes[row]
        raise AssertionError("the job fits the machine")


def literal_starts(workload: Workload, nodes: int, order: str, mode: str) -> list[float]:
    """Return the start of each job; *mode* is ``"none"``, ``"shadow"`` or ``"shadow+extra"``."""
    machine = Machine(workload, nodes)
    while machine.queue or machine.to_come:
        if not machine.queue:
            machine.step()
            continue
        head = min(machine.queue, key=lambda row: _key(machine, order, row))
        if machine.nodes[head] > machine.free:
            shadow_s, extra = machine.reserve(head)
            while machine.nodes[head] > machine.free:
                if mode != "none":
                    extra = _backfill(machine, head, shadow_s, extra if mode == "shadow+extra" else 0)
                machine.step()
        machine.begin(head)
    return [machine.start[row] for row in range(len(workload))]


def _key(machine: Machine, order: str, row: int) -> Any:
    key = KEYS[order](machine.now, machine.submit[row], machine.limit[row], machine.nodes[row])
    return (key, machine.queue.index(row))


def _backfill(machine: Machine, head: int, shadow_s: float, extra: int) -> int:
    for row in list(machine.queue):
        if row == head or machine.nodes[row] > machine.free:
            continue
        if machine.now + machine.limit[row] < shadow_s:
            machine.begin(row)
        elif machine.nodes[row] <= extra:
            extra -= machine.nodes[row]
            machine.begin(row)
    return extra
