"""Names of the columns: what is known at submission, what moves with the node count, what only a run tells."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from hpcsim.errors import InvalidArgument, closest

Floats = NDArray[np.float64]

IDENTITY = ("user_id", "group_id", "app_id")
"""Numbers of people and applications; text becomes a number by a hash that is the same everywhere. -1: not known."""

CLOCK = ("submit_hour", "submit_weekday")
"""By the log's local clock where it has one, else by its own seconds; weekday 0 is the log's first day or Monday."""

PER_NODE = ("cores_per_node", "tasks_per_node", "gpus_per_node", "memory_per_node_bytes")
LIMIT = ("log_limit_s",)
"""A proxy of the run time *at the user's count*: it may help to say how long the job takes there, and no more."""

PAIR_HISTORY = (
    *("pair_jobs", "pair_last_log_run", "pair_mean_log_run", "pair_mean_log_node_s"),
    *("pair_last_node_w", "pair_mean_node_w", "pair_counts", "pair_log_since_s"),
)
APP_HISTORY = (
    *("app_jobs", "app_mean_log_run", "app_mean_log_node_s", "app_mean_node_w"),
    *("app_counts", "app_mean_log_nodes", "app_log_since_s"),
)
USER_HISTORY = ("user_jobs", "user_mean_log_run", "user_mean_log_node_s", "user_mean_node_w", "user_mean_log_nodes")
"""Jobs of the same user and application, application, user that had ended before this one was submitted: how
many, the last one's and the mean log run time, mean log node-seconds, watts a node, distinct counts, mean log
count, and the time since the last end."""

CONTEXT = (*IDENTITY, *CLOCK, *PER_NODE, *LIMIT, *PAIR_HISTORY, *APP_HISTORY, *USER_HISTORY)
"""What is known at submission and does not move with the node count."""

COUNTED = ("nodes", "cores_requested", "tasks", "gpus_requested", "memory_requested_bytes")
"""The node count and its proxies: another count changes them all, see `hpcsim.surrogates.features.at_counts`."""

FEATURES = (*CONTEXT, *COUNTED)
"""The 35 features."""

SUPPORT = ("app_least_nodes", "app_most_nodes")
"""The least and the most nodes that the application had run on before; NaN for one never seen."""

PLACE = ("row", "submit_s", "asked_nodes", "least_nodes", "most_nodes")
"""Not for learning: which job this is, what its user asked for, the ends of its allowed counts (its own if rigid)."""

CONTEXT_COLUMNS = (*FEATURES, *SUPPORT, *PLACE)
"""The columns of a table of contexts, all float64."""

TARGETS = ("run_s", "power_w")
POST_RUN = (*TARGETS, "end_s", "energy_j", "max_power_w", "wait_s")
"""Known after the run only: targets, and what reproductions of post-run models may use. Never given to advice."""

BURSTS = ("power_peak_ratio", "power_variation", "power_bursts", "power_burst_share")
"""Known after the run only, too, and no part of a table unless asked for: see `bursts`."""

OUTCOME_COLUMNS = (*CONTEXT_COLUMNS, *POST_RUN)


def schema_hash(columns: Sequence[str]) -> str:
    """Return a hash of *columns*, names and order: saved models carry that of their features."""
    return hashlib.sha256(json.dumps(list(columns)).encode()).hexdigest()[:16]


def require(columns: Sequence[str], present: Sequence[str], what: str) -> None:
    """Refuse a table without one of *columns*.

    Raises:
        InvalidArgument: the first that is missing, by name.
    """
    have = set(present)
    for name in columns:
        if name not in have:
            maker = "outcomes_table" if name in POST_RUN else "contexts_table"
            raise InvalidArgument(
                f"The table of {what} has no column '{name}'.{closest(name, present)}",
                f"Make it with hpcsim.surrogates.features.{maker}.",
            )
