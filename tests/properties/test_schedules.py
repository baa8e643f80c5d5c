"""What must hold of every schedule, whatever the policy."""

from __future__ import annotations

from array import array
from itertools import pairwise

from hypothesis import assume, given
from hypothesis import strategies as st

from hpcsim.engine.columns import RunColumns
from hpcsim.job import JobState
from hpcsim.node_ids import count_nodes, parse_intervals
from hpcsim.policies import EASY, FCFS, Backfill, Conservative
from hpcsim.policy import Policy
from hpcsim.workload import Workload
from tests.properties.workloads import MACHINE, built_in_policies, workload_of, workloads
from tests.schedules import outcomes_of, run, starts


def assert_feasible(columns: RunColumns, workload: Workload) -> None:
    """Check a schedule from its columns alone: states, early starts, lengths, widths, overlap."""
    held: dict[int, list[tuple[float, float]]] = {}
    for row, outcome in enumerate(outcomes_of(columns, workload).values()):
        run_s, limit_s = workload.run_s[row].item(), workload.limit_s[row].item()
        assert outcome.state is (JobState.TIMEOUT if run_s > limit_s else JobState.COMPLETED)
        assert outcome.start_s >= workload.submit_s[row]
        assert outcome.end_s == outcome.start_s + min(run_s, limit_s)
        intervals = parse_intervals(outcome.node_ids)
        assert count_nodes(intervals) == workload.nodes[row]
        for node in (node for low, high in intervals for node in range(low, high + 1)):
            assert 0 <= node < MACHINE
            held.setdefault(node, []).append((outcome.start_s, outcome.end_s))
    for spans in held.values():
        spans.sort()
        for (_, end_s), (start_s, _) in pairwise(spans):
            assert start_s >= end_s, "two jobs on one node at once"


@given(workloads(), built_in_policies())
def test_every_schedule_is_feasible(workload: Workload, policy: Policy) -> None:
    """Capacity, overlap, early start, one state each, conservation: by the checker and by the columns."""
    assert_feasible(run(workload, MACHINE, policy), workload)


@given(workloads(is_fractional=True, has_unlimited=True), built_in_policies())
def test_every_schedule_is_feasible_with_fractional_times_and_no_limits(workload: Workload, policy: Policy) -> None:
    """Times whose sums are not exact, and jobs that cannot be planned."""
    assert_feasible(run(workload, MACHINE, policy), workload)


@given(workloads(), built_in_policies(), st.integers(-1000, 10**9))
def test_a_shift_in_time_shifts_the_schedule(workload: Workload, policy: Policy, shift: int) -> None:
    """Policies know differences of times only, but for those that say otherwise."""
    assume("time-shift" in policy.invariances)
    columns = dict(workload.columns)
    columns["submit_s"] = columns["submit_s"] + shift
    moved = starts(Workload(columns), MACHINE, policy)
    assert moved == {job_id: start_s + shift for job_id, start_s in starts(workload, MACHINE, policy).items()}


@given(workloads(), built_in_policies())
def test_the_same_run_twice_leaves_the_same_columns(workload: Workload, policy: Policy) -> None:
    """Byte for byte, with the same policy object used again."""
    first, second = (run(workload, MACHINE, policy, seed=3) for _ in range(2))
    for name, column in vars(first).items():
        if isinstance(column, array | bytearray):
            assert bytes(column) == bytes(getattr(second, name)), name
    assert list(first.node_ids()) == list(second.node_ids())
    assert first.reasons == second.reasons


@given(workloads())
def test_fcfs_never_lets_a_later_job_start_first(workload: Workload) -> None:
    """Starts are in order of arrival."""
    found = starts(workload, MACHINE, FCFS())
    in_order = [found[row + 1] for row in workload.arrival_order().tolist()]
    assert in_order == sorted(in_order)


@given(workloads())
def test_a_rejected_job_changes_nothing_for_the_others(workload: Workload) -> None:
    """Jobs that are too wide, mixed in, leave every other start as it was."""
    asked = [workload.columns[name].tolist() for name in ("submit_s", "run_s", "limit_s", "nodes")]
    rows = list(zip(*asked, strict=True))
    mixed = workload_of([row for pair in rows for row in (pair, (*pair[:3], MACHINE + 1))])
    for policy in (EASY(), Conservative(), Backfill(reservations=2)):
        alone, among = starts(workload, MACHINE, policy), starts(mixed, MACHINE, policy)
        assert {2 * job_id - 1: start_s for job_id, start_s in alone.items()} == among
