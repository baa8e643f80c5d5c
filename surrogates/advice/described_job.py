"""A job from the fields that a person gives, each held to what it may be."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from hpcsim.cluster import Cluster
from hpcsim.errors import InvalidArgument, closest
from hpcsim.job import Job
from hpcsim.surrogates.advice.rule_advisor import is_number, is_whole

WIDER = 8
"""Without ``allowed_nodes`` counts up to this many times that asked for are considered."""

Check = Callable[[Any], bool]


def _is_identity(value: Any) -> bool:
    return isinstance(value, str) or is_whole(0)(value)


FIELDS: dict[str, tuple[str, Check]] = {
    "nodes": ("a whole number from 1", is_whole(1)),
    "limit_s": ("seconds above 0", lambda value: is_number(value) and value > 0),
    "submit_s": ("seconds", lambda value: is_number(value) and math.isfinite(value)),
    **dict.fromkeys(("user_id", "group_id", "app_id"), ("a whole number from 0, or a name", _is_identity)),
    "name": ("text", lambda value: isinstance(value, str)),
    "cores_per_node": ("a whole number from 1", is_whole(1)),
    **dict.fromkeys(("gpus_per_node", "memory_bytes_per_node"), ("a whole number from 0", is_whole(0))),
    "partitions": (
        "a list of names, as ['batch']",
        lambda value: isinstance(value, list | tuple) and all(isinstance(name, str) for name in value),
    ),
    "allowed_nodes": (
        "a list of whole numbers from 1, as [1, 2, 4]",
        lambda value: isinstance(value, list | tuple) and bool(len(value)) and all(map(is_whole(1), value)),
    ),
}
"""What a person may say of a job, in words and as a check."""


def described_job(settings: dict[str, Any], cluster: Cluster) -> Job:
    """Return the job that *settings* describe, fields of `FIELDS`, to run on *cluster*; ``nodes`` is needed.

    Raises:
        InvalidArgument: a field is unknown, missing or out of its range, or the machine is smaller than the job.
    """
    for name, value in settings.items():
        if name not in FIELDS:
            raise InvalidArgument(
                f"A job to advise has no field '{name}'.{closest(name, FIELDS)}", f"Known: {', '.join(FIELDS)}."
            )
        wanted, is_good = FIELDS[name]
        if not is_good(value):
            raise InvalidArgument(f"The field '{name}' of the job is {value!r}.", f"Give {wanted}.")
    if "nodes" not in settings:
        raise InvalidArgument("The job says nothing of its nodes.", "Add nodes=4, as many as it asks for.")
    nodes = settings["nodes"]
    if nodes > cluster.nodes:
        raise InvalidArgument(
            f"The job asks for {nodes} nodes and the machine has {cluster.nodes}.", "Describe the machine (--cluster)."
        )
    allowed = settings.get("allowed_nodes", range(1, min(WIDER * nodes, cluster.nodes) + 1))
    whole = {"row": 0, "job_id": 0, "submit_s": 0} | settings | {"allowed_nodes": tuple(allowed)}
    job = Job(**whole | {"partitions": tuple(settings.get("partitions", ()))})
    reason = cluster.never_runs(job)
    if reason:
        raise InvalidArgument(
            f"The job could never run: {reason}.", "Ask for less, or describe the machine (--cluster)."
        )
    return job
