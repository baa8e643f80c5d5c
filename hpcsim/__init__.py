"""hpcsim: simulate an HPC cluster and its batch scheduling, and trust the answer.

>>> from hpcsim import Cluster, Workload, make_policy, simulate
>>> workload = Workload.of(submit_s=[0, 1, 2], run_s=[10, 5, 3], nodes=[1, 2, 1])
>>> result = simulate(workload, Cluster.of_nodes(2), make_policy("easy"))
>>> result.jobs["start_s"].tolist()
[0.0, 10.0, 2.0]
"""

from __future__ import annotations

from typing import Any

from hpcsim import registry
from hpcsim.advisor import Advice, Advisor
from hpcsim.cluster import Cluster, NodeGroup, Partition
from hpcsim.decision import Decision, Reject, Reserve, Start, WakeAt
from hpcsim.engine.simulation import Simulation
from hpcsim.errors import HpcsimError, HpcsimWarning, InvalidDecision
from hpcsim.estimator import Estimator
from hpcsim.job import Job, JobOutcome, JobState
from hpcsim.placement import Placement
from hpcsim.policy import Order, Policy
from hpcsim.power import CapStep, NodePower, Tariff
from hpcsim.profile import Profile
from hpcsim.recorder import Recorder
from hpcsim.results.result import Result
from hpcsim.results.run import simulate
from hpcsim.surrogate import Prediction, Surrogate
from hpcsim.system import RunningJob, System
from hpcsim.workload import Workload

__version__ = "0.1.0"

# fmt: off
__all__ = [  # noqa: RUF022 - grouped by use; each group is sorted
    # describe
    "CapStep", "Cluster", "Job", "JobOutcome", "JobState", "NodeGroup", "NodePower", "Partition", "Tariff", "Workload",
    # run
    "Result", "Simulation", "make_policy", "read", "simulate",
    # write a policy
    "Decision", "Order", "Policy", "Profile", "Reject", "Reserve", "RunningJob", "Start", "System", "WakeAt",
    # write another plug-in
    "Advice", "Advisor", "Estimator", "Placement", "Prediction", "Recorder", "Surrogate", "registry",
    # what can go wrong
    "HpcsimError", "HpcsimWarning", "InvalidDecision",
]
# fmt: on


def make_policy(name: str, /, **parameters: Any) -> Policy:
    """Return a policy by registry name, ``module:Class`` or ``file.py:Class``."""
    policy: Policy = registry.make("policies", name, **parameters)
    return policy


def read(path: Any, *, format: str = "auto", **options: Any) -> Workload:  # noqa: A002 - the word users expect
    """Read a job log, its *format* told by its content if not given; see that format's reader for *options*."""
    workload: Workload = registry.make("readers", format, path=path, **options)
    return workload
