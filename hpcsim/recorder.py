"""Watch a run without touching it: override the hooks you need, the others do nothing."""

from __future__ import annotations

from hpcsim.decision import Decision
from hpcsim.listener import Listener
from hpcsim.system import System


class Recorder(Listener):
    """An observer of one run. Hooks are called after the change that they report."""

    def on_decision(self, decision: Decision, system: System) -> None:
        """The policy's *decision* was found valid and has been applied."""

    def on_pass(self, system: System) -> None:
        """A scheduling pass has closed."""

    def on_power(self, power_w: float, system: System) -> None:
        """The machine's power has changed to *power_w* watts."""

    def on_fault(self, node_ids: str, is_down: bool, system: System) -> None:
        """Nodes have failed (*is_down*) or are back."""
