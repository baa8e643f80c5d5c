"""What two policies are compared by, in the order in which tables show it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Measure:
    """One measure: its key, its name, its unit and which way is up.

    ``unit`` is ``"s"``, ``"share"`` or ``""`` (a plain number).
    """

    key: str
    name: str
    unit: str
    lower_is_better: bool = True


MEASURES = (
    Measure("mean_wait_s", "mean wait", "s"),
    Measure("iqm_wait_s", "mean, middle half", "s"),
    Measure("median_wait_s", "median wait", "s"),
    Measure("p95_wait_s", "95 % wait", "s"),
    Measure("p99_wait_s", "99 % wait", "s"),
    Measure("worst_5_wait_s", "mean, worst 5 %", "s"),
    Measure("max_wait_s", "longest wait", "s"),
    Measure("area_weighted_wait_s", "area-weighted wait", "s"),
    Measure("mean_bounded_slowdown", "bounded slowdown", ""),
    Measure("improvement", "P(job waits less)", "share", lower_is_better=False),
    Measure("steady_utilisation", "steady utilisation", "share", lower_is_better=False),
)
"""All measures.

``improvement`` is the chance that a job waits less, one that waits the same counted half; for the old
policy it is 1/2 by definition. ``worst_5_wait_s`` is the conditional value at risk of the waits.
"""
