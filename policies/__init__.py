"""Scheduling policies, each an ordinary plug-in of `hpcsim.policy.Policy`."""

from __future__ import annotations

if __name__ != "hpcsim.policies":
    raise ImportError("Import this package as hpcsim.policies: under another name its classes would exist twice.")

from hpcsim.policies.backfill import EASY, Backfill, Conservative
from hpcsim.policies.estimators import Requested
from hpcsim.policies.orders import FCFS, LJF, SAF, SJF

__all__ = ["EASY", "FCFS", "LJF", "SAF", "SJF", "Backfill", "Conservative", "Requested"]
