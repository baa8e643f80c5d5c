"""Workloads in memory: what they refuse, and what they keep."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from hpcsim.cluster import Cluster
from hpcsim.errors import WorkloadError
from hpcsim.results.run import simulate
from hpcsim.workload import Workload

GOOD: dict[str, Any] = {"submit_s": [0, 5], "run_s": [10, 20], "limit_s": [30, 40], "nodes": [1, 2], "job_id": [7, 8]}


@pytest.mark.parametrize(
    ("change", "words", "field"),
    [
        ({"nodes": [1, 0]}, ["Job 8", "node count below 1", "(0)"], "nodes"),
        ({"nodes": [1, -2]}, ["Job 8", "(-2)"], "nodes"),
        ({"nodes": [1, 2**31]}, ["Job 8", "node count above 2147483647", "(2147483648)"], "nodes"),
        ({"nodes": [1.0, 2.5]}, ["whole numbers", "Round them"], "nodes"),
        ({"run_s": [-1, 1]}, ["Job 7", "run time that is negative", "(-1)"], "run_s"),
        ({"run_s": [1, math.nan]}, ["Job 8", "(nan)"], "run_s"),
        ({"run_s": [1, math.inf]}, ["Job 8", "(inf)"], "run_s"),
        ({"limit_s": [-1, 1]}, ["Job 7", "limit that is negative"], "limit_s"),
        ({"limit_s": [1, math.nan]}, ["Job 8", "limit"], "limit_s"),
        ({"submit_s": [math.nan, 1]}, ["Job 7", "submit time that is not a number"], "submit_s"),
        ({"submit_s": [0, math.inf]}, ["Job 8", "(inf)"], "submit_s"),
    ],
)
def test_values_that_no_engine_may_get(change: dict[str, Any], words: list[str], field: str) -> None:
    """The first bad job, its value, and the field."""
    with pytest.raises(WorkloadError) as caught:
        Workload.of(**{**GOOD, **change})
    assert all(word in str(caught.value) for word in words), str(caught.value)
    assert caught.value.field == field
    assert caught.value.remedy


def test_columns_of_unlike_lengths() -> None:
    """All lengths are told."""
    with pytest.raises(WorkloadError, match=r"differ in length: .*'nodes': 1.*Give each job every column"):
        Workload.of(**{**GOOD, "nodes": [1]})


@pytest.mark.parametrize("name", ["submit_s", "run_s", "limit_s", "nodes", "job_id", "user_id"])
@pytest.mark.parametrize("values", [5, "word", np.ones((2, 2), dtype=int), None])
def test_columns_that_are_no_columns(name: str, values: Any) -> None:
    """A scalar, a word and a table are refused by the column's name; None is no column where one may lack."""
    if values is None and name in ("limit_s", "job_id"):
        return
    with pytest.raises(WorkloadError, match=f"column '{name}' is no one-dimensional array"):
        Workload.of(**{**GOOD, name: values})
    with pytest.raises(WorkloadError, match=f"column '{name}' is no one-dimensional array"):
        Workload({**{key: np.array(column) for key, column in GOOD.items()}, name: values})


@pytest.mark.parametrize("name", ["submit_s", "run_s", "limit_s"])
def test_times_that_are_no_numbers(name: str) -> None:
    """Words are no times."""
    with pytest.raises(WorkloadError, match=f"column '{name}' holds no numbers. Give seconds."):
        Workload.of(**{**GOOD, name: ["soon", "late"]})
    with pytest.raises(WorkloadError, match=f"column '{name}' holds no numbers. Give seconds."):
        Workload({**{key: np.array(column) for key, column in GOOD.items()}, name: np.array(["soon", "late"])})


@pytest.mark.parametrize("states", [[0, 9], [-1, 0], [0.5, 1], [None, "FAILED"]])
def test_end_states_are_known_ones(states: list[Any]) -> None:
    """Each index, with its meaning, is told."""
    with pytest.raises(WorkloadError, match=r"unknown end state\. Known: 0 \(COMPLETED\), 1 \(FAILED\), 2 \(CANC"):
        Workload.of(**GOOD, end_state=states)
    assert Workload.of(**GOOD, end_state=[2, 0]).end_state.tolist() == [2, 0]


def test_a_missing_column() -> None:
    """The first one missing, and all that are needed."""
    columns = {name: np.array(values) for name, values in GOOD.items() if name != "run_s"}
    with pytest.raises(WorkloadError, match=r"no column 'run_s'\. Give all of job_id, submit_s, run_s, limit_s, nodes"):
        Workload(columns)


def test_an_unknown_attribute_offers_the_closest() -> None:
    """As any attribute error, with a hint."""
    with pytest.raises(AttributeError, match=r"'submits'.*Did you mean 'submit_s'\?"):
        Workload.of(**GOOD).submits  # noqa: B018


def test_limits_are_run_times_where_none_are_given() -> None:
    """And the workload says so."""
    workload = Workload.of(submit_s=[0], run_s=[10], nodes=[1])
    assert workload.limit_s.tolist() == [10]
    assert workload.limits_are_run_times
    assert not Workload.of(**GOOD).limits_are_run_times


def test_integral_times_stay_integers_and_others_do_not() -> None:
    """Whole numbers written as floats are integers; one fraction or infinity makes a column of floats."""
    assert Workload.of(**{**GOOD, "submit_s": [0.0, 5.0]}).submit_s.dtype == np.int64
    assert Workload.of(**{**GOOD, "submit_s": [0.5, 5.0]}).submit_s.dtype == np.float64
    assert Workload.of(**{**GOOD, "limit_s": [1, math.inf]}).limit_s.tolist() == [1, math.inf]


def test_jobs_hold_what_was_asked() -> None:
    """Row, id, submit, nodes, limit, and optional columns; -1 is "not known"."""
    first, second = Workload.of(**GOOD, user_id=[3, -1], partitions=[("a",), ("a", "b")]).jobs()
    assert (first.row, first.job_id, first.submit_s, first.nodes, first.limit_s) == (0, 7, 0, 1, 30)
    assert (first.user_id, second.user_id, second.partitions) == (3, None, ("a", "b"))
    assert not hasattr(first, "run_s")


def test_minus_one_is_a_value_where_nothing_can_be_unknown() -> None:
    """A submit time of -1 s and a job number -1 stay, and such a job is simulated."""
    workload = Workload.of(submit_s=[-1, 0], run_s=[10, 10], nodes=[1, 1], job_id=[-1, 2])
    assert [(job.job_id, job.submit_s) for job in workload.jobs()] == [(-1, -1), (2, 0)]
    assert simulate(workload, Cluster.of_nodes(1), "easy").jobs["start_s"].tolist() == [-1, 9]


def test_arrival_order_keeps_ties_in_the_logs_order() -> None:
    """By submit time, stable."""
    workload = Workload.of(submit_s=[5, 0, 5, 0], run_s=[1] * 4, nodes=[1] * 4)
    assert workload.arrival_order().tolist() == [1, 3, 0, 2]


def test_select_and_head_note_what_was_done() -> None:
    """The rows, and a line of provenance."""
    workload = Workload.of(**GOOD)
    head = workload.head(1)
    assert (len(head), head.job_id.tolist(), head.provenance["transformations"]) == (1, [7], ["first 1 jobs"])
    picked = workload.select(np.array([False, True]), "second only").head(9)
    assert picked.job_id.tolist() == [8]
    assert picked.provenance["transformations"][0] == "second only"
    assert "transformations" not in workload.provenance


def test_offered_load() -> None:
    """(1 x 10 + 2 x 20) node-seconds over 4 nodes and a span of 5 s: 50 / 20."""
    assert Workload.of(**GOOD).offered_load(4) == 2.5
    assert math.isnan(Workload.of(**{**GOOD, "submit_s": [5, 5]}).offered_load(4))


def test_the_hash_tells_any_change() -> None:
    """Of a value, a name or a type."""
    hashes = {
        Workload.of(**GOOD).sha256(),
        Workload.of(**{**GOOD, "nodes": [1, 3]}).sha256(),
        Workload.of(**{**GOOD, "nodes": np.array([1, 2], dtype=np.int32)}).sha256(),
        Workload.of(**GOOD, user_id=[1, 1]).sha256(),
        Workload.of(**GOOD, group_id=[1, 1]).sha256(),
    }
    assert len(hashes) == 5
    assert Workload.of(**GOOD).sha256() in hashes


def test_the_frame_has_every_column() -> None:
    """One row a job."""
    frame = Workload.of(**GOOD, user_id=[3, 4]).to_frame()
    assert frame["user_id"].tolist() == [3, 4]
    assert len(frame) == 2
