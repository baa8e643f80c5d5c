"""Watch a run without touching it: override the hooks you need, the others do nothing."""

from __future__ import annotations

from hpcsim.decision import Decision
from hpcsim.job import Job, JobOutcome
from hpcsim.system import System


class Recorder:
    """An observer of one run. Hooks are called after the change that they report."""

    def on_submit(self, job: Job, system: System) -> None:
        """*job* has entered the queue."""

    def on_start(self, job: Job, node_ids: str, system: System) -> None:
        """*job* has started on *node_ids*, written ``"0-127,130"``."""

    def on_end(self, job: Job, outcome: JobOutcome, system: System) -> None:
        """*job* has ended, or was rejected or cancelled while it waited."""

    def on_decision(self, decision: Decision, system: System) -> None:
        """The policy's *decision* was found valid and has been applied."""

    def on_pass(self, system: System) -> None:
        """A scheduling pass has closed."""

    def on_power(self, power_w: float, system: System) -> None:
        """The machine's power has changed to *power_w* watts."""

    def on_fault(self, node_ids: str, is_down: bool, system: System) -> None:
        """Nodes have failed (*is_down*) or are back."""
