"""Hypothesis strategies for small, nasty inputs: few jobs on few nodes, where events coincide often.

They shrink towards one job of one node and one second on a machine of one node.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from hypothesis import strategies as st

from hpcsim.cluster import Cluster
from hpcsim.job import Job
from hpcsim.workload import Workload

NODES = 8
"""Nodes of the largest machine that is drawn unless another size is asked for."""

Row = tuple[float, float, float, int, int]
"""(submit, run time, limit, nodes, user), times in seconds."""

_FRACTIONS_S = (0.1, 0.2, 0.3, 0.7, 1.1, 2.5, 3.3)


_AT_ONCE = 8  # one long list would seldom be long


def clusters(*, max_nodes: int = NODES) -> st.SearchStrategy[Cluster]:
    """Draw machines of 1 to *max_nodes* identical nodes."""
    return st.integers(1, max_nodes).map(Cluster.of_nodes)


def jobs(nodes: int = NODES, *, is_fractional: bool = False, has_unlimited: bool = False) -> st.SearchStrategy[Job]:
    """Draw jobs as users ask for them, each at most *nodes* wide.

    All have row 0 and job id 1: `Simulation.submit` gives them rows of their own.

    Args:
        nodes: the widest job.
        is_fractional: draw times that are no whole numbers, and whose sums are rounded.
        has_unlimited: draw jobs without a limit as well.
    """
    return _rows(nodes, is_fractional, has_unlimited).map(_job)


def workloads(
    nodes: int = NODES,
    *,
    min_jobs: int = 1,
    max_jobs: int = 24,
    is_fractional: bool = False,
    has_unlimited: bool = False,
) -> st.SearchStrategy[Workload]:
    """Draw workloads whose jobs all fit a machine of *nodes* nodes.

    Jobs come within 15 s, want up to 12 s and run up to 12 s: shorter than their limit, equal to
    it, longer (then they are killed), or 0 s. Limits are at least a second. Users are 1 to 3.

    Args:
        nodes: the widest job.
        min_jobs: the fewest jobs; 0 makes empty workloads too.
        max_jobs: the most jobs.
        is_fractional: draw times that are no whole numbers, and whose sums are rounded.
        has_unlimited: draw jobs without a limit as well.
    """
    row = _rows(nodes, is_fractional, has_unlimited)
    sizes = [min(_AT_ONCE, max_jobs - done) for done in range(0, max_jobs, _AT_ONCE)] or [0]
    least = [min(size, max(0, min_jobs - place * _AT_ONCE)) for place, size in enumerate(sizes)]
    groups = [st.lists(row, min_size=low, max_size=high) for low, high in zip(least, sizes, strict=True)]
    return st.tuples(*groups).map(lambda drawn: workload_of([row for group in drawn for row in group]))


def scenarios(*, max_nodes: int = NODES, max_jobs: int = 24) -> st.SearchStrategy[tuple[Workload, Cluster]]:
    """Draw a workload together with a machine that all its jobs fit."""
    drawn = st.tuples(workloads(max_nodes, max_jobs=max_jobs), st.integers(1, max_nodes))
    return drawn.map(lambda pair: (narrowed(pair[0], pair[1]), Cluster.of_nodes(pair[1])))


def workload_of(rows: Sequence[Row]) -> Workload:
    """Return the workload of *rows*, in their order; without any, an empty one."""
    submit_s, run_s, limit_s, nodes, user_id = zip(*rows, strict=True) if rows else ((),) * 5
    return Workload.of(submit_s=submit_s, run_s=run_s, limit_s=limit_s, nodes=nodes, user_id=user_id)


def narrowed(workload: Workload, nodes: int) -> Workload:
    """Return *workload* with every job cut down to *nodes* nodes."""
    return Workload(workload.columns | {"nodes": workload.columns["nodes"].clip(max=nodes)})


def _rows(nodes: int, is_fractional: bool, has_unlimited: bool) -> st.SearchStrategy[Row]:
    fractions = st.sampled_from(_FRACTIONS_S)
    run_s: st.SearchStrategy[float] = fractions if is_fractional else st.integers(0, 12)
    limit_s: st.SearchStrategy[float] = fractions if is_fractional else st.integers(1, 12)
    if has_unlimited:
        limit_s = st.one_of(limit_s, st.just(math.inf))
    return st.tuples(st.integers(0, 15), run_s, limit_s, st.integers(1, nodes), st.integers(1, 3))


def _job(row: Row) -> Job:
    submit_s, _, limit_s, nodes, user_id = row
    return Job(0, 1, submit_s, nodes, limit_s, user_id)
