"""Slurm's scheduler and priorities as a policy of hpcsim and its parameters.

``sched/backfill`` plans a start for each of the first bf_max_job_test jobs anew at each pass: here
`Backfill` with as many reservations. ``sched/builtin`` starts jobs in their order alone.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from hpcsim.workloads.clusters.conf_lines import Entry
from hpcsim.workloads.clusters.conf_values import count, is_yes, number, period_s
from hpcsim.workloads.clusters.slurm_partitions import PartitionLine
from hpcsim.workloads.clusters.slurm_remarks import Remarks

WEIGHTS = {
    "priorityweightage": "weight_age",
    "priorityweightfairshare": "weight_fair_share",
    "priorityweightjobsize": "weight_job_size",
    "priorityweightpartition": "weight_partition",
    "priorityweightqos": "weight_qos",
}
TAKEN = frozenset(
    {
        *WEIGHTS,
        *("schedulertype", "schedulerparameters", "selecttype", "selecttypeparameters", "prioritytype"),
        *("prioritymaxage", "prioritydecayhalflife", "priorityfavorsmall", "fairsharedampeningfactor"),
        "priorityflags",
    }
)
BF_MAX_JOB_TEST = 500
"""Slurm's own value where the file has none."""


def policy_of(
    cluster: Mapping[str, Entry], partitions: Sequence[PartitionLine], remarks: Remarks
) -> tuple[str, dict[str, Any]]:
    """Return the registry name of a policy, and its settings by name, those of its order as ``order.name``.

    Raises:
        ClusterError: a value makes no sense.
    """
    _tell_select(cluster, remarks)
    scheduler = cluster.get("schedulertype")
    name = "sched/backfill" if scheduler is None else scheduler.value.lower()
    if scheduler is not None and name not in {"sched/backfill", "sched/builtin"}:
        remarks.add(scheduler, "this scheduler is not known; backfilling stands in for it")
    tested = _tested(cluster, remarks)
    order = _multifactor(cluster, partitions, remarks)
    if name == "sched/builtin":
        return ("multifactor", order) if order else ("fcfs", {})
    settings: dict[str, Any] = {"reservations": tested, "depth": max(tested - 1, 0)}
    if order:
        settings |= {"order": "multifactor"} | {f"order.{key}": value for key, value in order.items()}
    return "backfill", settings


def _tell_select(cluster: Mapping[str, Entry], remarks: Remarks) -> None:
    select = cluster.get("selecttype")
    if select is not None and select.value.lower() != "select/linear":
        remarks.add(select, "jobs share nodes there; here they do where the log is read so")
    parameters = cluster.get("selecttypeparameters")
    if parameters is not None:
        remarks.add(parameters, "what is shared has no counterpart here: cores, GPUs and memory always are counted")


def _tested(cluster: Mapping[str, Entry], remarks: Remarks) -> int:
    """Return how many jobs one pass of the backfill scheduler plans; other parameters are told as lost."""
    entry = cluster.get("schedulerparameters")
    tested, lost = BF_MAX_JOB_TEST, []
    for part in map(str.strip, entry.value.split(",") if entry is not None else ()):
        key, equals, value = part.partition("=")
        if entry is not None and key.lower() in {"bf_max_job_test", "max_job_bf"} and equals:
            tested = count(Entry(key, key, value, entry.path, entry.line), least=1)
        elif part:
            lost.append(part)
    if entry is not None and lost:
        remarks.add(entry, f"no counterpart here, left out: {', '.join(lost)}")
    return tested


def _multifactor(cluster: Mapping[str, Entry], partitions: Sequence[PartitionLine], remarks: Remarks) -> dict[str, Any]:
    """Return the parameters of the multifactor order; none where jobs go first come, first served."""
    weights: dict[str, Any] = {ours: count(cluster[key]) for key, ours in WEIGHTS.items() if key in cluster}
    told = cluster.get("prioritytype")
    kind = "priority/multifactor" if told is None else told.value.lower()
    if told is not None and kind not in {"priority/multifactor", "priority/basic"}:
        remarks.add(told, "these priorities are not known; first come, first served stands in for them")
    _tell_fair_tree(cluster, weights, remarks)
    settings: dict[str, Any] = dict.fromkeys(WEIGHTS.values(), 0) | weights
    settings |= _options(cluster, remarks)
    if kind != "priority/multifactor" or not any(weights.values()):
        return {}
    if settings["weight_partition"]:
        settings["partition_priorities"] = {part.name: part.job_factor for part in partitions}
    if settings["weight_qos"]:
        remarks.add(cluster["priorityweightqos"], "QOS are in Slurm's database: add order.qos_priorities={...}")
    return settings


def _options(cluster: Mapping[str, Entry], remarks: Remarks) -> dict[str, Any]:
    settings: dict[str, Any] = {}
    for key, ours, least in (("prioritymaxage", "max_age_s", 1), ("prioritydecayhalflife", "half_life_s", 0)):
        if key in cluster:
            seconds = period_s(cluster[key])
            if least <= seconds < math.inf:
                settings[ours] = seconds
            else:
                remarks.add(cluster[key], "no such time here; 7 days stand in for it")
    if "priorityfavorsmall" in cluster:
        settings["favor_small"] = is_yes(cluster["priorityfavorsmall"])
    if "fairsharedampeningfactor" in cluster:
        dampening = number(cluster["fairsharedampeningfactor"])
        if not dampening:
            raise cluster["fairsharedampeningfactor"].refused("wants a number above 0")
        settings["dampening"] = dampening
    return settings


def _tell_fair_tree(cluster: Mapping[str, Entry], weights: Mapping[str, Any], remarks: Remarks) -> None:
    """Say where Slurm's fair share is another one than ours, which is that of NO_FAIR_TREE."""
    flags = cluster.get("priorityflags")
    named = [] if flags is None else [flag for flag in flags.value.upper().split(",") if flag]
    if weights.get("weight_fair_share") and "NO_FAIR_TREE" not in named:
        remarks.add(
            cluster["priorityweightfairshare"], "Slurm's fair share is by its tree of accounts, ours is the classic one"
        )
    lost = [flag for flag in named if flag != "NO_FAIR_TREE"]
    if flags is not None and lost:
        remarks.add(flags, f"no counterpart here, left out: {', '.join(lost)}")
