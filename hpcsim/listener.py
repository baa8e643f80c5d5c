"""Hear what happens to jobs: the hooks that policies, orders and estimators share."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hpcsim.job import Job, JobOutcome

if TYPE_CHECKING:
    from hpcsim.system import System


class Listener:
    """Hooks that do nothing; override those you need. Only overridden ones are ever called."""

    def on_submit(self, job: Job, system: System) -> None:
        """*job* has entered the queue."""

    def on_leave(self, job: Job, system: System) -> None:
        """*job* has left the queue: it starts, or was rejected or cancelled while it waited."""

    def on_start(self, job: Job, node_ids: str, system: System) -> None:
        """*job* has started on *node_ids*, written ``"0-127,130"``."""

    def on_end(self, job: Job, outcome: JobOutcome, system: System) -> None:
        """*job* has ended, or was rejected or cancelled while it waited (then it never started)."""

    def on_change(self, old: Job, new: Job, system: System) -> None:
        """A waiting job was changed by new advice from *old* to *new*, in its place in the queue.

        Where this is not overridden, `on_leave` is called for *old* and `on_submit` for *new*.
        """
