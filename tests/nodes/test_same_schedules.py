"""Both ledgers give the same schedules wherever both apply."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from hpcsim.cluster import Cluster, NodeGroup, Partition
from hpcsim.policies import EASY, Backfill
from hpcsim.policy import Policy
from hpcsim.workload import Workload
from tests.nodes.promises import Promises
from tests.oracle.cases import DIGESTS, POLICIES, TRACES, Trace, digest, our_starts, read_jobs
from tests.properties.workloads import MACHINE, policies_of_any_nodes, workload_of, workloads
from tests.schedules import outcomes_of, run

SLOW = ("conservative-early", "conservative-any")
CASES = [
    pytest.param(
        trace, case, id=f"{trace.name}-{case}", marks=[pytest.mark.nightly] if case in SLOW or trace.limit else []
    )
    for trace in TRACES
    for case in POLICIES
]
ONE_BY_ONE = Cluster(groups=tuple(NodeGroup(name=f"node{node}", nodes=1) for node in range(MACHINE)))
APART = Cluster(
    groups=(NodeGroup(name="a", nodes=3), NodeGroup(name="b", nodes=5, features=frozenset({"nvme"}))),
    partitions=(Partition(name="all", groups=("a", "b")),),
)


@pytest.mark.parametrize(("trace", "case"), CASES)
def test_named_nodes_give_the_reference_schedule(shared: Path, trace: Trace, case: str) -> None:
    """The digest of the starts is the reference's, as it is with the counting ledger."""
    expected = json.loads(DIGESTS.read_text(encoding="utf-8"))[trace.name]
    starts = our_starts(read_jobs(shared, trace), trace.processors, case, books="nodes", check=False)
    assert digest(starts) == expected[case]


@given(workloads(), policies_of_any_nodes(), st.sampled_from(["nodes", "shared"]))
def test_the_same_jobs_start_on_the_same_nodes(workload: Workload, policy: Policy, books: str) -> None:
    """Any policy of ours, on one group of nodes: the same times and states.

    The same nodes, too, but where promises name them: those are chosen when the promise is made.
    """
    counted = outcomes_of(run(workload, MACHINE, policy), workload)
    found = outcomes_of(run(workload, MACHINE, policy, books=books), workload)
    if isinstance(policy, Backfill) and policy.reservations not in {0, 1}:
        counted, found = ({row: each._replace(node_ids="") for row, each in all_.items()} for all_ in (counted, found))
    assert found == counted


@given(workloads(is_fractional=True, has_unlimited=True), policies_of_any_nodes())
def test_the_same_with_fractional_times_and_no_limits(workload: Workload, policy: Policy) -> None:
    """As above."""
    counted = outcomes_of(run(workload, MACHINE, policy), workload)
    assert outcomes_of(run(workload, MACHINE, policy, books="nodes"), workload) == counted


@given(workloads(), policies_of_any_nodes())
def test_the_same_where_jobs_outlive_their_limits(workload: Workload, policy: Policy) -> None:
    """As above, without killing: planned ends pass."""
    counted = outcomes_of(run(workload, MACHINE, policy, kill_at_limit=False), workload)
    assert outcomes_of(run(workload, MACHINE, policy, books="nodes", kill_at_limit=False), workload) == counted


@example(workload=workload_of([(0, 10, 10, 4), (1, 10, 10, 7), (2, 8, 8, 1), (3, 100, 100, 1)]), policy=EASY())
@given(workloads(), policies_of_any_nodes())
def test_nodes_that_no_job_tells_apart_are_as_one_group(workload: Workload, policy: Policy) -> None:
    """A group a node; and two groups that differ in what nobody asks for, where reservations name no nodes."""
    counted = outcomes_of(run(workload, MACHINE, policy), workload)
    assert outcomes_of(run(workload, ONE_BY_ONE, policy), workload) == counted
    if not isinstance(policy, Backfill) or policy.reservations in {0, 1}:
        assert outcomes_of(run(workload, APART, policy), workload) == counted


@given(workloads(), policies_of_any_nodes())
def test_the_same_promises_are_made(workload: Workload, policy: Policy) -> None:
    """To the same jobs, at the same instants; within one instant in any order."""
    made = []
    for books in ("counting", "nodes", "shared"):
        promises = Promises()
        run(workload, MACHINE, policy, books=books, recorders=[promises])
        made.append(sorted(promises.made))
    assert made[0] == made[1] == made[2]
