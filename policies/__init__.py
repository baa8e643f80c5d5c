"""Scheduling policies, each an ordinary plug-in of `hpcsim.policy.Policy`."""

from __future__ import annotations

if __name__ != "hpcsim.policies":
    raise ImportError("Import this package as hpcsim.policies: under another name its classes would exist twice.")

from hpcsim.policies.backfill import EASY, Backfill, Conservative, EasySJBF
from hpcsim.policies.easy_plus_plus import EasyPlusPlus, ShortestPredicted
from hpcsim.policies.estimators import Actual, LastTwo, Requested, UserQuantile
from hpcsim.policies.lookahead import Lookahead
from hpcsim.policies.multifactor import Multifactor
from hpcsim.policies.orders import (
    FCFS,
    LAF,
    LCFS,
    LJF,
    SAF,
    SJF,
    ByFunction,
    FewestNodes,
    MostNodes,
    RandomOrder,
)
from hpcsim.policies.patience import Patience, Patient
from hpcsim.policies.placements import BestFit, Contiguous, FirstFit, RandomNodes
from hpcsim.policies.scores import F1, F2, F3, F4, UNICEP, WFP3
from hpcsim.policies.selective import Selective
from hpcsim.policies.slack_based import SlackBased

# fmt: off
__all__ = [  # noqa: RUF022 - grouped by use; each group is sorted
    # orders
    "FCFS", "LAF", "LCFS", "LJF", "SAF", "SJF", "ByFunction", "FewestNodes", "MostNodes", "RandomOrder",
    "F1", "F2", "F3", "F4", "UNICEP", "WFP3", "Multifactor", "Patient", "ShortestPredicted",
    # bounds on starvation
    "Patience",
    # backfilling
    "EASY", "Backfill", "Conservative", "EasyPlusPlus", "EasySJBF", "Lookahead", "Selective", "SlackBased",
    # estimators
    "Actual", "LastTwo", "Requested", "UserQuantile",
    # placements
    "BestFit", "Contiguous", "FirstFit", "RandomNodes",
]
# fmt: on
