"""Every metric against a value worked out by hand, and the two of overtaking against their definitions."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hpcsim.cluster import Cluster
from hpcsim.policies import EASY, FCFS, SJF, Conservative
from hpcsim.results import metrics
from hpcsim.results.overtaking import is_backfilled, overtaken_s
from hpcsim.results.run import simulate
from hpcsim.results.summary import SUMMARY_KEYS
from hpcsim.workload import Workload


def table(submit_s, start_s, run_s, nodes, state="COMPLETED"):
    """Return a table of jobs; a start of None is a job that never started and is still open."""
    start = np.array([math.nan if s is None else s for s in start_s], dtype=float)
    run = np.array(run_s, dtype=float) + 0 * start
    jobs = pd.DataFrame({"submit_s": np.array(submit_s, dtype=float), "start_s": start, "run_s": run})
    jobs["end_s"], jobs["wait_s"] = start + run, start - jobs["submit_s"]
    jobs["nodes"], jobs["state"] = nodes, state
    return jobs


def steps(*entries):
    """Return a timeline of (time, used nodes, queue length)."""
    return pd.DataFrame(entries, columns=["time_s", "used_nodes", "queue_length"])


def test_bounded_slowdown():
    """(90 + 10) / 10 = 10; run 5 counts as 10: (15 + 5) / 10 = 2; no wait, run 2: (0 + 2) / 10 -> 1."""
    jobs = table([0, 0, 0], [90, 15, 0], [10, 5, 2], [1, 1, 1])
    assert metrics.bounded_slowdown(jobs).tolist() == [10, 2, 1]


def test_bounded_slowdown_of_a_run_time_of_zero():
    """(25 + 0) / max(0, 10) = 2.5."""
    assert metrics.bounded_slowdown(table([0], [25], [0], [1])).tolist() == [2.5]


def test_per_processor_slowdown():
    """(90 + 10) / (4 x 10) = 2.5; (15 + 5) / (4 x 10) = 0.5 -> 1."""
    jobs = table([0, 0], [90, 15], [10, 5], [4, 4])
    assert metrics.per_processor_slowdown(jobs).tolist() == [2.5, 1]


def test_area_weighted_wait():
    """(2 x 10 x 90 + 1 x 5 x 15) / (2 x 10 + 1 x 5) = 1875 / 25 = 75."""
    assert metrics.area_weighted_wait_s(table([0, 0], [90, 15], [10, 5], [2, 1])) == 75


def test_area_weighted_wait_is_undefined_without_area():
    assert math.isnan(metrics.area_weighted_wait_s(table([0], [5], [0], [2])))


def test_offered_load():
    """(2 x 10 + 1 x 5) / (4 x (50 - 0)) = 25 / 200 = 0.125."""
    assert metrics.offered_load(table([0, 50], [90, 60], [10, 5], [2, 1]), 4) == 0.125
    assert math.isnan(metrics.offered_load(table([3], [3], [10], [1]), 4))


def test_windows():
    """First submit 5; last end 90 + 10. Of 10 jobs submitted at 0..9 the first and the last are cut: 1 to 8."""
    assert metrics.whole_window(table([5, 7], [90, 8], [10, 5], [1, 1])) == (5, 100)
    ten = table(range(10), range(10), [1] * 10, [1] * 10)
    assert metrics.steady_window(ten) == (1, 8)


def test_the_window_of_a_cut_run_ends_with_the_clock():
    jobs = table([0, 1], [0, None], [10, 10], [1, 1], state=["COMPLETED", "UNFINISHED"])
    assert metrics.whole_window(jobs, clock_s=30) == (0, 30)
    assert metrics.whole_window(table([0], [0], [10], [1]), clock_s=30) == (0, 10)


def test_utilisation_and_queue_are_integrals_over_time():
    """Used 2 x 10 + 4 x 5 = 40 of 4 x 20; waiting 3 x 5 = 15 in 20 s. From 5 to 12: 2 x 5 + 4 x 2 = 18 of 28."""
    timeline = steps((0, 2, 0), (10, 4, 3), (15, 0, 0))
    assert metrics.used_node_s(timeline, (0, 20)) == 40
    assert metrics.utilisation(timeline, 4, (0, 20)) == 0.5
    assert metrics.mean_queue_length(timeline, (0, 20)) == 0.75
    assert metrics.utilisation(timeline, 4, (5, 12)) == pytest.approx(18 / 28)
    assert metrics.used_node_s(timeline, (-10, 0)) == 0
    assert math.isnan(metrics.utilisation(timeline, 4, (3, 3)))


def test_bin_means_of_a_step_function():
    """Bins 0-10, 10-20, 20-30 of 2 from 5, 4 from 20: 2 x 5 / 10 = 1, 2, 4."""
    assert metrics.bin_means(steps((5, 2, 0), (20, 4, 0)), "used_nodes", np.array([0.0, 10, 20, 30])).tolist() == [
        1,
        2,
        4,
    ]


def test_backfilled_needs_an_earlier_job_that_goes_on_waiting():
    """Job 1 waits to 10: job 2 starts at 5 before it; job 3 starts at 10, with it."""
    assert is_backfilled(table([0, 1, 2], [10, 5, 10], [1, 1, 1], [1, 1, 1])).tolist() == [False, True, False]


def test_among_equal_submits_the_row_decides_who_is_earlier():
    assert is_backfilled(table([0, 0], [3, 0], [3, 3], [1, 1])).tolist() == [False, True]


def test_a_job_that_never_starts_is_passed_by_all_behind_it():
    assert is_backfilled(table([0, 1], [None, 5], [1, 1], [1, 1])).tolist() == [False, True]


def test_overtaken_from_the_first_start_that_left_room():
    """4 nodes, 2 in use to 10. Job 1 (2 nodes) waits to 10, though job 2 took 2 nodes at 4: 10 - 4 = 6 s.

    Job 3 (1 node, submitted last) overtakes nobody: it starts with job 1.
    """
    jobs = table([0, 1, 2], [10, 4, 10], [5, 6, 5], [2, 2, 1])
    timeline = steps((0, 2, 1), (4, 4, 1), (10, 3, 0), (15, 0, 0))
    assert overtaken_s(jobs, timeline, 4).tolist() == [6, 0, 0]


def test_a_job_too_wide_for_what_others_took_is_not_overtaken():
    """As above, but job 1 wants 3 nodes: the 2 that job 2 took at 4 would not have been enough."""
    jobs = table([0, 1], [10, 4], [5, 6], [3, 2])
    assert overtaken_s(jobs, steps((0, 2, 1), (4, 4, 1), (10, 3, 0), (15, 0, 0)), 4).tolist() == [0, 0]


def test_starts_of_one_instant_count_together():
    """Job 1 wants 2 nodes; jobs 2 and 3 took one each at 4, and it waits to 10: 6 s."""
    jobs = table([0, 1, 1], [10, 4, 4], [5, 6, 6], [2, 1, 1])
    assert overtaken_s(jobs, steps((0, 2, 1), (4, 4, 1), (10, 2, 0), (15, 0, 0)), 4).tolist() == [6, 0, 0]


def _overtaken_by_definition(jobs, timeline, nodes):
    """Compute the docstring of `overtaken_s` literally, pair by pair."""
    rows = list(jobs.sort_values("submit_s", kind="stable").itertuples())
    lost = {}
    for place, job in enumerate(rows):
        passed = []
        for t in {other.start_s for other in rows[place + 1 :] if job.submit_s <= other.start_s < job.start_s}:
            free = nodes - timeline.loc[timeline["time_s"] <= t, "used_nodes"].iloc[-1]
            took = sum(o.nodes for o in rows[place + 1 :] if o.start_s == t and o.run_s > 0)
            passed += [t] if job.nodes <= free + took else []
        lost[job.Index] = job.start_s - min(passed) if passed else 0
    return [lost[index] for index in jobs.index]


@st.composite
def _small_workloads(draw):
    count = draw(st.integers(1, 14))
    times = st.lists(st.integers(0, 30), min_size=count, max_size=count)
    run_s = draw(times)
    return Workload.of(
        submit_s=draw(times),
        run_s=run_s,
        limit_s=[run + extra for run, extra in zip(run_s, draw(times), strict=True)],
        nodes=draw(st.lists(st.integers(1, 4), min_size=count, max_size=count)),
    )


@settings(max_examples=60, deadline=None)
@given(_small_workloads(), st.sampled_from([EASY, SJF, Conservative]))
def test_overtaking_equals_its_definition(workload, policy):
    result = simulate(workload, Cluster.of_nodes(4), policy())
    jobs = result.jobs
    rows = list(jobs.sort_values("submit_s", kind="stable").itertuples())
    backfilled = {
        job.Index: any(earlier.start_s > job.start_s for earlier in rows[:place]) for place, job in enumerate(rows)
    }
    assert is_backfilled(jobs).tolist() == [backfilled[index] for index in jobs.index]
    assert overtaken_s(jobs, result.timeline, 4).tolist() == _overtaken_by_definition(jobs, result.timeline, 4)


@settings(max_examples=30, deadline=None)
@given(_small_workloads())
def test_nobody_is_overtaken_first_come_first_served(workload):
    summary = simulate(workload, Cluster.of_nodes(4), FCFS()).summary()
    assert summary["backfilled"] == 0
    assert summary["overtaken_s"] == 0


def test_the_summary_of_the_small_run_by_hand(easy):
    """Waits 0, 90, 0, 0 of four started jobs; ends at 230; used 3x100 + 4x50 + 1x20 + 2x30 = 580 of 4 x 230.

    Turnarounds 100, 140, 20, 30; slowdowns 1, 140/50 = 2.8, 1, 1; area-weighted 4x50x90 / 580; load
    580 / (4 x 200); one job (2) waits from 10 to 100: 90 / 230 on average; job 3 passes it.
    """
    summary = easy.summary()
    assert list(summary) == list(SUMMARY_KEYS)
    expected = {
        "jobs_submitted": 5, "jobs_started": 4, "jobs_completed": 3, "jobs_timeout": 1, "jobs_rejected": 1,
        "jobs_failed": 0, "jobs_cancelled": 0, "jobs_unfinished": 0,
        "mean_wait_s": 22.5, "median_wait_s": 0, "p95_wait_s": 0.85 * 90, "p99_wait_s": 0.97 * 90, "max_wait_s": 90,
        "mean_turnaround_s": 72.5, "mean_bounded_slowdown": 1.45, "median_bounded_slowdown": 1,
        "mean_per_processor_slowdown": 1, "area_weighted_wait_s": 18000 / 580, "makespan_s": 230,
        "utilisation": 580 / 920, "offered_load": 580 / 800, "backfilled": 1, "overtaken_s": 0,
        "mean_queue_length": 90 / 230, "max_queue_length": 1, "used_node_s": 580, "steady_utilisation": 520 / 800,
    }  # fmt: skip
    assert summary == pytest.approx(expected)


def test_jobs_back_to_back_fill_the_machine_to_100_percent():
    workload = Workload.of(submit_s=[0, 0, 0], run_s=[10, 10, 10], nodes=[2, 2, 2])
    result = simulate(workload, Cluster.of_nodes(2), FCFS())
    assert result.summary()["utilisation"] == 1
    assert result.timeline["used_nodes"].max() == 2


def test_a_makespan_of_15_seconds_is_15_seconds_at_any_epoch():
    workload = Workload.of(submit_s=[1_700_000_000], run_s=[15], nodes=[1])
    summary = simulate(workload, Cluster.of_nodes(2), FCFS()).summary()
    assert summary["makespan_s"] == 15
    assert summary["utilisation"] == 0.5


def test_one_job_of_no_time_has_no_utilisation():
    summary = simulate(Workload.of(submit_s=[5], run_s=[0], nodes=[1]), Cluster.of_nodes(1), FCFS()).summary()
    assert summary["makespan_s"] == 0
    assert summary["utilisation"] is None
    assert summary["offered_load"] is None
    assert summary["mean_bounded_slowdown"] == 1


def test_all_rejected():
    summary = simulate(Workload.of(submit_s=[0, 9], run_s=[5, 5], nodes=[3, 3]), Cluster.of_nodes(2), FCFS()).summary()
    assert summary["jobs_rejected"] == 2
    assert summary["jobs_started"] == 0
    assert [summary[key] for key in ("mean_wait_s", "makespan_s", "utilisation", "area_weighted_wait_s")] == [None] * 4
