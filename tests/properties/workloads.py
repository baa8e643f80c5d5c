"""Hypothesis strategies for small, nasty workloads."""

from __future__ import annotations

import math
from typing import Any

from hypothesis import strategies as st

from hpcsim.policies import LJF, SAF, SJF, Backfill
from hpcsim.policy import Policy
from hpcsim.registry import make, names
from hpcsim.workload import Workload

MACHINE = 8
"""Nodes of the machine that the workloads are drawn for."""

NAMES = tuple(names("policies"))
COUNTS_NODES = {"easy-plus-plus", "lookahead", "selective", "slack-based"}
"""Built-in policies that refuse nodes that differ."""

"""Every registered policy."""


def workload_of(rows: list[tuple[Any, Any, Any, int]]) -> Workload:
    """Return the workload of (submit, run time, limit, nodes)."""
    submit, run, limit, nodes = zip(*rows, strict=True)
    users = [row % 3 for row in range(len(rows))]
    return Workload.of(submit_s=submit, run_s=run, limit_s=limit, nodes=nodes, user_id=users)


def workloads(*, is_fractional: bool = False, has_unlimited: bool = False, max_jobs: int = 24) -> Any:
    """Draw workloads in which events coincide often; every job fits the machine.

    Limits may be shorter than run times (the job is killed), equal, or longer.
    """
    seconds = st.sampled_from([0.1, 0.2, 0.3, 0.7, 1.1, 2.5, 3.3]) if is_fractional else st.integers(0, 12)
    lengths = seconds if is_fractional else st.integers(1, 12)
    limits = st.one_of(lengths, st.just(math.inf)) if has_unlimited else lengths
    job = st.tuples(st.integers(0, 30), seconds, limits, st.integers(1, MACHINE))
    few, many = st.lists(job, min_size=1, max_size=5), st.lists(job, min_size=12, max_size=max_jobs)
    return st.one_of(few, many).map(workload_of)


def built_in_policies() -> Any:
    """Draw any built-in policy with any of its options."""
    return st.one_of(st.sampled_from(NAMES).map(lambda name: make("policies", name)), backfills())


def policies_of_any_nodes() -> Any:
    """Draw any built-in policy that also serves nodes that differ."""
    names = [name for name in NAMES if name not in COUNTS_NODES]
    return st.one_of(st.sampled_from(names).map(lambda name: make("policies", name)), backfills())


def backfills() -> Any:
    """Draw any member of the backfilling family."""
    order = st.sampled_from([SJF, LJF, SAF, None])
    return st.builds(_backfill, order, order, st.sampled_from([0, 1, 2, 3, "all"]), st.sampled_from([None, 0, 1, 3]),
                     st.sampled_from(["shadow+extra", "shadow"]), st.sampled_from(["<=", "<"]),
                     st.sampled_from(["early", "any"]))  # fmt: skip


def _backfill(order: Any, behind: Any, reservations: Any, depth: Any, *rest: Any) -> Policy:
    admit, boundary, compress = rest
    options = {"order": order()} if order else {}
    return Backfill(
        **options,
        backfill_order=behind() if behind else None,
        reservations=reservations,
        depth=depth,
        admit=admit,
        boundary=boundary,
        compress=compress,
    )
