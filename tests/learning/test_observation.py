"""Observations against a plain recomputation of each feature, and what must not change them."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hpcsim.cluster import Cluster, NodeGroup
from hpcsim.decision import Start
from hpcsim.engine.simulation import Simulation
from hpcsim.errors import InvalidArgument
from hpcsim.job import JobOutcome
from hpcsim.policies import F1, SAF, SJF
from hpcsim.policies.learning import features
from hpcsim.policies.learning.observation import (
    GLOBAL_FEATURES,
    HEURISTIC_PRIORS,
    JOB_FEATURES,
    NODE_FEATURES,
    Observation,
    Observer,
    schema,
    schema_hash,
)
from hpcsim.power import NodePower
from hpcsim.recorder import Recorder
from hpcsim.system import System
from hpcsim.workload import Workload
from tests.schedules import jobs

JOB = [name for name, _ in JOB_FEATURES]
GLOBAL = [name for name, _ in GLOBAL_FEATURES]
NODE = [name for name, _ in NODE_FEATURES]


class History(Recorder):
    """Outcomes of ended jobs, for the plain recomputation."""

    def __init__(self) -> None:
        self.outcomes: list[tuple[Any, JobOutcome]] = []

    def on_end(self, job: Any, outcome: JobOutcome, system: System) -> None:
        if outcome.attempts:
            self.outcomes.append((job, outcome))


def watch(
    workload: Workload,
    cluster: Cluster,
    look: Callable[[System, Observer, History], None],
    order: Any = None,
    **options: Any,
) -> None:
    """Run greedily by *order* and *look* at each pass, before anything starts."""
    observer, history = Observer(**options), History()
    observer.reset(cluster)
    sim = Simulation(workload, cluster, recorders=[observer, history])
    order = SJF() if order is None else order
    while (view := sim.run_to_decision()) is not None:
        look(view, observer, history)
        for job in sorted(view.queue, key=lambda job: (order.key(job, view), job.row)):
            if view.fits(job):
                sim.apply(Start(job))


def log8(seconds: float) -> float:
    return min(math.log10(1 + seconds) / 8, 1)


def plain_job(job: Any, window: list[Any], view: System, history: History) -> dict[str, float]:
    """Return the features of a job by their definitions, from the view alone."""
    nodes, now, queue = view.cluster.nodes, view.now_s, list(view.queue)
    area = job.limit_s * job.nodes / nodes
    wait = now - job.submit_s
    ended = [o.run_s for j, o in history.outcomes if j.user_id == job.user_id and job.user_id is not None]
    ratios = [
        math.log10(max(o.run_s, 1) / max(j.limit_s, 1)) if j.limit_s < math.inf else 0
        for j, o in history.outcomes
        if j.user_id == job.user_id and job.user_id is not None
    ][-10:]
    mean = sum(ratios) / len(ratios) if ratios else 0.0
    log_request = min(math.log10(max(job.limit_s, 1)) / 8, 1)
    rank = lambda key: sum((key(one), one.row) < (key(job), job.row) for one in window) / len(window)  # noqa: E731
    longest = max(now - one.submit_s for one in queue)
    two = math.log10(max(sum(ended[-2:]) / 2, 1)) / 8 if len(ended) >= 2 else math.inf
    return {
        "valid": 1,
        "log_request": log_request,
        "log_nodes": max(0, 1 + math.log10(job.nodes / nodes) / 6),
        "log_area": min(max((6 + math.log10(area)) / 14, 0), 1) if area else 0,
        "nodes_share": job.nodes / nodes,
        "memory_share": 0,
        "gpu_share": 0,
        "log_wait": log8(wait),
        "log_wait_over_request": max(log8(wait) - math.log10(1 + job.limit_s) / 8, -1),
        "fits": float(view.fits(job)),
        "rank_by_area": rank(lambda one: one.limit_s * one.nodes),
        "rank_by_request": rank(lambda one: one.limit_s),
        "rank_by_age": rank(lambda _: 0),
        "wait_over_longest": wait / longest if longest else 0,
        "wait_over_cap": min(wait / 172_800, 1),
        "user_log_ratio": min(max(mean / 3, -1), 1),
        "user_count": min(math.log10(1 + len(ended)) / 3, 1),
        "user_queue_share": 0 if job.user_id is None else sum(one.user_id == job.user_id for one in queue) / len(queue),
        "log_predicted": min(max(log_request + mean / 8, -1), 1),
        "log_last_two": min(log_request, two),
    }


def plain_globals(window: list[Any], view: System, history: History) -> dict[str, float]:
    """Return the features of the machine by their definitions, from the view alone."""
    nodes, now, queue = view.cluster.nodes, view.now_s, list(view.queue)
    longest = max((now - job.submit_s for job in queue), default=0)
    ends = [run.limit_end_s - now for run in view.running]
    ratios = [
        math.log10(max(o.run_s, 1) / max(j.limit_s, 1)) if j.limit_s < math.inf else 0 for j, o in history.outcomes
    ][-100:]
    area = sum(job.limit_s * job.nodes for job in queue if job.limit_s < math.inf) / nodes
    return {
        "free_share": view.free / nodes,
        "log_queue": min(math.log10(1 + len(queue)) / 5, 1),
        "log_running": min(math.log10(1 + len(view.running)) / 5, 1),
        "log_next_release": log8(min(ends)) if ends else 1,
        "log_queued_area": min(math.log10(1 + area) / 9, 1),
        "log_slowdown_rate": min(math.log10(1 + sum(3600 / max(job.limit_s, 10) for job in queue)) / 8, 1),
        "log_longest_wait": log8(longest),
        "longest_wait_over_cap": min(longest / 172_800, 1),
        "window_share": len(window) / len(queue) if queue else 1,
        "fitting_share": sum(view.fits(job) for job in window) / len(window) if window else 0,
        "log_ratio": min(max(sum(ratios) / len(ratios) / 3, -1), 1) if ratios else 0,
    }


def plain_nodes(view: System) -> dict[str, float]:
    """Return the features of the one group by their definitions."""
    nodes, now = view.cluster.nodes, view.now_s
    free_at = lambda s: view.free + sum(r.job.nodes for r in view.running if r.limit_end_s <= s)  # noqa: E731
    ends = sorted(run.limit_end_s for run in view.running)
    found = {"valid": 1.0, "share": 1.0, "free_share": view.free / nodes, "free_memory_share": view.free / nodes}
    found["free_gpu_share"] = 0.0
    for name, share in zip(NODE[5:], (0.25, 0.5, 0.75, 1), strict=True):
        wanted = share * nodes
        end = next((end for end in ends if free_at(end) >= wanted), math.inf)
        found[name] = 0 if view.free >= wanted else log8(max(end - now, 1))
    return found


def plain_window(queue: list[Any], most: int) -> list[Any]:
    """Return the window by its definition: half by area, a quarter by age, a quarter by request."""
    if len(queue) <= most:
        return queue
    chosen: list[Any] = []
    half, quarter = most - most // 2, (most // 2 + 1) // 2
    for key, until in (
        (lambda job: job.limit_s * job.nodes, half),
        (lambda _: 0, half + quarter),
        (lambda job: job.limit_s, most),
    ):
        rest = [job for job in sorted(queue, key=lambda job: (key(job), job.row)) if job not in chosen]
        chosen += rest[: until - len(chosen)]
    return chosen


seconds = st.sampled_from([0, 1, 7, 60, 3_600, 90_000])
rows = st.tuples(seconds, seconds, st.one_of(seconds, st.just(math.inf)), st.integers(1, 8), st.integers(-1, 2))


@settings(max_examples=60)
@given(table=st.lists(rows, min_size=1, max_size=30), window=st.integers(1, 12))
def test_every_feature_is_what_its_definition_says(table: list[Any], window: int) -> None:
    submit, run, limit, nodes, users = zip(*sorted(table), strict=True)
    workload = Workload.of(submit_s=submit, run_s=run, limit_s=limit, nodes=nodes, user_id=users)

    def look(view: System, observer: Observer, history: History) -> None:
        seen = observer.observe(view)
        expected = plain_window(list(view.queue), window)
        assert list(seen.queue or ()) == expected + [None] * (window - len(expected))
        assert seen.mask.tolist() == [1] * len(expected) + [0] * (window - len(expected))
        for slot, job in enumerate(expected):
            plain = plain_job(job, expected, view, history)
            assert dict(zip(JOB, seen.jobs[slot].tolist(), strict=True)) == pytest.approx(plain, abs=1e-6)
        assert not seen.jobs[len(expected) :].any()
        plain = plain_globals(expected, view, history)
        assert dict(zip(GLOBAL, seen.globals.tolist(), strict=True)) == pytest.approx(plain, abs=1e-6)
        assert dict(zip(NODE, seen.nodes[0].tolist(), strict=True)) == pytest.approx(plain_nodes(view), abs=1e-6)
        assert not seen.nodes[1:].any()

    watch(workload, Cluster.of_nodes(8), look, window=window)


def some_jobs(count: int = 80, seed: int = 0, scale: int = 1, **columns: Any) -> Workload:
    rng = np.random.default_rng(seed)
    run = rng.integers(1, 5_000, count)
    return Workload.of(
        submit_s=np.sort(rng.integers(0, 20_000, count)),
        run_s=run,
        limit_s=run * rng.integers(1, 10, count),
        nodes=scale * rng.integers(1, 13, count),
        user_id=rng.integers(0, 6, count),
        **columns,
    )


def observations(workload: Workload, cluster: Cluster, **options: Any) -> dict[float, Observation]:
    """Return what was seen at each pass, by its time."""
    seen: dict[float, Observation] = {}
    watch(workload, cluster, lambda view, observer, _: seen.setdefault(view.now_s, observer.observe(view)), **options)
    return seen


def same(one: Observation, other: Observation) -> bool:
    return all(
        np.array_equal(getattr(one, name), getattr(other, name)) for name in ("jobs", "nodes", "globals", "mask")
    )


@pytest.mark.parametrize("factor", [1 / 16, 100])
def test_features_know_no_size_of_the_machine(factor: float) -> None:
    """The same jobs in the same proportion on 1 to 16,000 nodes look the same, to rounding."""
    big = 16 * 100
    reference = observations(some_jobs(scale=100), Cluster.of_nodes(big))
    scaled = some_jobs(scale=100)
    scaled.columns["nodes"] = np.maximum(1, (scaled.columns["nodes"] * factor)).astype(int)
    if factor < 1:  # 1600 nodes / 16: a hundredth part rounds, so compare with jobs rounded the same way
        kept = some_jobs(scale=100)
        kept.columns["nodes"] = (scaled.columns["nodes"] / factor).astype(int)
        reference = observations(kept, Cluster.of_nodes(big))
    found = observations(scaled, Cluster.of_nodes(int(big * factor)))
    assert found.keys() == reference.keys()
    for time_s, seen in found.items():
        for name in ("jobs", "nodes", "globals"):
            np.testing.assert_allclose(getattr(seen, name), getattr(reference[time_s], name), atol=1e-6)


@pytest.mark.parametrize("time_s", [2_000, 9_000, 15_000])
def test_nothing_of_the_future_is_seen(time_s: float) -> None:
    """Jobs submitted later, and run times of jobs not ended, changed: what is seen until then stays to the bit."""
    workload, cluster = some_jobs(), Cluster.of_nodes(16)
    before = observations(workload, cluster)
    ends: dict[int, float] = {}
    watch(workload, cluster, lambda view, _, history: ends.update({o.row: o.end_s for _, o in history.outcomes}))
    changed = some_jobs()
    rng = np.random.default_rng(9)
    later = changed.submit_s > time_s
    for name, values in (("run_s", rng.integers(1, 9_999, 80)), ("limit_s", rng.integers(1, 9_999, 80))):
        changed.columns[name] = np.where(later, values, changed.columns[name])
    changed.columns["nodes"] = np.where(later, rng.integers(1, 17, 80), changed.columns["nodes"])
    open_yet = np.array([ends.get(row, math.inf) > time_s for row in range(80)]) & ~later
    longer = np.minimum(changed.run_s + 5_000, changed.limit_s)
    changed.columns["run_s"] = np.where(open_yet, np.maximum(longer, changed.run_s), changed.columns["run_s"])
    assert (changed.run_s != workload.run_s)[open_yet].any()
    after = observations(changed, cluster)
    until = [t for t in before if t <= time_s]
    assert until
    assert until == [t for t in after if t <= time_s]
    assert all(same(before[t], after[t]) for t in until)
    assert not all(same(before[t], after[t]) for t in before if t in after)


@settings(max_examples=40)
@given(
    table=st.lists(
        st.tuples(st.floats(0, 1e9), st.floats(0, 1e12), st.floats(0, math.inf), st.integers(1, 100_000)),
        min_size=1,
        max_size=12,
    ),
    nodes=st.sampled_from([100_000, 2**31 - 1]),
)
def test_all_is_within_bounds_whatever_is_asked(table: list[Any], nodes: int) -> None:
    submit, run, limit, wide = zip(*table, strict=True)
    workload = Workload.of(submit_s=submit, run_s=run, limit_s=limit, nodes=wide)

    def look(view: System, observer: Observer, _: History) -> None:
        seen = observer.observe(view)
        assert np.abs(seen.jobs).max() <= 1
        assert np.abs(seen.globals).max() <= 1
        assert 0 <= seen.nodes.min() <= seen.nodes.max() <= 1
        assert {seen.jobs.dtype, seen.nodes.dtype, seen.globals.dtype} == {np.dtype(np.float32)}
        assert seen.mask.dtype == np.int8

    watch(workload, Cluster.of_nodes(nodes), look, window=8)


def test_groups_of_unlike_nodes() -> None:
    """2 nodes of 8 GB and 2 of 32 GB with 4 GPUs each; a takes one of the latter, whole, b shares another."""
    gib = 2**30
    cluster = Cluster(
        groups=(
            NodeGroup(name="cpu", nodes=2, cores=4, memory_bytes=8 * gib),
            NodeGroup(name="gpu", nodes=2, cores=8, memory_bytes=32 * gib, gpus=4),
        )
    )
    workload = jobs("a 0 100 99 1\n b 0 100 50 1\n c 5 10 10 1")
    workload.columns |= {
        "gpus_per_node": np.array([1, 1, 0]),
        "cores_per_node": np.array([1, 2, 1]),
        "memory_bytes_per_node": np.array([0, 8 * gib, 4 * gib]),
        "exclusive": np.array([True, False, True]),
    }
    seen: list[Observation] = []
    watch(workload, cluster, lambda view, observer, _: seen.append(observer.observe(view)), groups=3)
    cpu, gpu, none = seen[1].nodes.tolist()
    # GPU nodes: a holds one, b 2 of 8 cores of the other; b ends at 50 by its limit, a at 99; it is 5 now
    assert cpu == pytest.approx([1, 0.5, 1, 1, 0, 0, 0, 0, 0])
    assert gpu == pytest.approx([1, 0.5, 0.75 / 2, 24 / 64, 3 / 8, 0, log8(45), log8(94), log8(94)], abs=1e-6)
    assert none == [0] * 9
    c = dict(zip(JOB, seen[1].jobs[0].tolist(), strict=True))
    assert (c["memory_share"], c["gpu_share"]) == (pytest.approx(4 / 32), 0)


def test_more_groups_than_rows_are_taken_together() -> None:
    groups = tuple(NodeGroup(name=f"g{at}", nodes=nodes, cores=at + 1) for at, nodes in enumerate((1, 5, 2, 8)))
    seen: list[Observation] = []
    watch(jobs("a 0 1 1 1"), Cluster(groups=groups), lambda v, o, _: seen.append(o.observe(v)), groups=3)
    assert seen[0].nodes[:, 1].tolist() == pytest.approx([5 / 16, 8 / 16, 3 / 16])


def test_jobs_that_end_within_the_instant_are_not_waited_for() -> None:
    """Jobs of no limit never come free: the times to free are at their end."""
    seen: list[Observation] = []
    watch(jobs("a 0 50 inf 3\n b 1 5 5 4"), Cluster.of_nodes(4), lambda v, o, _: seen.append(o.observe(v)))
    assert seen[1].nodes[0, 5:].tolist() == [0, 1, 1, 1]
    assert seen[1].globals[GLOBAL.index("log_next_release")] == 1


@pytest.mark.parametrize(("name", "order"), [("sjf", SJF()), ("saf", SAF()), ("f1", F1())])
def test_a_priors_largest_score_is_the_rules_choice(name: str, order: Any) -> None:
    """Also among jobs of the same key, and where single precision would call different keys equal."""
    workload = some_jobs(200)
    workload.columns["limit_s"] = 1_000_000 + workload.columns["run_s"] % 4
    workload.columns["nodes"] = workload.columns["nodes"] % 3 + 1
    compared = 0

    def look(view: System, observer: Observer, _: History) -> None:
        nonlocal compared
        seen = observer.observe(view)
        waiting = [job for job in seen.queue or () if job is not None]
        first = min(waiting, key=lambda job: (order.key(job, view), job.row))
        scores = np.where(seen.mask > 0, np.float32(2) * HEURISTIC_PRIORS[name](seen), -np.inf).astype(np.float32)
        assert (seen.queue or ())[int(scores.argmax())] == first
        compared += len(waiting) > 1

    watch(workload, Cluster.of_nodes(16), look, window=16)
    assert compared > 20


def test_no_prior_is_nothing() -> None:
    seen: list[Observation] = []
    watch(some_jobs(5), Cluster.of_nodes(16), lambda v, o, _: seen.append(o.observe(v)))
    assert not HEURISTIC_PRIORS["none"](seen[0]).any()
    assert set(HEURISTIC_PRIORS) == {"none", "sjf", "saf", "f1"}


def test_a_job_that_never_ran_teaches_nothing() -> None:
    """b waits behind a of the same user and is cancelled; nobody has ended then."""
    workload = jobs("a 0 50 50 4\n b 1 5 5 4\n c 2 5 5 4")
    workload.columns["user_id"] = np.array([1, 1, 1])
    observer, cluster = Observer(), Cluster.of_nodes(4)
    observer.reset(cluster)
    sim = Simulation(workload, cluster, recorders=[observer])
    view = sim.run_to_decision()
    assert view is not None
    sim.apply(Start(view.queue[0]))
    sim.run_to_decision()
    sim.cancel(view.queue[0])
    sim.run_to_decision()
    seen = observer.observe(view)
    assert [job.job_id for job in seen.queue or () if job] == ["c"]
    assert (seen.jobs[0, JOB.index("user_count")], seen.globals[GLOBAL.index("log_ratio")]) == (0, 0)


def test_equal_areas_are_ranked_by_arrival_in_whatever_slots_they_stand() -> None:
    """The last two slots go by request: the later job, shorter and wider, comes before one of the same area."""
    nodes, limit_s = [16, 16, 16, 4, 8, 1, 1, 1, 1, 16], [900, 900, 901, 50, 25, 60, 61, 62, 63, 902]
    workload = Workload.of(submit_s=[0] + [1] * 9, run_s=limit_s, nodes=nodes, limit_s=limit_s)
    observer = Observer(8)
    observer.reset(Cluster.of_processors(16))
    simulation = Simulation(workload, Cluster.of_processors(16), recorders=[observer])
    system = simulation.run_to_decision()
    assert system is not None
    simulation.apply(Start(system.queue[0]))
    simulation.close_pass()
    system = simulation.run_to_decision()
    assert system is not None
    seen = observer.observe(system)
    assert [job.row for job in seen.queue or () if job is not None] == [5, 6, 7, 8, 1, 2, 4, 3]
    ranks = seen.jobs[:, JOB.index("rank_by_area")] * 8
    assert ranks.tolist() == [0, 1, 2, 3, 6, 7, 5, 4]


def test_hidden_jobs_are_not_seen() -> None:
    def look(view: System, observer: Observer, _: History) -> None:
        last = view.queue[-1]
        seen = observer.observe(view, hidden=(last.row,), free=3)
        assert last not in (seen.queue or ())
        assert seen.globals[0] == pytest.approx(3 / 16)

    watch(some_jobs(), Cluster.of_nodes(16), look, window=4)


UNLIKE = Cluster(groups=(NodeGroup(name="thin", nodes=10, cores=2), NodeGroup(name="fat", nodes=6, cores=8)))
POWERED = Cluster(groups=(NodeGroup(nodes=16, cores=8, power=NodePower(idle_w=100, busy_w=300)),), power_cap_w=4_000)


@pytest.mark.parametrize("cluster", [UNLIKE, POWERED], ids=["unlike nodes, shared", "under a power cap"])
def test_jobs_are_described_by_definition_on_other_machines(cluster: Cluster) -> None:
    """With every fifth job hidden: ranks are those of the jobs that are seen, waits those of all."""
    rng = np.random.default_rng(3)
    workload = some_jobs(120, cores_per_node=rng.integers(1, 5, 120), exclusive=rng.random(120) < 0.5)
    workload.columns["nodes"] = np.minimum(workload.columns["nodes"], 6)
    deepest = blocked = 0

    def look(view: System, observer: Observer, history: History) -> None:
        nonlocal deepest, blocked
        hidden = {job.row for job in view.queue if job.row % 5 == 0}
        expected = plain_window([job for job in view.queue if job.row not in hidden], 8)
        seen = observer.observe(view, hidden)
        assert [job for job in seen.queue or () if job is not None] == expected
        for slot, job in enumerate(expected):
            plain = plain_job(job, expected, view, history)
            assert dict(zip(JOB, seen.jobs[slot].tolist(), strict=True)) == pytest.approx(plain, abs=1e-6)
            blocked += job.nodes <= view.free and not view.fits(job)
        deepest = max(deepest, len(view.queue) - len(hidden))

    watch(workload, cluster, look, window=8)
    assert deepest > 8
    assert blocked


def test_layout_is_told_by_name_and_hash(monkeypatch: pytest.MonkeyPatch) -> None:
    assert schema()["jobs"] == JOB
    assert len(JOB) == len(set(JOB))
    before = schema_hash()
    monkeypatch.setattr(features, "JOB_FEATURES", JOB_FEATURES[::-1])
    assert schema_hash() != before


@pytest.mark.parametrize("options", [{"window": 0}, {"groups": 1.5}, {"short_s": 0}, {"wait_cap_s": math.inf}])
def test_arguments_out_of_range(options: dict[str, Any]) -> None:
    with pytest.raises(InvalidArgument, match=next(iter(options))):
        Observer(**options)
