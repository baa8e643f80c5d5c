"""The hidden truth of a workload: run time and power of a job at every node count."""

from __future__ import annotations

from dataclasses import fields

import numpy as np
import pytest

from hpcsim import Workload
from hpcsim.errors import InvalidArgument, WorkloadError
from hpcsim.job import Job
from hpcsim.proxies import PROXIES, moved
from hpcsim.scaling import (
    AMDAHL,
    DOWNEY,
    POWER_LAW,
    RIGID,
    SCALING_TABLE,
    TABLE,
    TRUTH,
    has_truth,
    scaling_of,
    speed_ups,
    true_power_w,
    true_run_s,
)
from hpcsim.speedup import Amdahl, Downey, PowerCurve, PowerLaw
from hpcsim.workload import HIDDEN


@pytest.fixture
def workload() -> Workload:
    """One job of each law, all at 4 nodes for 100 s and 2,000 W; the last is rigid."""
    return Workload.of(
        submit_s=[0, 1, 2, 3],
        run_s=[100] * 4,
        nodes=[4] * 4,
        scaling_law=np.array([AMDAHL, DOWNEY, POWER_LAW, RIGID], dtype=np.int8),
        scaling_a=[0.1, 16.0, 0.5, 0.0],
        scaling_b=[0.02, 0.5, 0.0, 0.0],
        mean_power_w=[2000.0] * 4,
        idle_w=[400.0] * 4,
        peak_w=[1000.0] * 4,
        waiting_share=[0.5] * 4,
    )


def test_truth_is_hidden_and_no_field_of_a_job():
    assert {*TRUTH, SCALING_TABLE} <= set(HIDDEN)
    assert not {field.name for field in fields(Job)} & set(HIDDEN)


def test_one_job_by_its_row(workload):
    """Power law of 0.5 from 4 to 16 nodes: half the time; efficiency 0.5 -> 0.25, watts a node 850 -> 775."""
    scaling = scaling_of(workload, 2)
    assert scaling.law == PowerLaw(0.5)
    assert float(scaling.run_s(16)) == pytest.approx(50)
    assert float(scaling.power_w(16)) == pytest.approx(2000 * (16 * 775) / (4 * 850))
    assert float(scaling.energy_j(4)) == pytest.approx(200_000)
    assert scaling_of(workload, 0).law == Amdahl(0.1, 0.02)
    assert scaling_of(workload, 1).law == Downey(16, 0.5)
    assert scaling_of(workload, 1).curve == PowerCurve(400, 1000, 0.5)
    assert scaling_of(workload, 3) is None


def test_a_job_that_keeps_its_count_runs_as_logged(workload):
    rows = np.arange(4)
    assert true_run_s(workload, rows, workload.nodes).tolist() == [100] * 4
    assert true_power_w(workload, rows, workload.nodes).tolist() == [2000] * 4


@pytest.mark.parametrize("counts", [np.array([[1, 2, 4, 8, 64]]), np.tile([[3], [7]], (2, 5))])
def test_arrays_say_what_the_single_jobs_say(workload, counts):
    rows = np.array([2, 0, 1, 0])
    run_s, power_w = true_run_s(workload, rows, counts), true_power_w(workload, rows, counts)
    for place, row in enumerate(rows):
        scaling = scaling_of(workload, row)
        own = counts[0] if len(counts) == 1 else counts[place]
        assert run_s[place] == pytest.approx(scaling.run_s(own))
        assert power_w[place] == pytest.approx(scaling.power_w(own))


def test_speed_ups_of_one_count_each(workload):
    expected = [1 / (0.1 + 0.9 / 8 + 0.06), float(Downey(16, 0.5).speed_up(8)), 8**0.5, 1]
    assert speed_ups(workload.columns, [8, 8, 8, 8]) == pytest.approx(expected)


@pytest.fixture
def measured(workload) -> Workload:
    """The same jobs, the last one with run times that were measured: 1,000 s on 1 node, 400 on 4, 300 on 8."""
    workload.columns["scaling_law"][3] = TABLE
    tables = np.empty(4, dtype=object)
    tables[3] = ((1, 4, 8), (1000.0, 400.0, 300.0))
    workload.columns["scaling_table"] = tables
    return workload


def test_measured_run_times(measured):
    """Only ratios count: the log has 100 s at 4 nodes, so it is 250 s on 1 and 75 s on 8."""
    assert scaling_of(measured, 3).run_s([1, 4, 8]) == pytest.approx([250, 100, 75])
    assert true_run_s(measured, np.array([0, 3]), [[1, 4, 8]])[1] == pytest.approx([250, 100, 75])
    with pytest.raises(InvalidArgument, match="covers 1 to 8 nodes"):
        true_run_s(measured, np.array([3]), [[16]])


def test_a_log_without_truth_says_so():
    plain = Workload.of(submit_s=[0], run_s=[1], nodes=[1])
    assert not has_truth(plain)
    with pytest.raises(WorkloadError, match="does not know what its jobs would take"):
        scaling_of(plain, 0)


def test_proxies_move_with_the_count():
    """4 -> 6 nodes: totals grow by half; 3 -> 1: they shrink to a third; nothing falls to 0."""
    columns = {name: np.array([8, 3]) for name in PROXIES} | {"nodes": np.array([4, 3]), "user_id": np.array([1, 2])}
    at = moved(columns, [6, 1])
    assert at["nodes"].tolist() == [6, 1]
    assert {tuple(at[name].tolist()) for name in PROXIES} == {(12, 1)}
    assert at["user_id"].tolist() == [1, 2]
    assert columns["nodes"].tolist() == [4, 3]
    assert moved({"nodes": np.array([9]), "tasks": np.array([4])}, 1)["tasks"].tolist() == [1]
    assert moved({"num_nodes_alloc": np.array([2]), "mem_req": np.array([5])}, 4, asked="num_nodes_alloc")[
        "mem_req"
    ].tolist() == [10]
