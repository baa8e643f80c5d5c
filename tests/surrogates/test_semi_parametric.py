"""The semi-parametric surrogate: speed-ups against the truth, intervals, regret, and what its evidence is worth."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from hpcsim import registry
from hpcsim.errors import InvalidArgument
from hpcsim.scaling import speed_ups, true_power_w, true_run_s
from hpcsim.speedup import amdahl_speed_up, downey_speed_up, power_law_speed_up
from hpcsim.surrogate import Surrogate
from hpcsim.surrogates.speedup_evidence import NodePower, PowerEvidence, habit_likelihood, trial_likelihood
from hpcsim.surrogates.speedup_library import counts, log_speed_ups
from hpcsim.surrogates.speedup_tables import interpolated, interpolated_own
from tests.surrogates.conftest import Log, make_log

COUNTS = np.array([1, 2, 4, 8, 16])


@pytest.fixture(scope="module")
def model(log: Log) -> Surrogate:
    return registry.make("surrogates", "semi-parametric").fit(log.train)


def edp_regrets(model: Surrogate, log: Log, jobs: int = 150) -> tuple[np.ndarray, np.ndarray]:
    """Return the regret of advice by enumeration, and of the users' counts, against brute force on the truth."""
    allowed = log.workload.columns["allowed_nodes"]
    moldable = log.test[[len(allowed[int(row)]) > 1 for row in log.test["row"]]].iloc[:jobs]
    advice, users = [], []
    for place, row in enumerate(moldable["row"].astype(int)):
        nodes = np.array(allowed[row])
        mean = model.predict(moldable.iloc[[place]], nodes).mean[0]
        rows = np.array([row])
        run_s, power_w = (truth(log.workload, rows, nodes[None])[0] for truth in (true_run_s, true_power_w))
        truth = power_w * run_s**2
        advice.append(truth[np.argmin(mean[:, 1] * mean[:, 0] ** 2)] / truth.min() - 1)
        users.append(truth[list(nodes).index(int(moldable["asked_nodes"].iloc[place]))] / truth.min() - 1)
    return np.array(advice), np.array(users)


def test_library_holds_the_laws_themselves() -> None:
    found = np.exp(log_speed_ups(COUNTS))
    for law in (
        amdahl_speed_up(COUNTS, 0.0005, 0.0),
        downey_speed_up(COUNTS, 1000.0, 2.0),
        power_law_speed_up(COUNTS, 0.5),
    ):
        assert np.isclose(found, law, rtol=1e-9).all(axis=1).any()
    assert np.allclose(found[:, 0], 1)


def test_tables_are_exact_at_their_counts_and_linear_in_between() -> None:
    grid = counts()
    table = np.stack([np.log(grid), np.log(grid) ** 2])
    rows = np.array([0, 1])
    nodes = np.array([1.0, 7.0, 16.0, 100.0, 5000.0])
    assert interpolated(table, rows, nodes)[0] == pytest.approx(np.log(nodes))
    assert interpolated(table, rows, nodes)[1, :3] == pytest.approx(np.log(nodes[:3]) ** 2)
    assert interpolated_own(table, rows, np.array([9.0, 9.0])) == pytest.approx([np.log(9), np.log(9) ** 2])


def test_watts_of_nodes_alone_tell_the_curve() -> None:
    """Amdahl with f = 0.05 on nodes of 300 W idle, 900 W peak: the likeliest curve runs within 5 % of it up to 16."""
    nodes = np.repeat([1.0, 2.0, 4.0, 8.0], 50)
    power = NodePower(300.0, 0.4)
    floor_w = power.floor_w(np.array([900.0]))
    node_w = floor_w + (900 - floor_w) * amdahl_speed_up(nodes, 0.05) / nodes
    noisy = nodes * node_w * np.exp(0.02 * np.random.default_rng(0).standard_normal(200))
    evidence = PowerEvidence(np.zeros(200, dtype=np.int64), nodes, noisy, 1)
    likelihood, peaks = evidence.likelihood(power)
    best = likelihood[0].argmax()
    assert np.exp(log_speed_ups(COUNTS)[best]) == pytest.approx(amdahl_speed_up(COUNTS, 0.05), rel=0.05)
    assert peaks[0, best] == pytest.approx(900, rel=0.02)
    assert evidence.noise == pytest.approx(0.02, rel=0.2)


def test_a_trial_at_another_count_tells_the_curve() -> None:
    asked, ran = np.full(40, 2.0), np.tile([1.0, 4.0, 8.0, 16.0], 10)
    ratio = np.log(power_law_speed_up(2.0, 0.6) / power_law_speed_up(ran, 0.6))
    best = trial_likelihood(np.zeros(40, dtype=np.int64), asked, ran, ratio, 0.1, 1)[0].argmax()
    assert np.exp(log_speed_ups(COUNTS)[best]) == pytest.approx(power_law_speed_up(COUNTS, 0.6), rel=0.08)
    assert not trial_likelihood(np.zeros(40, dtype=np.int64), asked, asked, ratio, 0.1, 1).any()


def test_habits_tell_the_curve_where_counts_do_not_follow_size() -> None:
    rng = np.random.default_rng(0)
    user = np.repeat(np.arange(40), 50)
    nodes = 2.0 ** (user % 5)
    run_s = 36_000 / amdahl_speed_up(nodes, 0.1) * np.exp(0.5 * rng.standard_normal(len(user)))
    likelihood = habit_likelihood(np.zeros(len(user), dtype=np.int64), user, nodes, run_s, 1)[0]
    best = np.exp(log_speed_ups(COUNTS)[likelihood.argmax()])
    assert best == pytest.approx(amdahl_speed_up(COUNTS, 0.1), rel=0.25)


def test_speed_ups_of_applications_are_near_the_truth(log: Log, model: Surrogate) -> None:
    apps, place = np.unique(log.train["app_id"], return_index=True)
    rows = log.train["row"].to_numpy().astype(int)[place]
    columns = {name: log.workload.columns[name][rows] for name in ("scaling_law", "scaling_a", "scaling_b")}
    truth = speed_ups(columns, COUNTS[None, :])
    explained = model.explain()["speed_ups"]
    ours = np.array([explained[app][:4] for app in apps])
    error = np.abs(np.log(ours / truth[:, 1:]))
    assert np.median(error[:, :3]) < 0.05
    assert np.median(error) < 0.08


def test_advice_is_near_the_best_and_far_better_than_the_users_own(log: Log, model: Surrogate) -> None:
    advice, users = edp_regrets(model, log)
    assert np.median(advice) <= 0.35
    assert np.mean(advice < users) >= 0.7
    law = registry.make("surrogates", "scaling-law").fit(log.train)
    assert np.median(advice) < np.median(edp_regrets(law, log)[0])


@pytest.mark.parametrize("family", ["downey", "power-law"])
def test_other_families_are_better_than_the_users_own(family: str) -> None:
    """A short log does not tell power laws from others well: the target itself is for long ones, below."""
    log = make_log(family)
    advice, users = edp_regrets(registry.make("surrogates", "semi-parametric").fit(log.train), log)
    assert np.mean(advice < users) >= 0.7
    law = registry.make("surrogates", "scaling-law").fit(log.train)
    assert np.median(advice) < np.median(edp_regrets(law, log)[0])


@pytest.mark.nightly
@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize(("family", "most"), [("amdahl", 0.35), ("downey", 0.6), ("power-law", 0.6), ("mix", 0.6)])
def test_long_logs_of_every_family_meet_the_target(family: str, most: float, seed: int) -> None:
    log = make_log(family, seed, 20_000)
    advice, users = edp_regrets(registry.make("surrogates", "semi-parametric", seed=seed).fit(log.train), log, 400)
    assert np.median(advice) <= most
    assert np.mean(advice < users) >= 0.7


def test_intervals_hold_most_logged_outcomes(log: Log, model: Surrogate) -> None:
    held = []
    for count, jobs in log.test.groupby("nodes"):
        prediction = model.predict(jobs, np.array([int(count)]))
        actual = jobs[["run_s", "power_w"]].to_numpy()[:, None]
        held.append(((prediction.lower <= actual) & (actual <= prediction.upper))[:, 0])
    assert np.concatenate(held).mean(axis=0) == pytest.approx([0.9, 0.9], abs=0.06)  # one small log


def test_intervals_widen_away_from_the_count_asked_for(log: Log, model: Surrogate) -> None:
    jobs = log.test[log.test["asked_nodes"] == 1].head(20)
    prediction = model.predict(jobs, np.array([1, 4, 16, 64, 128]))
    width = np.log(prediction.upper / prediction.lower)
    assert np.all(width[:, 2:] > width[:, :1])
    assert np.all(np.diff(width[:, 2:], axis=1) > 0)


def test_support_ends_at_half_and_twice_what_the_application_has_run_on(log: Log, model: Surrogate) -> None:
    jobs = log.test.head(50)
    nodes = np.arange(1, 129)
    supported = model.predict(jobs, nodes).supported
    for place, (least, most) in enumerate(zip(jobs["app_least_nodes"], jobs["app_most_nodes"], strict=True)):
        assert supported[place].tolist() == [least / 2 <= n <= 2 * most for n in nodes]


def test_requested_limit_moves_the_base_and_not_the_shape(log: Log, model: Surrogate) -> None:
    jobs = log.test.head(30)
    longer = jobs.assign(log_limit_s=jobs["log_limit_s"] + np.log(8))
    before, after = (model.predict(table, COUNTS).mean[..., 0] for table in (jobs, longer))
    assert np.mean(after[:, 0] > 1.2 * before[:, 0]) > 0.8
    assert after / after[:, :1] == pytest.approx(before / before[:, :1], rel=1e-9)


def test_power_is_nodes_times_watts_between_idle_and_peak(log: Log, model: Surrogate) -> None:
    node_w = model.predict(log.test, COUNTS).mean[..., 1] / COUNTS
    assert np.all(np.diff(node_w, axis=1) < 0)  # efficiency falls with the count
    assert node_w.min() > 300
    assert node_w.max() < 1800


def test_without_power_it_still_learns_run_times(log: Log) -> None:
    blind = log.train.head(600).assign(power_w=np.nan)
    prediction = registry.make("surrogates", "semi-parametric").fit(blind).predict(log.test.head(5), COUNTS)
    assert np.isfinite(prediction.mean[..., 0]).all()
    assert np.isnan(prediction.mean[..., 1]).all()


def test_trials_in_a_log_sharpen_what_run_times_alone_say(log: Log) -> None:
    """Some jobs are run at four times or a quarter of their count, as an exploring advisor would have it."""
    table = log.train.copy()
    tried = np.random.default_rng(0).random(len(table)) < 0.25
    rows = table["row"].to_numpy().astype(int)
    nodes = np.where(tried, table["asked_nodes"] * np.where(rows % 2, 4, 8), table["asked_nodes"])
    table["run_s"] = true_run_s(log.workload, rows, nodes)
    table["nodes"] = nodes
    blind = {"evidence": "habits"}, {"evidence": "habits+trials"}
    errors = []
    for parameters in blind:
        model = registry.make("surrogates", "semi-parametric", **parameters).fit(table)
        mean = model.predict(log.test.head(200), COUNTS).mean[..., 0]
        test_rows = log.test["row"].to_numpy().astype(int)[:200]
        truth = true_run_s(log.workload, test_rows, COUNTS[None, :])
        errors.append(np.median(np.abs(np.log(mean[:, 3] / mean[:, 0]) - np.log(truth[:, 3] / truth[:, 0]))))
    assert errors[1] < 0.6 * errors[0]


def test_it_is_the_same_twice(log: Log) -> None:
    first, second = (
        registry.make("surrogates", "semi-parametric", seed=3)
        .fit(log.train.head(500))
        .predict(log.test.head(9), COUNTS)
        for _ in range(2)
    )
    assert np.array_equal(first.mean, second.mean)
    assert np.array_equal(first.upper, second.upper)


def test_wrong_parameters_are_named() -> None:
    with pytest.raises(InvalidArgument, match="no evidence 'limits'"):
        registry.make("surrogates", "semi-parametric", evidence="power+limits")
    with pytest.raises(InvalidArgument, match="share from 0 to 1"):
        registry.make("surrogates", "semi-parametric", waiting_share=2.0)


def test_frames_of_other_column_order_are_read_by_name(log: Log, model: Surrogate) -> None:
    jobs = log.test.head(4)
    turned = jobs[list(reversed(jobs.columns))]
    assert isinstance(turned, pd.DataFrame)
    assert np.array_equal(model.predict(jobs, COUNTS).mean, model.predict(turned, COUNTS).mean)


def test_curves_that_are_remembered_are_those_of_now(log: Log) -> None:
    """One job asked about alone, again, and after another fit: always what a model that remembers nothing says."""
    model = registry.make("surrogates", "semi-parametric").fit(log.train.head(600))
    rows = [log.test.iloc[[place]] for place in (0, 7, 0, 7)]
    before = [model.predict(row, COUNTS).mean for row in rows]
    assert len(model._known) == 2
    assert np.array_equal(before[0], before[2])
    model.fit(log.train.tail(600))
    fresh = registry.make("surrogates", "semi-parametric").fit(log.train.tail(600))
    for row in rows:
        whole = fresh.predict(pd.concat([row, row]), COUNTS)  # two rows are never remembered
        alone = model.predict(row, COUNTS)
        for name in ("mean", "lower", "upper"):
            assert np.array_equal(getattr(alone, name)[0], getattr(whole, name)[0], equal_nan=True)
    assert not np.array_equal(before[0], model.predict(rows[0], COUNTS).mean)
