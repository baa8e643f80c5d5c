"""What backfilling promises, and that its fast paths give the schedules of slow ones."""

from __future__ import annotations

import math
from typing import Any
from unittest import mock

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from hpcsim.decision import Reserve, Start
from hpcsim.policies import EASY, SJF, Backfill, Conservative
from hpcsim.policies.reserving import ReservingPass
from hpcsim.policies.shadow import ShadowPass
from hpcsim.policy import Policy
from hpcsim.recorder import Recorder
from hpcsim.registry import make
from hpcsim.workload import Workload
from tests.properties.workloads import MACHINE, workload_of, workloads
from tests.schedules import outcomes_of, run, simulation, starts


class SlowEASY(Policy):
    """EASY in a dozen lines, from its definition, with nothing of the product's but the contract."""

    def schedule(self, system: Any) -> Any:
        """Start heads; then, behind the blocked one, what ends by the shadow time or uses only extra nodes."""
        while system.queue and system.fits(system.queue[0]):
            yield Start(system.queue[0])
        if not system.queue:
            return
        head, shadow_s, extra = system.queue[0], math.inf, 0
        for time_s in sorted({entry.limit_end_s for entry in system.running if entry.limit_end_s < math.inf}):
            ended = sum(entry.job.nodes for entry in system.running if entry.limit_end_s <= time_s)
            if system.free + ended >= head.nodes:
                shadow_s, extra = time_s, system.free + ended - head.nodes
                break
        for job in system.queue[1:]:
            is_short = system.now_s + job.limit_s <= shadow_s and job.limit_s < math.inf
            if system.fits(job) and (is_short or job.nodes <= extra):
                extra -= 0 if is_short else job.nodes
                yield Start(job)


class Promises(Recorder):
    """Collects each job's promises, in order, and its start."""

    def __init__(self) -> None:
        self.made: dict[int, list[float]] = {}
        self.started: dict[int, float] = {}

    def on_decision(self, decision: Any, system: Any) -> None:
        """Keep promises and starts."""
        if isinstance(decision, Reserve):
            self.made.setdefault(decision.job.row, []).append(decision.start_s)
        elif isinstance(decision, Start):
            self.started[decision.job.row] = system.now_s


class Shadows(Recorder):
    """Derives the head's shadow time anew at the end of each pass."""

    def __init__(self) -> None:
        self.seen: list[tuple[int, float]] = []

    def on_pass(self, system: Any) -> None:
        """Keep (row of the head, shadow time)."""
        if system.queue:
            self.seen.append((system.queue[0].row, system.earliest_start_s(system.queue[0])))


@given(workloads(has_unlimited=True))
def test_easy_equals_its_definition(workload: Workload) -> None:
    """The registered policy, the family's member and a slow one of this file agree on every start."""
    slow = starts(workload, MACHINE, SlowEASY())
    assert starts(workload, MACHINE, EASY()) == slow
    assert starts(workload, MACHINE, make("policies", "backfill", reservations=1)) == slow


@given(workloads(is_fractional=True))
def test_easy_equals_its_definition_with_fractional_times(workload: Workload) -> None:
    """Sums of times are formed alike."""
    assert starts(workload, MACHINE, EASY()) == starts(workload, MACHINE, SlowEASY())


class ProfileEASY(Backfill):
    """One reservation, on the profile: a job starts if and only if there is room beside the reservation."""

    def reset(self, cluster: Any, rng: Any) -> None:
        """Use the algorithm of k reservations."""
        super().reset(cluster, rng)
        self._pass = ReservingPass(self)


@given(workloads())
def test_the_profile_with_one_reservation_is_easy(workload: Workload) -> None:
    """Shadow time and extra nodes are the profile's answer, where no length is zero and all have limits."""
    assert starts(workload, MACHINE, ProfileEASY()) == starts(workload, MACHINE, EASY())


@given(workloads())
def test_the_head_never_starts_after_its_first_promise(workload: Workload) -> None:
    """EASY in arrival order: each promise to a head is kept, and only moves forward."""
    promises = Promises()
    run(workload, MACHINE, EASY(), recorders=[promises])
    for row, made in promises.made.items():
        assert made == sorted(made, reverse=True)
        assert promises.started[row] <= made[-1] <= made[0]


@given(workloads(), st.sampled_from(["early", "any"]))
def test_conservative_never_starts_a_job_after_any_of_its_promises(workload: Workload, compress: Any) -> None:
    """Every job is promised a start at arrival; promises only move forward."""
    promises = Promises()
    run(workload, MACHINE, Conservative(compress=compress), recorders=[promises])
    assert set(promises.made) == set(range(len(workload)))
    for row, made in promises.made.items():
        assert made == sorted(made, reverse=True)
        assert promises.started[row] <= made[-1]


@given(workloads())
def test_the_shadow_time_of_one_head_never_moves_later(workload: Workload) -> None:
    """Between passes with the same head, by the limits of what runs."""
    shadows = Shadows()
    run(workload, MACHINE, EASY(), recorders=[shadows])
    for (head, shadow_s), (next_head, next_shadow_s) in zip(shadows.seen, shadows.seen[1:], strict=False):
        assert next_head != head or next_shadow_s <= shadow_s


def without_skipping(workload: Workload, policy: Backfill, **options: Any) -> dict[Any, float]:
    """Return the starts of a run in which every pass derives everything anew."""
    init = ShadowPass.__init__

    def never_skips(self: ShadowPass, owner: Backfill) -> None:
        init(self, owner)
        self._can_skip = False

    with mock.patch.object(ShadowPass, "__init__", never_skips):
        return starts(workload, MACHINE, policy, **options)


SKIPPING: list[dict[str, Any]] = [
    {},
    {"order": SJF()},
    {"admit": "shadow"},
    {"admit": "shadow", "boundary": "<"},
    {"reservations": 0},
]


@pytest.mark.parametrize("parameters", SKIPPING, ids=repr)
@given(workload=workloads(has_unlimited=True, max_jobs=40))
def test_skipping_refused_candidates_changes_no_schedule(parameters: dict[str, Any], workload: Workload) -> None:
    """A pass that tries only what arrived since the last one starts what a full pass would start."""
    policy = Backfill(**parameters)
    assert starts(workload, MACHINE, policy) == without_skipping(workload, policy)


@example(workload=workload_of([(0, 10, 10, 4), (1, 10, 10, 7), (2, 8, 8, 1), (3, 100, 100, 1)]))
@given(workload=workloads(max_jobs=40))
def test_skipping_changes_no_schedule_by_the_strict_boundary(workload: Workload) -> None:
    """As above: a job that ends exactly at the shadow time is counted as ended by then afterwards."""
    policy = Backfill(boundary="<")
    assert starts(workload, MACHINE, policy) == without_skipping(workload, policy)


@example(workload=workload_of([(0, 100, 10, 7), (1, 10, 10, 8), (50, 1, 1, 1)]))
@given(workload=workloads(max_jobs=40))
def test_skipping_changes_no_schedule_where_jobs_outlive_their_limits(workload: Workload) -> None:
    """As above, without killing."""
    policy = Backfill()
    full = without_skipping(workload, policy, kill_at_limit=False)
    assert starts(workload, MACHINE, policy, kill_at_limit=False) == full


@given(workloads())
def test_replaying_decisions_step_by_step_gives_the_same_run(workload: Workload) -> None:
    """What `run` does with EASY, a caller does with `run_to_decision`, `apply` and `close_pass`."""
    whole = outcomes_of(run(workload, MACHINE, SlowEASY()), workload)
    sim = simulation(workload, MACHINE, None)
    decider = SlowEASY()
    while (system := sim.run_to_decision()) is not None:
        for decision in decider.schedule(system):
            sim.apply(decision)
        sim.close_pass()
    assert sim.is_finished
    assert outcomes_of(sim.finish(), workload) == whole
