"""Candidates, limits, guards, planned waits and as-of history, each against something worked out otherwise."""

from __future__ import annotations

import math
import random
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from hpcsim import registry
from hpcsim.cluster import Cluster, NodeGroup, Partition
from hpcsim.job import Job, JobOutcome, JobState
from hpcsim.profile import Profile
from hpcsim.surrogates.advice import candidates
from hpcsim.surrogates.advice.contexts import context_of
from hpcsim.surrogates.advice.experience import Experience
from hpcsim.surrogates.advice.running_history import ended_of, history_of
from hpcsim.surrogates.advice.waits import PlannedQueue
from hpcsim.surrogates.features import contexts_table, outcomes_table
from hpcsim.surrogates.features.columns import CONTEXT_COLUMNS
from hpcsim.surrogates.features.submission import submission
from hpcsim.surrogates.features.submissions import submissions
from hpcsim.surrogates.features.tables import HISTORY_COLUMNS
from tests.advice.test_rules import JOB

ASKED = Job(row=0, job_id=1, submit_s=0, nodes=2, limit_s=90, allowed_nodes=(1, 2, 4))


def test_limits_grow_with_the_upper_run_time_and_never_shrink() -> None:
    """Request 90 s: on one node 90 x 150/60, on four 90 x max(1, 60/60)."""
    assert candidates.limits_s(ASKED, JOB, math.inf).tolist() == [225.0, 90.0, 90.0]
    assert candidates.limits_s(ASKED, JOB, 200).tolist() == [200.0, 90.0, 90.0]
    assert candidates.limits_s(ASKED, JOB, 60).tolist() == [90.0, 90.0, 90.0]
    assert candidates.clears_limit(JOB, 100).tolist() == [False, True, True]
    assert math.isinf(candidates.limits_s(replace(ASKED, limit_s=math.inf), JOB, 200)[0])


def test_the_guard_counts_node_seconds() -> None:
    assert candidates.spends_no_more(JOB).tolist() == [True, True, False]


def test_doubt_is_what_another_count_adds() -> None:
    assert JOB.doubt.tolist() == pytest.approx([math.log(1.5 / 1.2), 0, math.log(1.5 / 1.2)])


def test_many_counts_are_thinned_evenly_by_logarithm() -> None:
    job = replace(ASKED, nodes=100, allowed_nodes=tuple(range(1, 257)))
    counts = candidates.counts_of(job, 256, 64)
    assert len(counts) <= 64
    assert {1, 100, 256} <= set(counts.tolist())
    gaps = np.diff(np.log(counts))
    assert gaps.max() <= math.log(2)
    assert candidates.counts_of(job, 150, 300).max() == 150
    assert candidates.counts_of(ASKED, 2, 64).tolist() == [1, 2]


def test_longest_limit_is_that_of_the_job_s_partitions() -> None:
    parts = (
        Partition(name="short", groups=("nodes",), max_limit_s=10),
        Partition(name="long", groups=("nodes",), max_limit_s=99),
    )
    cluster = Cluster(groups=(NodeGroup(nodes=4),), partitions=parts)
    assert candidates.most_limit_s(ASKED, cluster) == 99
    assert candidates.most_limit_s(replace(ASKED, partitions=("short",)), cluster) == 10
    assert candidates.most_limit_s(ASKED, Cluster.of_nodes(4)) == math.inf


def test_adoption_goes_by_user_and_share() -> None:
    people = [replace(ASKED, user_id=user) for user in range(2_000)]
    takers = [candidates.takes_advice(job, 0.3, 0) for job in people]
    assert 0.26 < np.mean(takers) < 0.34
    assert takers == [candidates.takes_advice(replace(job, nodes=9), 0.3, 0) for job in people]
    assert takers != [candidates.takes_advice(job, 0.3, 1) for job in people]
    more = [candidates.takes_advice(job, 0.6, 0) for job in people]
    assert all(later or not earlier for earlier, later in zip(takers, more, strict=True))


class Standing:
    """A machine at one moment, as far as `PlannedQueue` looks."""

    ends_seen = 0

    def __init__(self, free: int, releases: list[Any], queue: list[Job], nodes: int) -> None:
        self.now_s, self.queue, self.cluster = 0.0, queue, Cluster.of_nodes(nodes)
        self._free, self._releases = free, releases

    def profile(self) -> Profile:
        return Profile(0.0, self._free, self._releases)


def test_waits_are_those_of_the_profile_with_the_queue_planned_in_order() -> None:
    draw = random.Random(7)
    for _ in range(100):
        releases = sorted((draw.uniform(0, 100), row, draw.randint(1, 9)) for row in range(draw.randint(0, 9)))
        free = draw.randint(0, 9)
        size = free + sum(release[2] for release in releases)
        lengths: list[float] = [1, 10, 33.3, math.inf]
        queue = [Job(row, row, 0, draw.randint(1, 12), draw.choice(lengths)) for row in range(draw.randint(0, 12))]
        plain = Profile(0.0, free, releases)
        for job in queue:
            start_s = plain.earliest_s(job.nodes, job.limit_s)
            if start_s < math.inf:
                plain.take(start_s, start_s + job.limit_s, job.nodes)
        counts, limits_s = list(range(1, 13)), [60.0 / n for n in range(1, 13)]
        expected = [plain.earliest_s(*pair) for pair in zip(counts, limits_s, strict=True)]
        system: Any = Standing(free, releases, queue, max(size, 1))
        assert PlannedQueue().waits_s(system, counts, limits_s).tolist() == expected


def test_jobs_behind_the_depth_are_spread_over_the_machine() -> None:
    queue = [Job(row, row, 0, 4, 100) for row in range(5)]
    system: Any = Standing(4, [], queue, 4)
    # Two planned jobs hold all nodes until 200 s; three more add 3 x 400 node-seconds on 4 nodes.
    assert PlannedQueue(depth=2).waits_s(system, [1], [10.0]).tolist() == [200 + 300]


def test_one_submission_is_that_of_a_list_of_one() -> None:
    numpy_id: Any = np.int64(7)
    changes: list[dict[str, Any]] = [
        {},
        {"user_id": "ann", "group_id": 3, "app_id": "solver"},
        {"user_id": numpy_id, "app_id": 5},
        {"name": "run_042.sh"},
        {"name": "042"},
        {"app_id": -1, "name": "Mesh-3", "submit_s": 3 * 86_400 + 7_261.5},
        {"cores_per_node": 48, "gpus_per_node": 4, "memory_bytes_per_node": 2**36, "user_id": 11},
        {"cores_per_node": 48, "user_id": "ann", "allowed_nodes": ()},
        {"limit_s": math.inf, "user_id": True, "app_id": math.nan},
    ]
    for change in changes:
        job = replace(ASKED, **change)
        whole = {name: float(column[0]) for name, column in submissions([job]).items()}
        assert submission(job) == pytest.approx(whole, rel=0, abs=0, nan_ok=True), change
    assert submission(ASKED.advised(4, 90)) == submission(ASKED)


def test_only_jobs_that_ended_well_are_learned_from() -> None:
    """How long a job ran until it was killed says nothing of how long it takes."""
    experience = Experience()
    for row, state in enumerate(JobState):
        job = replace(ASKED, row=row, app_id=3)
        experience.note(job, JobOutcome(row, row, state, "", 0, 0, 10.0, 60.0, 2, "0-1", energy_j=1e5))
    assert len(experience) == 1
    assert experience.outcomes(100)[["nodes", "run_s", "power_w"]].to_numpy().tolist() == [[2, 50, 2000]]
    jobs_seen = experience.context(replace(ASKED, app_id=3, submit_s=99), 99.0)[0, CONTEXT_COLUMNS.index("app_jobs")]
    assert jobs_seen == 1


def test_running_history_knows_what_the_tables_of_features_know() -> None:
    log = registry.make("models", "synth-pm100", jobs=400, nodes=64, load=0.9, preset="habit-driven", seed=3)
    outcomes = outcomes_table(log)
    jobs = list(log.jobs())[200:260]
    expected = contexts_table(jobs, outcomes).to_numpy()
    for job, row in zip(jobs, expected, strict=True):
        before = outcomes[outcomes["end_s"] <= job.submit_s + 1e6]  # later ends must not count
        history = history_of(ended_of(before[list(HISTORY_COLUMNS)].to_numpy()))
        assert context_of(job, history, job.submit_s)[0].tolist() == pytest.approx(row.tolist(), nan_ok=True)
