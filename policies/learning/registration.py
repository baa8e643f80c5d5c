"""The environment's names in Gymnasium: ``gymnasium.make("hpcsim/Schedule-v0")``.

Gymnasium finds `register` by its entry point when it is imported itself; hpcsim never imports it for that.
"""

from __future__ import annotations

IDS = {"Schedule-v0": "commit", "ScheduleStartOrWait-v0": "start-or-wait"}
"""Names, without ``hpcsim/``, and their semantics."""


def register() -> None:
    """Register the environments; Gymnasium puts ``hpcsim/`` before their names."""
    import gymnasium

    for name, semantics in IDS.items():
        gymnasium.register(
            id=name,
            entry_point="hpcsim.policies.learning.environment:SchedulingEnv",
            kwargs={"semantics": semantics},
        )
