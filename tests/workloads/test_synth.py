"""Synthetic logs: marginals as recorded, truth hidden, counts confounded with the jobs exactly as much as asked."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from hpcsim.errors import WorkloadError
from hpcsim.job import Job
from hpcsim.proxies import PROXIES, moved
from hpcsim.scaling import AMDAHL, DOWNEY, POWER_LAW, TRUTH, scaling_of, speed_ups, true_run_s
from hpcsim.workload import END_STATES, HIDDEN
from hpcsim.workloads.models import synth, synth_presets
from hpcsim.workloads.models.synth import synth_adastra, synth_pm100
from hpcsim.workloads.models.synth_presets import ADASTRA, PM100, PRESETS, STATES

WIDTHS = {
    "pm100-like": [1, 1, 4, 12],
    "habit-driven": [1, 4, 14, 39],
    "half-rigid": [1, 4, 14, 39],
}


@pytest.fixture(scope="module")
def full():
    """The whole log, 231,238 jobs."""
    return synth_pm100(seed=1)


def rank_correlation(x, y) -> float:
    ranks = [np.argsort(np.argsort(values, kind="stable")) for values in (x, y)]
    return float(np.corrcoef(*ranks)[0, 1])


def test_size_and_span_of_the_logs(full):
    assert (len(full), full.machine_nodes, full.counted) == (231_238, 980, "nodes")
    assert full.submit_s[0] == 0
    assert full.submit_s[-1] == pytest.approx(PM100.span_s, abs=2)
    adastra = synth_adastra()
    assert (len(adastra), adastra.machine_nodes) == (15_285, 356)
    assert adastra.submit_s[-1] == pytest.approx(ADASTRA.span_s, abs=2)


@pytest.mark.parametrize("preset", WIDTHS)
@pytest.mark.parametrize("kappa", [0.0, 0.5, 1.0])
def test_node_counts_are_the_presets(preset, kappa):
    for make in (synth_pm100, synth_adastra):
        nodes = make(jobs=synth_presets.MINI_JOBS, preset=preset, kappa=kappa, seed=3).nodes
        assert np.percentile(nodes, [10, 50, 90, 99], method="inverted_cdf").tolist() == WIDTHS[preset]
        assert np.bincount(nodes)[1] / len(nodes) == pytest.approx(dict(PRESETS[preset].node_counts)[1], abs=0.001)


@pytest.mark.parametrize("preset", PRESETS)
def test_states_have_their_recorded_shares(preset):
    workload = synth_pm100(jobs=20_000, preset=preset)
    for state, share in STATES:
        assert np.mean(workload.recorded_state == state) == pytest.approx(share, abs=1e-4)


def test_shares_of_states_are_those_of_the_table():
    """As the format's description gives them."""
    expected = {"COMPLETED": 0.7798, "FAILED": 0.1290, "CANCELLED": 0.0485, "TIMEOUT": 0.0376}
    assert dict(STATES) == expected | {"OUT_OF_MEMORY": 0.00437, "NODE_FAIL": 0.000735}
    assert sum(dict(STATES).values()) == pytest.approx(1, abs=1e-3)


def test_how_jobs_end_and_what_limits_they_get(full):
    state, run_s, limit_s = full.recorded_state, full.run_s, full.limit_s
    assert (run_s >= 1).all()
    assert ((run_s > limit_s) == (state == "TIMEOUT")).all()
    assert (limit_s % 900 == 0).all()
    assert 900 <= limit_s.min() <= limit_s.max() <= 86_400
    ends = np.array(END_STATES, dtype=object)[full.end_state]
    assert set(ends[state == "TIMEOUT"]) == {"COMPLETED"}
    assert set(ends[np.isin(state, ["FAILED", "OUT_OF_MEMORY", "NODE_FAIL"])]) == {"FAILED"}
    assert np.median(run_s[state == "FAILED"]) < np.median(run_s[state == "COMPLETED"]) / 3


def test_over_estimates_of_long_jobs():
    """The median of limit / run time is 1.8 where jobs are long beside the 15 minutes that limits step by."""
    workload = synth_pm100(jobs=20_000, preset="habit-driven", nodes=128, load=0.9)
    completed = workload.recorded_state == "COMPLETED"
    ratio = workload.limit_s[completed] / workload.run_s[completed]
    assert np.median(ratio) == pytest.approx(1.8, abs=0.1)
    assert ratio.min() >= 1


@pytest.mark.parametrize(
    ("make", "idle_w", "median_w", "most_w"),
    [(synth_pm100, 400, (700, 950), 1865), (synth_adastra, 560, (1150, 1450), 2301)],
)
def test_watts_of_a_node(make, idle_w, median_w, most_w):
    """Between an idle node and the machine's peak; a PM100 node mostly 630 to 920 W, an Adastra one up to 1,400 W."""
    for seed in range(3):
        workload = make(jobs=10_000, seed=seed)
        watts = workload.mean_power_w / workload.nodes
        assert idle_w <= watts.min()
        assert watts.max() <= most_w
        assert median_w[0] <= np.median(watts) <= median_w[1]


def test_wide_jobs_draw_less_a_node_than_narrow_ones(full):
    watts = full.mean_power_w / full.nodes
    assert np.median(watts[full.nodes >= 12]) < np.median(watts[full.nodes == 1]) - 50


@pytest.mark.parametrize(
    ("preset", "nodes", "expected"),
    [("pm100-like", 256, 0.82), ("habit-driven", 128, 0.61), ("skilled-users", 128, 0.77)],
)
def test_efficiency_of_the_users_own_choice(preset, nodes, expected):
    """Weighted by node-seconds, mean of five logs."""
    found = []
    for seed in range(5):
        w = synth_pm100(jobs=7000, nodes=nodes, preset=preset, seed=seed)
        area = w.nodes * w.run_s
        found.append((area * speed_ups(w.columns, w.nodes) / w.nodes).sum() / area.sum())
    assert np.mean(found) == pytest.approx(expected, abs=0.04)


def test_run_times_of_habit_driven_jobs():
    """0.9 / 3.2 / 13.5 h at 10 / 50 / 90 %, mean of five logs, within a sixth."""
    logs = [synth_pm100(jobs=7000, nodes=128, preset="habit-driven", seed=seed) for seed in range(5)]
    hours = [np.percentile(w.run_s[w.recorded_state == "COMPLETED"], [10, 50, 90]) / 3600 for w in logs]
    assert np.mean(hours, axis=0) == pytest.approx([0.9, 3.2, 13.5], rel=0.17)


@pytest.mark.parametrize("preset", PRESETS)
def test_kappa_0_makes_counts_independent_of_everything_about_the_job(preset, monkeypatch):
    """Other laws, and other sizes of jobs, under the same seed: not one count changes.

    With kappa = 1 they do: by the sizes, and those of skilled users by the laws.
    """

    def counts(kappa: float, **change) -> np.ndarray:
        return synth_pm100(jobs=2000, preset=preset, kappa=kappa, seed=5, **change).nodes

    plain, confounded = counts(0), counts(1)
    assert (counts(0, family="amdahl") == plain).all()
    assert (counts(0, family="power-law") == plain).all()
    with monkeypatch.context() as patch:
        sizes = synth.synth_jobs.sizes
        patch.setattr(synth.synth_jobs, "sizes", lambda *arguments: -sizes(*arguments))
        assert (counts(0) == plain).all()
        assert preset == "skilled-users" or (counts(1) != confounded).mean() > 0.1
    assert preset != "skilled-users" or (counts(1, family="amdahl") != confounded).mean() > 0.1


def test_counts_say_something_about_scaling_only_with_kappa():
    """Rank correlation of count and serial share, Amdahl's family alone, over 30 logs: 0 against clearly negative."""

    def correlations(kappa: float) -> np.ndarray:
        logs = [synth_pm100(jobs=2000, preset="habit-driven", kappa=kappa, family="amdahl", seed=s) for s in range(30)]
        return np.array([rank_correlation(log.nodes, log.scaling_a) for log in logs])

    free, bound = correlations(0), correlations(1)
    assert abs(free.mean()) < 3 * free.std() / 30**0.5
    assert bound.mean() < -3 * bound.std() / 30**0.5


def test_families():
    laws = synth_pm100(jobs=5000).scaling_law
    assert set(laws) == {AMDAHL, DOWNEY, POWER_LAW}
    for family, law in (("amdahl", AMDAHL), ("downey", DOWNEY), ("power-law", POWER_LAW)):
        assert set(synth_pm100(jobs=50, family=family).scaling_law) == {law}


def test_noise_is_that_of_the_argument(monkeypatch):
    """Twin logs with and without noise differ by its spread, in run time and in power."""
    noisy, exact = synth_pm100(jobs=20_000), synth_pm100(jobs=20_000, run_noise=0, power_noise=0)
    same = (noisy.recorded_state == "COMPLETED") & (exact.recorded_state == "COMPLETED")
    same &= (exact.run_s > 600) & (noisy.run_s < 0.5 * 86_400) & (exact.run_s < 0.4 * 86_400)
    assert np.std(np.log(noisy.run_s[same] / exact.run_s[same])) == pytest.approx(0.08, abs=0.003)
    assert np.std(np.log(noisy.mean_power_w / exact.mean_power_w)) == pytest.approx(0.04, abs=0.002)


def test_without_noise_the_truth_is_the_law():
    """Two completed jobs of one application and no noise: T(n) S(n) is its work at every n."""
    workload = synth_pm100(jobs=200, run_noise=0, power_noise=0)
    for row in np.flatnonzero(workload.recorded_state == "COMPLETED")[:20].tolist():
        scaling = scaling_of(workload, row)
        counts = np.array([1, 2, 7, 64])
        work = scaling.run_s(counts) * scaling.law.speed_up(counts)
        assert work == pytest.approx(work[0])
        assert scaling.power_w(scaling.nodes) == pytest.approx(scaling.curve.job_w(scaling.nodes, scaling.law))


def test_allowed_counts_hold_the_users_own_and_keep_the_memory_floor():
    workload = synth_pm100(jobs=5000, nodes=128, preset="habit-driven")
    allowed = workload.allowed_nodes
    assert all(asked in counts for asked, counts in zip(workload.nodes.tolist(), allowed, strict=True))
    assert 15 <= np.mean([len(counts) for counts in allowed]) <= 25
    least = np.array([counts[0] for counts in allowed]) / workload.nodes
    wide = workload.nodes >= 10
    assert 0.4 <= np.mean(least[wide] > 1.01 / workload.nodes[wide]) <= 0.55
    assert least[wide].max() <= 0.75  # 0.6, and up to the next count that is allowed
    assert max(counts[-1] for counts in allowed) <= 128


def test_rigid_jobs():
    def rigid(preset: str) -> np.ndarray:
        return np.array([not counts for counts in synth_pm100(jobs=20_000, preset=preset, seed=2).allowed_nodes])

    assert rigid("habit-driven").sum() == 0
    assert 0.03 <= rigid("pm100-like").mean() <= 0.2
    half = synth_pm100(jobs=20_000, preset="half-rigid", seed=2)
    is_rigid = np.array([not counts for counts in half.allowed_nodes])
    by_user = [set(is_rigid[half.user_id == user]) for user in np.unique(half.user_id)]
    assert all(len(kinds) == 1 for kinds in by_user)
    assert np.mean([True in kinds for kinds in by_user]) == pytest.approx(0.5, abs=0.06)


def test_hours_and_days_of_the_week(full):
    """The log begins on a Tuesday at 15:55:59."""
    week_s = (full.submit_s + PM100.start_of_week_s) % (7 * 86_400)
    per_day = np.bincount(week_s // 86_400)
    assert per_day[5:].mean() < 0.6 * per_day[:5].mean()
    per_hour = np.bincount(week_s % 86_400 // 3600)
    assert 12 <= per_hour.argmax() <= 18
    assert per_hour.min() < 0.5 * per_hour.max()


def test_some_applications_come_late(full):
    early = set(full.app_id[: len(full) // 2].tolist())
    late = set(full.app_id[-len(full) // 5 :].tolist()) - early
    assert 3 <= len(late) <= 12


@pytest.mark.parametrize("load", [0.7, 1.05])
def test_load_is_met(load):
    assert synth_pm100(jobs=3000, nodes=128, load=load).offered_load(128) == pytest.approx(load, rel=0.02)


def test_proxies_are_multiples_of_the_count_and_move_with_it():
    workload = synth_pm100(jobs=3000)
    doubled = moved(workload.columns, workload.nodes * 2)
    assert {f"{what}_{how}" for what in ("cores", "gpus") for how in ("requested", "allocated")} <= set(PROXIES)
    assert {"tasks", "memory_requested_bytes", "memory_allocated_bytes"} <= set(PROXIES)
    for name in PROXIES:
        assert (workload.columns[name] % workload.nodes == 0).all()
        assert (doubled[name] == 2 * workload.columns[name]).all(), name
    assert (workload.cores_allocated == 128 * workload.nodes).all()
    assert (workload.gpus_requested <= 4 * workload.nodes).all()


def test_nothing_but_declared_proxies_gives_the_count_away():
    """Of all that is known at submission only proxies go with the count, or are multiples of it in every row."""
    workload = synth_pm100(jobs=5000, preset="habit-driven")
    for name in set(workload.columns) - set(HIDDEN) - set(PROXIES) - {"nodes"}:
        column = workload.columns[name]
        if column.dtype.kind in "iuf":
            assert abs(np.corrcoef(column, workload.nodes)[0, 1]) < 0.98, name
            assert (column % workload.nodes != 0).any(), name


def test_no_job_carries_the_truth():
    """A policy gets jobs; what is hidden is no attribute of one."""
    workload = synth_pm100(jobs=20)
    assert set(TRUTH) <= set(HIDDEN) & set(workload.columns)
    for job in workload.jobs():
        assert isinstance(job, Job)
        assert not any(hasattr(job, name) for name in HIDDEN)


def test_counts_of_a_small_machine_are_cut():
    workload = synth_pm100(jobs=500, nodes=8, preset="habit-driven")
    assert workload.nodes.max() == 8
    assert max(counts[-1] for counts in workload.allowed_nodes) == 8


def test_one_job():
    assert synth_pm100(jobs=1).submit_s.tolist() == [0]


def test_same_seed_same_bytes():
    one, same, other = (synth_pm100(jobs=500, seed=seed).sha256() for seed in (7, 7, 8))
    assert one == same != other


def test_truth_at_the_counts_asked_for_is_the_log(full):
    rows = np.arange(0, len(full), 997)
    assert (true_run_s(full, rows, full.nodes[rows]) == full.run_s[rows]).all()


@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        ({"preset": "habits"}, "Did you mean 'habit-driven'?"),
        ({"family": "gustafson"}, "Known: mix, amdahl, downey, power-law."),
        ({"kappa": 1.1}, "Got kappa = 1.1. Give a number of 0 or more and at most 1."),
        ({"run_noise": -0.1}, "Got run_noise = -0.1."),
        ({"jobs": 0}, "Got jobs = 0."),
        ({"load": 0}, "Got load = 0. Give a number above 0."),
    ],
)
def test_arguments_out_of_range(wrong, sentence):
    with pytest.raises(WorkloadError) as error:
        synth_pm100(**wrong)
    assert sentence in str(error.value)


def test_presets_are_frozen():
    """The numbers that results are graded on; whoever changes one breaks comparisons, and this test."""
    narrow, wide = PRESETS["pm100-like"], PRESETS["habit-driven"]
    assert set(PRESETS) == {"pm100-like", "habit-driven", "skilled-users", "half-rigid"}
    assert (narrow.median_work_s, narrow.work_sigma, narrow.rigid_jobs, narrow.scalability) == (2160, 1.9, 0.1, 0.5)
    assert (wide.median_work_s, wide.work_sigma, wide.rigid_jobs, wide.scalability) == (36_000, 1.35, 0, 0)
    assert PRESETS["skilled-users"] == replace(wide, are_skilled=True)
    assert PRESETS["half-rigid"] == replace(wide, rigid_users=0.5)
    for preset in (narrow, wide):
        assert sum(dict(preset.node_counts).values()) == pytest.approx(1)
