"""The feature table: as of submission, the same from every source, nothing hidden that gives the count away."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from hpcsim import Cluster, Workload, registry, simulate
from hpcsim.errors import InvalidArgument
from hpcsim.surrogates.features import (
    BURSTS,
    CONTEXT,
    COUNTED,
    FEATURES,
    POST_RUN,
    at_counts,
    contexts_table,
    outcomes_table,
    undeclared_proxies,
    with_bursts,
)
from hpcsim.surrogates.features.bursts import burst_figures
from hpcsim.surrogates.features.columns import APP_HISTORY, PAIR_HISTORY, USER_HISTORY
from hpcsim.workload import HIDDEN
from tests.surrogates.conftest import Log


def by_hand(outcomes: pd.DataFrame, submit_s: float, **group: float) -> pd.DataFrame:
    """Return the finished jobs of a group that had ended strictly before *submit_s*, by plain comparison."""
    mine = outcomes[outcomes["end_s"] < submit_s]
    for name, value in group.items():
        mine = mine[mine[name] == value]
    return mine.sort_values("end_s", kind="stable")


def test_there_are_35_features_and_none_is_known_only_after_the_run() -> None:
    assert len(FEATURES) == len(set(FEATURES)) == 35
    assert not set(FEATURES) & {*POST_RUN, *HIDDEN}
    assert set(FEATURES) == {*CONTEXT, *COUNTED}


def test_history_is_what_a_loop_over_earlier_ends_finds(log: Log) -> None:
    table = log.outcomes
    for place in np.random.default_rng(1).permutation(len(table))[:40]:
        row = table.iloc[place]
        groups = {"pair": {"user_id": row["user_id"], "app_id": row["app_id"]}}
        groups |= {"app": {"app_id": row["app_id"]}, "user": {"user_id": row["user_id"]}}
        for prefix, group in groups.items():
            known = by_hand(table, row["submit_s"], **group)
            assert row[f"{prefix}_jobs"] == len(known)
            if not len(known):
                assert np.isnan(row[f"{prefix}_mean_log_run"])
                continue
            log_run = np.log(known["run_s"])
            assert row[f"{prefix}_mean_log_run"] == pytest.approx(log_run.mean())
            assert row[f"{prefix}_mean_log_node_s"] == pytest.approx((log_run + np.log(known["nodes"])).mean())
            assert row[f"{prefix}_mean_node_w"] == pytest.approx((known["power_w"] / known["nodes"]).mean())
        pair, app = (by_hand(table, row["submit_s"], **groups[name]) for name in ("pair", "app"))
        if len(pair):
            assert row["pair_last_log_run"] == pytest.approx(np.log(pair["run_s"].iloc[-1]))
            assert row["pair_counts"] == pair["nodes"].nunique()
        if len(app):
            assert (row["app_least_nodes"], row["app_most_nodes"]) == (app["nodes"].min(), app["nodes"].max())
            assert row["app_log_since_s"] == pytest.approx(np.log(max(row["submit_s"] - app["end_s"].max(), 1)))


def test_a_job_that_ends_at_the_instant_of_submission_is_not_yet_history() -> None:
    jobs = Workload.of(submit_s=[0, 10, 11], run_s=[10, 5, 5], nodes=[2, 4, 4], limit_s=[60, 60, 60], user_id=[1, 1, 1])
    table = outcomes_table(jobs)
    assert table["user_jobs"].tolist() == [0, 0, 1]
    assert table["user_mean_log_run"].tolist()[2] == pytest.approx(np.log(10))


def test_what_happens_later_does_not_change_what_was_known(log: Log) -> None:
    cut = log.workload.columns["submit_s"][2000]
    early = log.outcomes[log.outcomes["end_s"] < cut]
    rows = np.flatnonzero(log.workload.columns["submit_s"] < cut)[-300:]
    now = contexts_table(log.workload, early, rows=rows)
    later = contexts_table(log.workload, log.outcomes, rows=rows)
    pd.testing.assert_frame_equal(now, later)


def test_only_jobs_that_ran_to_a_good_end_are_outcomes(log: Log) -> None:
    columns = log.workload.columns
    rows = log.outcomes["row"].to_numpy().astype(int)
    assert set(columns["recorded_state"][rows]) == {"COMPLETED"}
    assert np.all(columns["run_s"][rows] <= columns["limit_s"][rows])
    assert len(rows) < len(log.workload)


def test_jobs_and_workloads_give_the_same_contexts(log: Log) -> None:
    rows = np.arange(3000, 3050)
    ours = contexts_table(log.workload, log.train, rows=rows)
    jobs = contexts_table(list(log.workload.jobs(rows)), log.train)
    for name in (*PAIR_HISTORY, *APP_HISTORY, *USER_HISTORY, "log_limit_s", "nodes", "asked_nodes", "least_nodes"):
        assert np.array_equal(ours[name], jobs[name], equal_nan=True), name


def test_a_simulated_run_with_advice_knows_both_counts() -> None:
    workload = registry.make("models", "synth-pm100", jobs=200, nodes=64, seed=3)
    result = simulate(workload, Cluster.of_nodes(64), "easy", advisor=registry.make("advisors", "fixed", nodes=2))
    table = outcomes_table(result, workload)
    moved = table[table["nodes"] != table["asked_nodes"]]
    assert len(moved) > 10
    assert set(moved["nodes"]) == {2}
    assert np.allclose(table["tasks"] / table["nodes"], table["tasks_per_node"])
    done = result.jobs.set_index("row").loc[table["row"].astype(int)]
    assert np.allclose(table["run_s"], done["run_s"])


def test_result_without_its_workload_is_refused() -> None:
    workload = Workload.of(submit_s=[0], run_s=[10], nodes=[1])
    with pytest.raises(InvalidArgument, match="Give its workload"):
        outcomes_table(simulate(workload, Cluster.of_nodes(2), "easy"))


def test_limits_that_are_run_times_are_not_given_away() -> None:
    table = outcomes_table(Workload.of(submit_s=[0, 5], run_s=[10, 20], nodes=[1, 1]))
    assert table["log_limit_s"].isna().all()


def test_another_count_moves_the_count_and_its_proxies_and_nothing_else(log: Log) -> None:
    contexts = log.test.head(5)
    there = at_counts(contexts, np.array([1, 6])).reshape(5, 2, 35)
    for place, name in enumerate(FEATURES):
        before = contexts[name].to_numpy()
        ratio = 6 / contexts["nodes"].to_numpy() if name in COUNTED else np.ones(5)
        assert np.allclose(there[:, 1, place], before * ratio, equal_nan=True), name
    assert np.all(there[:, 0, FEATURES.index("nodes")] == 1)


def test_no_undeclared_feature_stands_in_for_the_count(log: Log) -> None:
    table = log.outcomes[list(FEATURES)]
    assert undeclared_proxies(table) == {}


@pytest.mark.parametrize("leak", [lambda n: 48.0 * n, lambda n: -3.0 * n, lambda n: n**3, np.log])
def test_a_column_that_stands_in_for_the_count_is_found(log: Log, leak) -> None:
    table = log.outcomes[list(FEATURES)].assign(billed=leak(log.outcomes["nodes"]))
    assert list(undeclared_proxies(table)) == ["billed"]


def test_a_missing_column_is_named() -> None:
    with pytest.raises(InvalidArgument, match="no column 'end_s'"):
        contexts_table(Workload.of(submit_s=[0], run_s=[1], nodes=[1]), pd.DataFrame({"user_id": [1], "app_id": [1]}))


def test_text_becomes_the_same_number_everywhere() -> None:
    jobs = [
        Workload.of(submit_s=[0, 1], run_s=[1, 1], nodes=[1, 1], user_id=np.array(users, dtype=object)).job(0)
        for users in (["ann", "bob"], ["ann", "zoe"])
    ]
    assert len({contexts_table([job])["user_id"].item() for job in jobs}) == 1
    names = [f"run_{number}.sh" for number in range(3)] + ["post.sh"]
    workload = Workload.of(submit_s=[0] * 4, run_s=[1] * 4, nodes=[1] * 4, name=np.array(names, dtype=object))
    assert contexts_table(workload)["app_id"].nunique() == 2


@pytest.mark.parametrize("machine", ["pm100", "adastra"])
def test_published_job_tables_make_tables(tmp_path: Path, machine: str) -> None:
    """Written in the published tables' shape, without the truth, and read back by the reader of that data set."""
    path = tmp_path / "jobs.parquet"
    registry.make("writers", "job-table", workload=registry.make("models", f"synth-{machine}", jobs=300), path=path)
    table = outcomes_table(registry.make("readers", machine, path=path))
    assert len(table) > 150
    assert table["power_w"].dropna().gt(100).all()  # short jobs may have no sample
    assert table["power_w"].notna().mean() > 0.8
    assert table["app_id"].nunique() > 1
    assert undeclared_proxies(table[list(FEATURES)]) == {}


def test_f_data_makes_tables_through_its_reader(tmp_path: Path) -> None:
    """A month as published: users, job names, nodes, cores; power has no unit there and is not read."""
    many = 120
    begin = pd.Timestamp("2023-05-01T00:00:00Z") + pd.to_timedelta(np.arange(many) * 300, unit="s")
    nodes = 2 ** (np.arange(many) % 5)
    rows = pd.DataFrame({"jid": np.arange(many), "usr": [f"u{place % 4}" for place in range(many)]})
    rows["jnam"] = [("cfd_%d", "md_%d")[place % 2] % place for place in range(many)]
    rows["adt"], rows["sdt"], rows["edt"] = begin, begin + pd.Timedelta("60s"), begin + pd.Timedelta("260s")
    rows["elpl"], rows["nnuma"], rows["cnumat"], rows["cnumr"] = 3600, nodes, 48 * nodes, 48 * nodes
    rows["exit state"] = ["failed" if place % 10 == 0 else "completed" for place in range(many)]
    rows.to_parquet(tmp_path / "23_05.parquet")
    table = outcomes_table(registry.make("readers", "f-data", path=tmp_path / "23_05.parquet"))
    assert len(table) == many - many // 10
    assert table["app_id"].nunique() == 2
    assert table["run_s"].eq(200).all()
    assert table["wait_s"].eq(60).all()
    assert table["nodes"].tolist() == nodes[np.arange(many) % 10 != 0].tolist()
    assert (table["cores_requested"] == 48 * table["nodes"]).all()
    assert table["power_w"].isna().all()
    assert table["pair_jobs"].max() > 5
    assert undeclared_proxies(table[list(FEATURES)]) == {}


def test_ends_are_told_by_whatever_words_a_log_has() -> None:
    """What a job does by itself is ``end_state``; words differ by log, and some say that it was cut short."""
    words = ["completed", "Terminated", "COMPLETED", "1", None, "TIMEOUT", "node_fail", "FAILED"]
    states = {"end_state": [0, 0, 0, 0, 0, 0, 0, 1], "recorded_state": np.array(words, dtype=object)}
    workload = Workload.of(submit_s=np.arange(8), run_s=[5] * 8, nodes=[1] * 8, limit_s=[9] * 8, **states)
    assert outcomes_table(workload)["row"].tolist() == [0, 1, 2, 3, 4]


def test_bursts_by_hand() -> None:
    """Mean 100: samples of 120 and more are bursts; two rises, three samples of five, deviation sqrt(3080)."""
    assert burst_figures((150, 160, 50, 20, 120)) == pytest.approx((1.6, math.sqrt(3080) / 100, 2, 0.6))
    assert all(math.isnan(figure) for figure in (*burst_figures(()), *burst_figures((0, 0))))


def test_bursts_are_known_after_the_run_only_and_left_out_unless_asked_for(tmp_path: Path) -> None:
    path = tmp_path / "jobs.parquet"
    registry.make("writers", "job-table", workload=registry.make("models", "synth-pm100", jobs=200), path=path)
    workload = registry.make("readers", "pm100", path=path, series=True)
    table = outcomes_table(workload)
    assert not {*BURSTS} & {*table.columns, *contexts_table(workload).columns, *FEATURES}
    row = int(np.argmax([len(series) for series in workload.columns["power_series_w"]]))
    told = with_bursts(contexts_table(workload, rows=np.array([row])), workload)
    samples = np.array(workload.columns["power_series_w"][row])
    assert told["power_peak_ratio"].item() == pytest.approx(samples.max() / samples.mean())
    peaks = with_bursts(table, registry.make("readers", "pm100", path=path))
    assert peaks["power_bursts"].isna().all()
    known = peaks["power_w"].notna()
    assert peaks.loc[known, "power_peak_ratio"].ge(1).all()
    model = registry.make("surrogates", "lightgbm", with_post_run=True)
    with pytest.raises(InvalidArgument, match="uses what only a run tells"):
        model.fit(table)
    model.fit(with_bursts(table, workload))
    with pytest.raises(InvalidArgument, match="advice cannot have it"):
        model.predict(contexts_table(workload, table), np.array([1]))
    assert np.isfinite(model.predict(told, np.array([1, 2])).mean).all()


def test_logs_without_power_or_applications_make_tables() -> None:
    """Users and names, nothing else."""
    names = np.array([f"{name}_{number}" for number in range(20) for name in ("cfd", "md")], dtype=object)
    many = np.arange(40)
    workload = Workload.of(
        submit_s=10 * many, run_s=5 + many, nodes=1 + many % 4, limit_s=100 + many, user_id=many % 3, name=names
    )
    table = outcomes_table(workload)
    assert table["app_id"].nunique() == 2
    assert table["power_w"].isna().all()
    assert table["pair_jobs"].max() > 1


def test_a_table_of_history_with_impossible_power_is_read_as_without(log: Log) -> None:
    """A table may come from anywhere: watts of 0, below it or without end are no watts of a node."""
    broken = log.train.head(50).copy()
    place = broken.columns.get_loc("power_w")
    for row, value in ((3, -4.0), (5, 0.0), (8, np.inf)):
        broken.iloc[row, place] = value
    missing = broken.assign(power_w=broken["power_w"].where(np.isfinite(broken["power_w"]) & (broken["power_w"] > 0)))
    rows = np.arange(3900, 4000)
    found = [contexts_table(log.workload, history=table, rows=rows) for table in (broken, missing)]
    pd.testing.assert_frame_equal(*found)
