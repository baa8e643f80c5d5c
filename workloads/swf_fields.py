"""The vocabulary of the Standard Workload Format: its 18 fields, its status codes, its "not known".

Source: the format's definition at the Parallel Workloads Archive, version 2.2.
"""

from __future__ import annotations

FIELDS = (
    "job_id",
    "submit_s",
    "wait_s",
    "run_s",
    "allocated",
    "cpu_s",
    "used_memory_kb",
    "requested",
    "requested_s",
    "requested_memory_kb",
    "status",
    "user_id",
    "group_id",
    "app_id",
    "queue_id",
    "partition_id",
    "preceding_job_id",
    "think_s",
)
"""Our names of fields 1 to 18. `allocated` and `requested` count processors; memory is per processor."""

TITLES = (
    *("job number", "submit time", "wait time", "run time", "allocated processors", "average CPU time", "used memory"),
    *("requested processors", "requested time", "requested memory", "status", "user id", "group id"),
    *("executable number", "queue number", "partition number", "preceding job number", "think time"),
)
"""The format's names of fields 1 to 18, for people."""

WHOLE = frozenset(FIELDS) - {
    *("submit_s", "wait_s", "run_s", "cpu_s", "used_memory_kb", "requested_s", "requested_memory_kb", "think_s")
}
"""Fields that count or number something, so that a decimal in them means nothing."""

MISSING = -1
"""What the format writes for "not known" and "does not apply"."""

COMPLETED, FAILED, CANCELLED = 1, 0, 5
"""Status codes of whole jobs."""

PARTIAL = (2, 3, 4)
"""Status codes of records of one partial execution among several of a job: to be continued, last
and completed, last and failed."""

LARGEST = 10**15
"""No number in a log may be greater: up to here sums of times stay exact in float64 (to 30 million years)."""

BYTES_PER_KB = 1024


def title(field: str) -> str:
    """Return a field as people know it, ``"run time (field 4)"``."""
    number = FIELDS.index(field)
    return f"{TITLES[number]} (field {number + 1})"
