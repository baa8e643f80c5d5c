"""Where a result comes from: everything that is needed to make the same one again."""

from __future__ import annotations

import platform
from collections.abc import Mapping
from importlib.metadata import version
from typing import Any

import numpy as np

from hpcsim.engine.simulation import Simulation
from hpcsim.errors import HpcsimError
from hpcsim.policy import Policy
from hpcsim.workload import Workload

LIMITS_NOTE = "limits = run times"
"""Said of a workload whose log has no limits: policies then plan with perfect estimates."""

PROVENANCE_KEYS = (
    "seed",
    "versions",
    "policy",
    "cluster",
    "nodes",
    "counted",
    "options",
    "workload",
    "until_s",
    "clock_s",
    "jobs_not_submitted",
    "complete",
    "error",
    "books",
)
"""Keys of every provenance."""


def provenance(
    simulation: Simulation, *, seed: int, until_s: float | None, options: Mapping[str, Any], not_submitted: int
) -> dict[str, Any]:
    """Return the provenance of a run that went well, as plain data; `failed` marks one that did not."""
    cluster = simulation.cluster
    return {
        "seed": seed,
        "versions": versions(),
        "policy": describe_policy(simulation.policy),
        "cluster": _cluster_table(simulation),
        "nodes": cluster.nodes,
        "counted": cluster.counted,
        "options": dict(options),
        "workload": describe_workload(simulation.workload),
        "until_s": until_s,
        "clock_s": simulation.now_s,
        "jobs_not_submitted": not_submitted,
        "complete": simulation.is_finished,
        "error": None,
    }


def failed(record: dict[str, Any], error: HpcsimError) -> dict[str, Any]:
    """Return *record* marked as that of a run that *error* ended."""
    return record | {"complete": False, "error": {"kind": type(error).__name__, "message": str(error)}}


def versions() -> dict[str, str]:
    """Return the versions that a schedule or its figures can depend on."""
    import pandas as pd

    from hpcsim import __version__

    return {
        "hpcsim": __version__,
        "python": platform.python_version(),
        "simpy": version("simpy"),
        "numpy": np.__version__,
        "pandas": str(pd.__version__),
    }


def describe_policy(policy: Policy | None) -> dict[str, Any]:
    """Return a policy's class, parameters, and whether it sees true run times."""
    if policy is None:
        return {"name": "caller", "class": None, "parameters": {}, "clairvoyant": False}
    kind = type(policy)
    return {
        "name": kind.__name__,
        "class": f"{kind.__module__}:{kind.__qualname__}",
        "parameters": policy.parameters(),
        "clairvoyant": policy.clairvoyant,
    }


def describe_workload(workload: Workload) -> dict[str, Any]:
    """Return a workload's hash, size, limits, and what its reader or model says of its origin."""
    return {
        "sha256": workload.sha256(),
        "jobs": len(workload),
        "counted": workload.counted,
        "machine_nodes": workload.machine_nodes,
        "limits": LIMITS_NOTE if workload.limits_are_run_times else "requested",
        "provenance": workload.provenance,
    }


def _cluster_table(simulation: Simulation) -> dict[str, Any]:
    """Return the cluster as its TOML file would read."""
    import tomllib

    return tomllib.loads(simulation.cluster.to_toml())
