"""What an agent sees, feature by feature: name, meaning, bounds. The layout of every network's input.

All features are computed from requests, from what runs by its limits, and from jobs that have ended.
Nodes enter as shares of the machine, so that a network trained on 256 nodes reads 10 or 100,000 alike.
Times enter as log10(1 + seconds) / 8, cut at 1 (about three years), unless told otherwise.
"""

from __future__ import annotations

import hashlib
import json
from typing import Any

Feature = tuple[str, str]
"""(name, meaning and bounds)."""

JOB_FEATURES: tuple[Feature, ...] = (
    ("valid", "1 where a job stands in this slot, 0 where it is empty; then all others are 0"),
    ("log_request", "log10 of the requested time, at least 1 s, / 8; 0 to 1, no limit: 1"),
    ("log_nodes", "1 + log10(nodes / machine) / 6; 0 (a millionth of the machine) to 1 (all of it)"),
    ("log_area", "(6 + log10(requested time x nodes / machine)) / 14; 0 to 1, no limit: 1"),
    ("nodes_share", "nodes / machine; 0 to 1"),
    ("memory_share", "memory asked of each node / the largest node's; 0 to 1"),
    ("gpu_share", "GPUs asked of each node / the largest node's; 0 to 1"),
    ("log_wait", "log10(1 + wait so far) / 8; 0 to 1"),
    ("log_wait_over_request", "log10((1 + wait) / (1 + requested time)) / 8; -1 to 1, no limit: -1"),
    ("fits", "1 if the job could start now and run its whole limit, else 0"),
    ("rank_by_area", "share of the window's jobs with a smaller area, ties by arrival; 0 to below 1"),
    ("rank_by_request", "share of the window's jobs with a shorter request, ties by arrival; 0 to below 1"),
    ("rank_by_age", "share of the window's jobs that arrived earlier; 0 to below 1"),
    ("wait_over_longest", "wait / longest wait in the queue; 0 to 1"),
    ("wait_over_cap", "wait / the observer's wait cap; 0 to 1, cut there"),
    ("user_log_ratio", "mean of log10(run / requested time) of the user's last 10 ended jobs, / 3; -1 to 1, 0: none"),
    ("user_count", "log10(1 + ended jobs of the user) / 3; 0 to 1"),
    ("user_queue_share", "share of the waiting jobs that are the same user's; 0 to 1, unknown user: 0"),
    ("log_predicted", "log_request + the user's mean log10(run / requested time) / 8; -1 to 1"),
    ("log_last_two", "log10 of the mean run of the user's last two ended jobs, at least 1 s, at most the request, / 8"),
)
"""Columns of `Observation.jobs`; F is their number."""

FIXED = 7
"""The first so many job features do not change while a job waits."""

NODE_FEATURES: tuple[Feature, ...] = (
    ("valid", "1 where the machine has such a group, else 0; then all others are 0"),
    ("share", "the group's nodes / machine; 0 to 1"),
    ("free_share", "free nodes / the group's nodes; shared nodes count by their free cores; 0 to 1"),
    ("free_memory_share", "free memory / the group's memory; as free_share where memory is not described; 0 to 1"),
    ("free_gpu_share", "free GPUs / the group's GPUs; 0 where it has none; 0 to 1"),
    ("log_free_quarter", "log10(1 + seconds until a quarter of the group is free by limits) / 8; 0 to 1, never: 1"),
    ("log_free_half", "the same for half of the group"),
    ("log_free_three_quarters", "the same for three quarters"),
    ("log_free_all", "the same for all of it"),
)
"""Columns of `Observation.nodes`; G is their number."""

GLOBAL_FEATURES: tuple[Feature, ...] = (
    ("free_share", "free nodes / machine; 0 to 1"),
    ("log_queue", "log10(1 + waiting jobs) / 5; 0 to 1"),
    ("log_running", "log10(1 + running jobs) / 5; 0 to 1"),
    ("log_next_release", "log10(1 + seconds until the first running job ends by its limit) / 8; 0 to 1, none: 1"),
    ("log_queued_area", "log10(1 + seconds that the whole machine needs for all waiting requests) / 9; 0 to 1"),
    ("log_slowdown_rate", "log10(1 + sum over waiting jobs of 1 h / max(requested time, tau)) / 8; 0 to 1"),
    ("log_longest_wait", "log10(1 + longest wait in the queue) / 8; 0 to 1"),
    ("longest_wait_over_cap", "longest wait in the queue / the observer's wait cap; 0 to 1, cut there"),
    ("window_share", "jobs in the window / waiting jobs; 0 to 1"),
    ("fitting_share", "jobs of the window that fit / jobs of the window; 0 to 1"),
    ("log_ratio", "mean of log10(run / requested time) of the last 100 ended jobs, / 3; -1 to 1, 0: none"),
)
"""Entries of `Observation.globals`; H is their number."""

VERSION = 1
"""Raised whenever a feature's meaning changes under the same name."""

LOG_SCALE = 8.0
"""Divides log10 of seconds: 1e8 s and more is 1."""

AREA_OFFSET, AREA_SCALE = 6.0, 14.0
"""log_area = (offset + log10(machine-seconds)) / scale."""


def schema() -> dict[str, Any]:
    """Return the layout of an observation's features as plain data, to be kept with a network."""
    return {
        "version": VERSION,
        "jobs": [name for name, _ in JOB_FEATURES],
        "nodes": [name for name, _ in NODE_FEATURES],
        "globals": [name for name, _ in GLOBAL_FEATURES],
    }


def schema_hash() -> str:
    """Return the SHA-256 of `schema` as canonical JSON: equal for equal layouts, on any machine."""
    text = json.dumps(schema(), sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()
