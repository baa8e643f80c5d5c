"""A recorder of promises, for tests."""

from __future__ import annotations

from hpcsim.decision import Decision, Reserve
from hpcsim.recorder import Recorder
from hpcsim.system import System


class Promises(Recorder):
    """Notes each promise."""

    def __init__(self) -> None:
        self.made: list[tuple[float, int, float]] = []

    def on_decision(self, decision: Decision, system: System) -> None:
        if isinstance(decision, Reserve):
            self.made.append((system.now_s, decision.job.row, decision.start_s))
