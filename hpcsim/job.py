"""What was asked (`Job`), what happened (`JobOutcome`), and how it ended (`JobState`).

A `Job` holds only what its user asked for. Run times live in the workload, which the engine alone
reads, so that no policy can see the future by accident.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field, fields, make_dataclass, replace
from enum import StrEnum
from functools import cache
from typing import Any, TypeVar

JobId = int | str
T = TypeVar("T")


class JobState(StrEnum):
    """The one state in which every submitted job ends."""

    COMPLETED = "COMPLETED"
    FAILED = "FAILED"
    CANCELLED = "CANCELLED"
    TIMEOUT = "TIMEOUT"
    NODE_FAIL = "NODE_FAIL"
    REJECTED = "REJECTED"
    UNFINISHED = "UNFINISHED"


@dataclass(frozen=True, slots=True)
class Job:
    """One batch job as its user asked for it.

    Attributes:
        row: position in the workload, unique within a run.
        job_id: the log's own identifier; logs may repeat it.
        submit_s: submit time in the log's own seconds.
        nodes: nodes wanted, all at once (processors on a processor-counted machine).
        limit_s: requested time in seconds; ``inf`` when the job has none.
        cores_per_node, gpus_per_node, memory_bytes_per_node: wanted on each node.
        exclusive: no other job may share its nodes.
        partitions: names of the partitions it may run in; empty means any.
        features: node features that it needs.
        user_id, group_id, app_id, account, qos, name: as logged, or None.
        power_w: declared power of the whole job in watts, or None.
        allowed_nodes: the node counts a moldable job may run at; empty means rigid.
        after: job ids that must end before this one becomes eligible.
        requested: the job as its user asked, where advice changed it; else None.
    """

    row: int
    job_id: JobId
    submit_s: float
    nodes: int
    limit_s: float = math.inf
    user_id: int | str | None = None
    group_id: int | str | None = None
    app_id: int | str | None = None
    partitions: tuple[str, ...] = ()
    cores_per_node: int = 1
    gpus_per_node: int = 0
    memory_bytes_per_node: int = 0
    exclusive: bool = True
    features: frozenset[str] = frozenset()
    power_w: float | None = None
    allowed_nodes: tuple[int, ...] = ()
    after: tuple[JobId, ...] = ()
    account: str | None = None
    qos: str | None = None
    name: str | None = None
    requested: Job | None = None

    def __hash__(self) -> int:
        return hash(self.row)

    @property
    def area_node_s(self) -> float:
        """Requested node-seconds: nodes times limit."""
        return self.nodes * self.limit_s

    def advised(self, nodes: int, limit_s: float) -> Job:
        """Return this job at another node count and limit, the request kept in `requested`.

        Declared power is that of the request, by the node: admission counts no other.
        """
        asked = self.requested or self
        power_w = None if asked.power_w is None else asked.power_w * nodes / asked.nodes
        return replace(asked, nodes=nodes, limit_s=limit_s, power_w=power_w, requested=asked)


@dataclass(frozen=True, slots=True)
class JobOutcome:
    """What happened to a job. Times in seconds; NaN where the job never got so far.

    `node_ids` are written as intervals with both ends included, ``"0-127,130"``; `attempts` counts
    allocations and `lost_node_s` the node-seconds of those that were lost to a failure. `energy_j` is
    what the last one drew, in joules, where the machine's power is described.
    """

    row: int
    job_id: JobId
    state: JobState
    state_reason: str
    submit_s: float
    eligible_s: float
    start_s: float
    end_s: float
    nodes: int
    node_ids: str
    attempts: int = 1
    lost_node_s: float = 0.0
    energy_j: float = math.nan

    @property
    def wait_s(self) -> float:
        """Seconds from eligible to start."""
        return self.start_s - self.eligible_s

    @property
    def run_s(self) -> float:
        """Seconds from start to end."""
        return self.end_s - self.start_s

    @property
    def turnaround_s(self) -> float:
        """Seconds from submit to end."""
        return self.end_s - self.submit_s


@cache
def builder_of(record: type[T]) -> Callable[..., T]:
    """Return a function that builds a *record*, `Job` or `JobOutcome`, from the same arguments several times faster.

    A frozen dataclass sets each field through ``object.__setattr__``. This one fills an unfrozen
    twin with the same slots and turns it into the record: for the million jobs of a log.
    """
    columns: Any = fields(record)  # type: ignore[arg-type]
    twin: Any = make_dataclass(
        f"_{record.__name__}Twin", [(f.name, f.type, field(default=f.default)) for f in columns], slots=True, eq=False
    )

    def build(*values: Any, **named: Any) -> T:
        built = twin(*values, **named)
        built.__class__ = record
        return built  # type: ignore[no-any-return]

    return build
