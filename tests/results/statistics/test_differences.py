"""Two runs of the same jobs: pairs, measures, classes, and what is refused."""

from __future__ import annotations

import json
import math

import numpy as np
import pandas as pd
import pytest

from hpcsim import Cluster, Workload, make_policy, registry, simulate
from hpcsim.errors import ResultError
from hpcsim.policies import EASY, FCFS
from hpcsim.results.difference_rows import MEASURE_HEADINGS, class_rows, measure_rows
from hpcsim.results.pairwise import Pairwise, against_first
from hpcsim.results.report import render
from hpcsim.results.statistics import differences, paired_jobs, paired_windows, winners_and_losers
from hpcsim.results.statistics.classes import length_class, size_class, user_class
from hpcsim.results.statistics.measures import MEASURES
from hpcsim.results.storage import plain


@pytest.fixture(scope="module")
def runs():
    """FCFS and EASY on forty days of a generated workload, that FCFS can keep up with."""
    workload = registry.make("models", "poisson", jobs=1_500, nodes=16, load=0.45, seed=4)
    return {name: simulate(workload, Cluster.of_nodes(16), make_policy(name)) for name in ("fcfs", "easy")}


def test_jobs_are_paired(fcfs, easy):
    """Waits 0, 90, 130, 0 under FCFS and 0, 90, 0, 0 under EASY; job 3 runs 20 s: slowdown 150 / 20 = 7.5 to 1."""
    pairs = paired_jobs(fcfs, easy)
    assert pairs["job_id"].tolist() == [1, 2, 3, 5]
    assert pairs["wait_difference_s"].tolist() == [0, 0, -130, 0]
    assert pairs["old_wait_s"].tolist() == [0, 90, 130, 0]
    assert pairs["slowdown_difference"].tolist() == [0, 0, -6.5, 0]


def test_windows_are_paired(fcfs, easy):
    """One hour holds all four: 55 s and 22.5 s; node-seconds 300 + 200 + 20 + 2 x 30 = 580 of 4 x 3600 under both."""
    (row,) = paired_windows(fcfs, easy, "hour").to_dict("records")
    assert (row["jobs"], row["old_wait_s"], row["new_wait_s"], row["wait_difference_s"]) == (4, 55, 22.5, -32.5)
    assert row["old_utilisation"] == pytest.approx(580 / 14_400)
    assert row["utilisation_difference"] == pytest.approx(0)


def test_windows_add_up_to_the_jobs(runs):
    windows, pairs = (pair(runs["fcfs"], runs["easy"]) for pair in (paired_windows, paired_jobs))
    assert windows["jobs"].sum() == len(pairs)
    assert (windows["jobs"] * windows["old_wait_s"]).sum() == pytest.approx(pairs["old_wait_s"].sum())


def test_strangers_are_refused(fcfs, cluster, workload):
    other = simulate(Workload.of(submit_s=[1, 2], run_s=[1, 1], nodes=[1, 1]), cluster, FCFS())
    with pytest.raises(ResultError, match="not of the same workload"):
        paired_jobs(fcfs, other)


def test_unequal_sets_are_refused_unless_asked_for(fcfs, workload, cluster):
    cut = simulate(workload, cluster, EASY(), until=120)
    for compare in (differences, winners_and_losers):
        with pytest.raises(ResultError, match="finished 4 jobs and 'new' 2"):
            compare(fcfs, cut)
    table = differences(fcfs, cut, allow_unequal=True)
    assert table.loc["mean_wait_s", "jobs"] == 3
    assert table.loc["mean_bounded_slowdown", "jobs"] == 2


def test_values_are_those_of_the_summaries(runs):
    table = differences(runs["fcfs"], runs["easy"], replicates=50)
    assert table.index.tolist() == [measure.key for measure in MEASURES]
    for column, name in (("old", "fcfs"), ("new", "easy")):
        summary = runs[name].summary()
        for key in set(table.index) & set(summary):
            assert table.loc[key, column] == pytest.approx(summary[key]), key
    assert (table["difference"] - (table["new"] - table["old"])).abs().max() == 0
    told = table.drop(index="max_wait_s")
    assert ((told["low"] <= told["difference"]) & (told["difference"] <= told["high"])).all()


def test_backfilling_is_found_to_be_better(runs):
    table = differences(runs["fcfs"], runs["easy"])
    assert table.loc["mean_wait_s", "verdict"] == "better"
    assert table.loc["max_wait_s", "verdict"] == "no interval"
    assert table.loc["improvement", "new"] > 0.5
    back = differences(runs["easy"], runs["fcfs"])
    assert back.loc["mean_wait_s", "verdict"] == "worse"
    assert back.loc["mean_wait_s", "difference"] == -table.loc["mean_wait_s", "difference"]


def test_a_run_against_itself_is_the_same(runs):
    table = differences(runs["easy"], runs["easy"])
    assert set(table["verdict"]) == {"the same", "no interval"}
    assert (table["p_holm"].dropna() == 1).all()


def test_same_seed_same_table(runs):
    first, second, other = (differences(*runs.values(), seed=seed, replicates=100) for seed in (1, 1, 2))
    pd.testing.assert_frame_equal(first, second)
    assert first.loc["mean_wait_s", "low"] != other.loc["mean_wait_s", "low"]


def test_short_logs_get_values_without_intervals(fcfs, easy):
    table = differences(fcfs, easy)
    assert table.loc["mean_wait_s", "difference"] == -32.5
    assert set(table["verdict"]) == {"no interval"}
    assert table["low"].isna().all()


def test_runs_without_a_started_job(cluster):
    idle = simulate(Workload.of(submit_s=[0], run_s=[5], nodes=[9]), cluster, FCFS())
    assert differences(idle, idle)["difference"].isna().all()
    assert against_first({"a": idle, "b": idle})[0].headline() == "b against a: no job started in both runs."


def test_classes_of_size():
    """A machine of 128: 1, to 8, to 32, to 128. Of 4: 1 and the rest, since 4 / 16 and 4 / 4 are at most 1."""
    place, names = size_class(np.array([1, 2, 8, 9, 32, 33, 128]), 128)
    assert names == ["1", "2 to 8", "9 to 32", "33 to 128"]
    assert place.tolist() == [0, 1, 1, 2, 2, 3, 3]
    assert size_class(np.array([1, 3]), 4)[1] == ["1", "2 to 4"]
    assert size_class(np.array([1]), 1)[1] == ["1"]


def test_classes_of_length():
    assert length_class(np.array([0, 599, 600, 3600, 21_600, 86_400, math.nan])).tolist() == [0, 0, 1, 2, 3, 4, -1]


def test_classes_of_users():
    """Of 100 node-seconds a holds 60: heavy; b 25, after 60: middling; c 10, after 85: middling; d, after 95: light."""
    users = pd.Series(["a", "b", "c", "d", None])
    assert user_class(users, np.array([60, 25, 10, 5, 0])).tolist() == [0, 1, 1, 2, 3]
    assert user_class(pd.Series([None, None]), np.array([1, 2])).tolist() == [3, 3]


def test_classes_divide_the_jobs(runs):
    table = winners_and_losers(*runs.values(), replicates=50)
    everyone = table.loc[("all", "all jobs")]
    for by in ("size", "length", "user"):
        classes = table.loc[by]
        assert classes["jobs"].sum() == everyone["jobs"]
        assert (classes["jobs"] * classes["new"]).sum() == pytest.approx(everyone["jobs"] * everyone["new"])
    assert everyone["better"] + everyone["worse"] <= 1


def test_sentences_say_what_is_shown(runs):
    (pair,) = against_first(runs)
    assert pair.headline().startswith("easy against fcfs: better. Jobs wait ")
    assert "% of the jobs wait less" in pair.winners_and_losers()
    assert "Losers: none shown." in pair.winners_and_losers()
    assert pair.basis().startswith("95 % intervals over ")
    (none,) = against_first({"a": runs["easy"], "b": runs["easy"]})
    assert none.headline() == "b against a: the same mean wait."


def test_classes_are_named_when_they_stand_correction():
    """-90 s, -200 s and +60 s with adjusted p of 0.01, 0.2 and 0.04: the second is not told."""
    rows = {
        ("all", "all jobs"): (100, 0.5, 0.25, -50.0, 0.001),
        ("size", "1"): (60, 0.5, 0.25, -90.0, 0.01),
        ("size", "2 to 4"): (40, 0.5, 0.25, -200.0, 0.2),
        ("length", "1-6 h"): (40, 0.5, 0.25, 60.0, 0.04),
    }
    classes = pd.DataFrame.from_dict(rows, orient="index", columns=["jobs", "better", "worse", "difference", "p_holm"])
    classes.index = pd.MultiIndex.from_tuples(rows, names=["by", "class"])
    assert Pairwise("a", "b", pd.DataFrame(), classes).winners_and_losers() == (
        "50.0 % of the jobs wait less, 25.0 % longer. Winners: size 1 (1 min 30 s less). "
        "Losers: run 1-6 h (1 min longer)."
    )


def test_chance_is_no_difference(runs):
    """One second more for every other job, at random: no difference is shown."""
    new = simulate(registry.make("models", "poisson", jobs=1_500, nodes=16, load=0.45, seed=4),
                   Cluster.of_nodes(16), make_policy("easy"))  # fmt: skip
    new.jobs["wait_s"] += np.random.default_rng(0).choice([-1.0, 1.0], len(new.jobs))
    (pair,) = against_first({"easy": runs["easy"], "noise": new})
    assert pair.headline().startswith("noise against easy: no difference shown in the mean wait; ")


def test_rows_show_one_unit_and_signs(runs):
    (pair,) = against_first(runs)
    rows = measure_rows(pair)
    assert {len(row) for row in rows} == {len(MEASURE_HEADINGS)}
    mean = rows[0]
    assert mean[:2] in (("mean wait", "h"), ("mean wait", "min"))
    assert mean[4].startswith("-")
    assert mean[6] == "better"
    assert len(class_rows(pair)) == len(pair.classes)


def test_pairs_are_plain_data_and_stand_in_the_report(runs):
    pairs = against_first(runs)
    data = json.loads(json.dumps(plain(pairs[0].to_dict()), allow_nan=False))
    assert data["policy"] == "fcfs"
    assert data["measures"]["mean_wait_s"]["verdict"] == "better"
    assert data["classes"][0]["class"] == "all jobs"
    page = render(runs, title="t", pairs=pairs)
    assert "easy (new) against fcfs (old)" in page
    assert pairs[0].headline() in page
