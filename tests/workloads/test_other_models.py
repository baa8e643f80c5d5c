"""Downey's moldable jobs and the Blue Gene/P like Intrepid."""

from __future__ import annotations

import csv
import gzip

import numpy as np
import pytest

from hpcsim.errors import WorkloadError
from hpcsim.scaling import scaling_of
from hpcsim.speedup import Downey
from hpcsim.workloads.models.cycles import DAY_S, WEEK_S, half_days, office_week, spread_from
from hpcsim.workloads.models.downey import LEAST_WORK_S, MOST_WORK_S, downey
from hpcsim.workloads.models.intrepid import HELD, NODES, intrepid, intrepid_cluster
from hpcsim.workloads.models.node_counts import allowed, grid, powers_of_two


def test_downey_is_log_uniform():
    """The median is the geometric mean of the ends, for work and for parallelism; sigma is uniform over 0 to 2."""
    w = downey(jobs=20_000, nodes=256, seed=1)
    assert np.median(w.scaling_a) == pytest.approx(16, rel=0.05)
    assert (w.scaling_b.mean(), w.scaling_b.max()) == (pytest.approx(1, abs=0.02), pytest.approx(2, abs=0.01))
    work = [
        w.run_s[row] * float(Downey(w.scaling_a[row], w.scaling_b[row]).speed_up(w.nodes[row])) for row in range(4000)
    ]
    assert np.median(work) == pytest.approx((LEAST_WORK_S * MOST_WORK_S) ** 0.5, rel=0.1)
    assert (w.nodes == np.clip(np.rint(w.scaling_a), 1, 256)).all()


def test_downey_jobs_know_their_run_time_at_every_allowed_count():
    w = downey(jobs=200, nodes=64, seed=2)
    for row in range(200):
        scaling = scaling_of(w, row)
        assert float(scaling.run_s(w.nodes[row])) == w.run_s[row]
        assert set(w.allowed_nodes[row]) == {1, 2, 4, 8, 16, 32, 64, w.nodes[row]}
    assert (w.limit_s >= w.run_s).all()


def test_downey_arrives_by_day():
    hour = downey(jobs=30_000, seed=3).submit_s % DAY_S // 3600
    assert np.mean((hour >= 8) & (hour < 20)) == pytest.approx(0.75, abs=0.01)


@pytest.mark.parametrize("load", [0.4, 1.1])
def test_downey_load(load):
    assert downey(jobs=2000, nodes=64, load=load).offered_load(64) == pytest.approx(load, rel=0.02)


def test_intrepid_run_times_are_those_of_the_whole_log():
    """Published for all 68,936 jobs: mean 5,176.35 s, median 3,607.5 s, deviation 9,044.7 s, 10 to 408,773 s."""
    run_s = np.concatenate([intrepid(jobs=68_936, seed=seed).run_s for seed in range(3)])
    assert run_s.mean() == pytest.approx(5176.35, rel=0.03)
    assert np.median(run_s) == pytest.approx(3607.5, rel=0.03)
    assert run_s.std() == pytest.approx(9044.7, rel=0.1)
    assert 10 <= run_s.min() <= run_s.max() <= 408_773


def test_intrepid_partitions_are_those_of_the_log(shared):
    with gzip.open(shared / "data" / "ANL-Intrepid-2009-excerpt-first3000.csv.gz", "rt") as file:
        held = np.array([int(row["nodes"]) for row in csv.DictReader(file)])
    assert {size: int(np.sum(held == size)) for size in HELD} == HELD
    workload = intrepid(jobs=50_000, seed=1)
    for size, count in HELD.items():
        assert np.mean(workload.recorded_nodes == size) == pytest.approx(count / 3000, abs=0.006)


def test_intrepid_jobs_hold_the_partition_that_fits():
    """What is held is the smallest partition with room for what is asked; four of five jobs ask for all of it."""
    w = intrepid(jobs=20_000, seed=2)
    sizes = np.array(sorted(HELD))
    assert (sizes[np.searchsorted(sizes, w.nodes)] == w.recorded_nodes).all()
    assert np.mean(w.nodes == w.recorded_nodes) == pytest.approx(0.8, abs=0.02)
    assert w.nodes.min() >= 1


def test_intrepid_machine():
    cluster = intrepid_cluster()
    assert cluster.nodes == NODES == 40 * 1024
    production, development = cluster.groups
    assert (production.allocation_sizes[0], development.allocation_sizes[0]) == (512, 64)
    assert development.nodes == 8 * 1024


def test_intrepid_limits_rate_and_load():
    w = intrepid(jobs=10_000, seed=3)
    assert (w.limit_s >= w.run_s).all()
    assert len(w) / (w.submit_s.max() / DAY_S) == pytest.approx(68_936 / 239, rel=0.01)
    assert intrepid(jobs=5000, load=0.9).offered_load(NODES) == pytest.approx(0.9, rel=0.02)


@pytest.mark.parametrize("make", [downey, intrepid])
def test_small_logs_bad_arguments_and_bytes(make):
    assert len(make(jobs=1)) == 1
    assert make(jobs=50, seed=1).sha256() == make(jobs=50, seed=1).sha256() != make(jobs=50, seed=2).sha256()
    for wrong in ({"jobs": 0}, {"load": -1}, {"seed": -1}):
        with pytest.raises(WorkloadError):
            make(**wrong)


def test_cycles_by_hand():
    """Three of four points fall into the 12 h by day: 18 points are 8 h of night (4), then 14 at 1.5 an hour."""
    cycle = half_days(0.75)
    assert cycle.times_s(np.array([4.0, 18.0, 24.0])) == pytest.approx([8 * 3600, (8 + 14 / 1.5) * 3600, DAY_S])
    assert cycle.points_at((8 + 14 / 1.5) * 3600) == pytest.approx(18)
    week = office_week()
    assert week.times_s(np.array([168.0]))[0] == pytest.approx(WEEK_S)
    times = spread_from(week, np.array([5.0, 6.0, 9.0]), 1000, 777_777)
    assert (times[0], times[-1]) == (pytest.approx(1000), pytest.approx(778_777))


def test_counts_that_jobs_may_run_at():
    assert grid(20) == (1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 14, 16, 20)
    assert powers_of_two(20) == (1, 2, 4, 8, 16)
    assert allowed(grid(8), 3, 9) == (3, 4, 5, 6, 7, 8, 9)
