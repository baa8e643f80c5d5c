"""`simulate`: the tables of whole, cut and failed runs."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest

from hpcsim.cluster import Cluster
from hpcsim.decision import Start
from hpcsim.engine.simulation import Simulation
from hpcsim.errors import InvalidDecision, PolicyFailed, StalledPolicy
from hpcsim.job import Job
from hpcsim.policies import EASY, FCFS
from hpcsim.policy import Policy
from hpcsim.results.run import collect, simulate
from hpcsim.results.tables import ATTEMPT_COLUMNS, JOB_COLUMNS, TIMELINE_COLUMNS
from hpcsim.workload import Workload


def test_the_table_of_jobs_tells_the_schedule_worked_out_by_hand(easy):
    """EASY: job 1 at 0 on nodes 0-2; job 3 at 20 on node 3; job 2 at 100; job 5 at 200, killed at 230."""
    jobs = easy.jobs
    assert tuple(jobs.columns) == JOB_COLUMNS
    assert jobs["job_id"].tolist() == [1, 2, 3, 4, 5]
    assert jobs["state"].tolist() == ["COMPLETED", "COMPLETED", "COMPLETED", "REJECTED", "TIMEOUT"]
    assert jobs["node_ids"].tolist() == ["0-2", "0-3", "3", "", "0-1"]
    np.testing.assert_array_equal(jobs["start_s"], [0, 100, 20, math.nan, 200])
    np.testing.assert_array_equal(jobs["end_s"], [100, 150, 40, 25, 230])
    np.testing.assert_array_equal(jobs["wait_s"], [0, 90, 0, math.nan, 0])
    np.testing.assert_array_equal(jobs["run_s"], [100, 50, 20, math.nan, 30])
    assert jobs["attempts"].tolist() == [1, 1, 1, 0, 1]
    assert jobs["lost_node_s"].tolist() == [0] * 5
    assert "9" in jobs["state_reason"][3]
    assert jobs["state_reason"][0] == ""


def test_an_unknown_user_is_missing_and_a_job_for_any_partition_has_none(easy):
    assert easy.jobs["user_id"].tolist() == [7, 8, pd.NA, 7, 8]
    assert easy.jobs["partition"].isna().all()


def test_attempts_and_timeline_follow_the_starts_and_ends(easy):
    """Used nodes: 3 from 0, 4 from 20 (job 3 beside job 1), 3 from 40, 4 from 100, 0 from 150, 2 from 200 to 230."""
    assert tuple(easy.attempts.columns) == ATTEMPT_COLUMNS
    assert easy.attempts["row"].tolist() == [0, 2, 1, 4]
    assert easy.attempts["attempt"].tolist() == [1, 1, 1, 1]
    assert tuple(easy.timeline.columns) == TIMELINE_COLUMNS
    assert easy.timeline["time_s"].tolist() == [0, 10, 20, 40, 100, 150, 200, 230]
    assert easy.timeline["used_nodes"].tolist() == [3, 3, 4, 3, 4, 0, 2, 0]
    assert easy.timeline["queue_length"].tolist() == [0, 1, 1, 1, 0, 0, 0, 0]
    assert easy.timeline["queued_node_s"].tolist() == [0, 240, 240, 240, 0, 0, 0, 0]


def test_a_cut_run_reports_open_jobs_and_counts_those_not_submitted(workload, cluster):
    """At 50 job 1 runs, job 2 waits, job 5 (submitted at 200) is still to come."""
    result = simulate(workload, cluster, EASY(), until=50)
    assert result.jobs["state"].tolist() == ["UNFINISHED", "UNFINISHED", "COMPLETED", "REJECTED"]
    assert result.provenance["jobs_not_submitted"] == 1
    assert result.provenance["until_s"] == 50
    assert not result.is_complete
    summary = result.summary()
    assert summary["jobs_unfinished"] == 2
    assert summary["makespan_s"] == 50
    assert summary["used_node_s"] == 3 * 50 + 1 * 20
    assert summary["utilisation"] == pytest.approx(170 / 200)


class Grabs(Policy):
    """Starts whatever waits, fitting or not."""

    def schedule(self, system):
        for job in system.queue:
            yield Start(job)


class Raises(Policy):
    """Fails as soon as two jobs wait."""

    def schedule(self, system):
        if len(system.queue) > 1:
            raise KeyError("mine")
        yield from ()


class Sleeps(Policy):
    """Never starts anything."""

    def schedule(self, system):
        yield from ()


@pytest.mark.parametrize(
    ("policy", "kind"), [(Grabs, InvalidDecision), (Raises, PolicyFailed), (Sleeps, StalledPolicy)]
)
def test_a_failing_policy_leaves_a_partial_result_that_says_why(workload, cluster, policy, kind, tmp_path):
    with pytest.raises(kind) as caught:
        simulate(workload, cluster, policy())
    partial = caught.value.partial
    assert partial.provenance["complete"] is False
    assert partial.provenance["error"] == {"kind": kind.__name__, "message": str(caught.value)}
    assert set(partial.jobs["state"]) <= {"UNFINISHED", "REJECTED"}
    partial.save(tmp_path / "partial")
    assert "jobs_unfinished" in type(partial).load(tmp_path / "partial").summary()


def test_jobs_submitted_during_the_run_stand_behind_those_of_the_workload(workload, cluster):
    simulation = Simulation(workload, cluster, FCFS())
    simulation.run(until=300)
    simulation.submit(Job(0, 99, 0, 2, 50, user_id=5), run_s=10)
    simulation.run()
    jobs = collect(simulation).jobs
    last = jobs.iloc[-1]
    assert (last.row, last.job_id, last.start_s, last.end_s, last.nodes, last.user_id) == (5, 99, 300, 310, 2, 5)
    assert jobs["user_id"].tolist()[:3] == [7, 8, pd.NA]


def test_names_instead_of_numbers_are_kept(cluster):
    workload = Workload.of(
        submit_s=[0, 1], run_s=[1, 1], nodes=[1, 1], job_id=["a", "b"], user_id=np.array(["ann", None], dtype=object)
    )
    simulation = Simulation(workload, cluster, FCFS())
    simulation.run(until=5)
    simulation.submit(Job(0, "c", 0, 1, 5, user_id="carl"), run_s=1)
    simulation.run()
    jobs = collect(simulation).jobs
    assert jobs["job_id"].tolist() == ["a", "b", "c"]
    assert jobs["user_id"].fillna("?").tolist() == ["ann", "?", "carl"]


def test_partitions_are_written_joined(cluster):
    workload = Workload.of(submit_s=[0, 0], run_s=[1, 1], nodes=[1, 1], partitions=[("a", "b"), ()])
    jobs = simulate(workload, cluster, FCFS()).jobs
    assert jobs["partition"].astype(object).fillna("").tolist() == ["a,b", ""]


def test_no_jobs_at_all(cluster):
    result = simulate(Workload.of(submit_s=[], run_s=[], nodes=np.array([], dtype=int)), cluster, FCFS())
    summary = result.summary()
    assert len(result.jobs) == 0
    assert summary["jobs_submitted"] == 0
    assert summary["mean_wait_s"] is None
    assert summary["utilisation"] is None


def test_provenance_names_what_made_the_result(easy, workload):
    record = easy.provenance
    assert record["policy"]["name"] == "EASY"
    assert record["policy"]["parameters"]["reservations"] == 1
    assert record["policy"]["clairvoyant"] is False
    assert record["workload"]["sha256"] == workload.sha256()
    assert record["workload"]["limits"] == "requested"
    assert record["cluster"]["groups"][0]["nodes"] == 4
    assert record["complete"] is True
    assert set(record["versions"]) == {"hpcsim", "python", "simpy", "numpy", "pandas"}


def test_limits_that_are_run_times_are_said(cluster):
    workload = Workload.of(submit_s=[0], run_s=[5], nodes=[1])
    record = simulate(workload, Cluster.of_nodes(1), FCFS()).provenance
    assert record["workload"]["limits"] == "limits = run times"
