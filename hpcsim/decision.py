"""What a policy can decide: start a job, promise one a start, reject one, ask to be woken."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from hpcsim.job import Job


class Start(NamedTuple):
    """Start *job* now. Without *node_ids* the placement chooses the nodes."""

    job: Job
    node_ids: Iterable[int] | None = None


class Reserve(NamedTuple):
    """Promise *job* a start at *start_s* or earlier; ``inf`` withdraws the promise.

    A promise binds nobody by itself: it is the record that `System.promised`, the explanation of
    waits and the kit's guarantees read.
    """

    job: Job
    start_s: float
    node_ids: Iterable[int] | None = None


class Reject(NamedTuple):
    """Turn *job* away; it ends in state REJECTED with this reason."""

    job: Job
    reason: str


class WakeAt(NamedTuple):
    """Open a pass at *time_s*, later than now, even if nothing else happens then."""

    time_s: float


Decision = Start | Reserve | Reject | WakeAt
DECISIONS = frozenset({Start, Reserve, Reject, WakeAt})
