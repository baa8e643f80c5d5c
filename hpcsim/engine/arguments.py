"""What callers may pass to a simulation: the wrong thing is one sentence at the call, not an error far inside."""

from __future__ import annotations

import math
import operator
from collections.abc import Iterable, Sequence
from numbers import Real
from typing import Any

from hpcsim.advisor import Advisor
from hpcsim.cluster import Cluster
from hpcsim.errors import ClusterError, InvalidArgument, Unsupported, WorkloadError
from hpcsim.job import Job
from hpcsim.placement import Placement
from hpcsim.policy import Policy
from hpcsim.power_cap import PowerCap
from hpcsim.recorder import Recorder
from hpcsim.speedup import SpeedUp
from hpcsim.workload import Workload


def check_description(workload: Any, cluster: Any) -> None:
    """Refuse what is no `Workload` on a `Cluster`.

    Raises:
        InvalidArgument: either is of another type.
    """
    _check_kind("workload", workload, Workload, "Give a Workload; hpcsim.read(path) makes one of a log.")
    _check_kind("cluster", cluster, Cluster, "Give a Cluster, as Cluster.of_nodes(128).")


def check_plug_ins(policy: Any, recorders: Any, placement: Any, advisor: Any) -> None:
    """Refuse what is no instance of its plug-in's base; None is no plug-in, but for recorders.

    Raises:
        InvalidArgument: one is of another type, or a class.
    """
    if policy is not None:
        _check_kind("policy", policy, Policy, "Give an instance of a Policy; simulate() also takes a name.")
    if isinstance(recorders, str) or not isinstance(recorders, Iterable):
        raise InvalidArgument(f"The recorders are {_shown(recorders)}.", "Give a list of Recorders.")
    for recorder in recorders:
        _check_kind("recorder", recorder, Recorder, "Give instances of Recorder.")
    if placement is not None:
        _check_kind("placement", placement, Placement, "Give an instance of a Placement.")
    if advisor is not None:
        _check_kind("advisor", advisor, Advisor, "Give an instance of an Advisor.")


def check_seed(seed: Any) -> None:
    """Refuse what is no whole number of 0 or more.

    Raises:
        InvalidArgument: it is none.
    """
    if isinstance(seed, bool) or not hasattr(seed, "__index__") or operator.index(seed) < 0:
        raise InvalidArgument(f"The seed is {_shown(seed)}.", "Give a whole number, 0 or more.")


def check_grace(grace_s: Any) -> None:
    """Refuse what is no finite number of seconds of 0 or more.

    Raises:
        WorkloadError: it is none.
    """
    if not _is_number(grace_s) or not 0 <= grace_s < math.inf:
        raise WorkloadError(f"The grace period is {_shown(grace_s)} s.", "Give seconds, 0 or more.")


def check_scaling(scaling: Any) -> None:
    """Refuse what is no law of speed-up; None is none.

    Raises:
        InvalidArgument: it is of another type.
    """
    if scaling is not None:
        _check_kind("scaling", scaling, SpeedUp, "Give a law, as hpcsim.speedup.Amdahl(0.05).")


def check_choice(name: str, value: Any, choices: Sequence[Any]) -> None:
    """Refuse what is none of *choices*.

    Raises:
        InvalidArgument: it is none of them.
    """
    if value not in choices:
        known = ", ".join(str(choice) for choice in choices if choice is not None)
        raise InvalidArgument(f"The argument `{name}` is {_shown(value)}.", f"Give one of {known}.")


def check_advice_budget(budget_s: Any) -> None:
    """Refuse what is no time budget for advice; None is none.

    Raises:
        InvalidArgument: it is no number above 0.
    """
    if budget_s is None:
        return
    is_number = isinstance(budget_s, Real) and not isinstance(budget_s, bool)
    if not is_number or not budget_s > 0:
        raise InvalidArgument(f"The time budget of advice is {budget_s!r}.", "Give seconds above 0, or None.")


def check_until(until: Any, now_s: float) -> None:
    """Refuse what is no time after *now_s*; None is the end of the run.

    Raises:
        InvalidArgument: it is no number.
        Unsupported: it lies not after *now_s*.
    """
    if until is None:
        return
    if not _is_number(until):
        raise InvalidArgument(f"The time `until` is {_shown(until)}.", "Give seconds of the log's clock.")
    if not until > now_s:
        raise Unsupported(f"The clock is at {now_s} s, not before {until} s.", "Give a later `until`.")


def check_job(job: Any) -> None:
    """Refuse what is no `Job`.

    Raises:
        InvalidArgument: it is none.
    """
    _check_kind("job", job, Job, "Give a Job.")


def check_is_served(job: Job, books: str) -> None:
    """Refuse a submitted job that asks for what this version, or the ledger of this run, has not.

    Raises:
        Unsupported: it would share nodes that are booked whole.
    """
    if not job.exclusive and books != "shared":
        raise Unsupported(
            f"Job {job.job_id} may share nodes, but no job of the workload does.",
            "Give Simulation(books='shared'), or submit it as exclusive.",
        )


def check_cap_means_something(workload: Workload, cluster: Cluster) -> None:
    """Refuse a power cap where neither nodes nor jobs draw any power.

    Raises:
        ClusterError: no group of nodes has power, and no job declares any.
    """
    has_watts = any(group.power for group in cluster.groups) or any(workload.known("power_w"))
    if PowerCap(cluster).is_there and not has_watts:
        raise ClusterError(
            f"Cluster '{cluster.name}' has a power cap, but no watts are known of its nodes or of any job.",
            "Describe the `power` of its node groups in a cluster file.",
        )


def check_run_time(run_s: Any) -> None:
    """Refuse what is no number; its value is the caller's to check.

    Raises:
        InvalidArgument: it is none.
    """
    if not _is_number(run_s):
        raise InvalidArgument(f"The run time is {_shown(run_s)}.", "Give seconds, 0 or more.")


def _is_number(value: Any) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool)


def _check_kind(what: str, value: Any, kind: type, remedy: str) -> None:
    if isinstance(value, type):
        raise InvalidArgument(f"The {what} is the class {value.__name__}.", f"Call it: {value.__name__}(...).")
    if not isinstance(value, kind):
        raise InvalidArgument(f"The {what} is {_shown(value)}.", remedy)


def _shown(value: Any) -> str:
    """Return a value as a reader of an error knows it: in one short line."""
    text = " ".join(repr(value).split())
    return text if len(text) <= 60 else f"{text[:57]}..."
