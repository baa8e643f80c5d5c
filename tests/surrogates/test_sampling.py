"""The sampler: exact rates, monotone, independent of order, and what it refuses."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hpcsim.errors import InvalidArgument
from hpcsim.surrogates import boosting
from hpcsim.surrogates.difficulty import difficulty, numeric_view
from hpcsim.surrogates.sampling import Sampler, drawn, probabilities, sampler_of, uniforms
from tests.surrogates.conftest import Log

DIFFICULTIES = st.lists(st.floats(0, 1e6).map(lambda x: x if x > 1e-9 else 0.0), min_size=1, max_size=60)


@given(DIFFICULTIES, st.floats(0.01, 1), st.floats(0, 1))
def test_probabilities_keep_their_promises(hard: list[float], rate: float, part: float) -> None:
    floor = part * rate
    found = probabilities(np.array(hard), rate, floor=floor)
    p = found.values
    assert np.all((p >= floor - 1e-15) & (p <= 1))
    order = np.argsort(hard, kind="stable")
    assert np.all(np.diff(p[order]) >= 0)
    if found.is_reachable:
        assert abs(p.mean() - rate) <= 1e-6
    else:  # everything with any difficulty is kept, and that is too little
        assert np.all(p[np.array(hard) > 0] == 1)
        assert p.mean() < rate


def test_a_case_worked_by_hand() -> None:
    """L = 1, 2, 8, rate 0.5: a = 1/6 gives 1/6, 1/3, 1 (8/6 is cut), whose mean is 0.5."""
    found = probabilities(np.array([1.0, 2.0, 8.0]), 0.5)
    assert found.values == pytest.approx([1 / 6, 1 / 3, 1], abs=1e-5)
    assert found.multiplier == pytest.approx(1 / 6, abs=1e-5)


@pytest.mark.parametrize("hard", [np.zeros(7), np.full(7, 3.0)])
def test_rows_alike_have_the_rate_itself(hard: np.ndarray) -> None:
    assert probabilities(hard, 0.3).values == pytest.approx(np.full(7, 0.3), abs=1e-6)


def test_rate_1_keeps_all_rows() -> None:
    p = probabilities(np.array([0.0, 1.0, 5.0]), 1.0).values
    assert np.all(p == 1)
    assert drawn(p, np.arange(3), seed=4).all()


def test_a_rate_that_cannot_be_reached_is_said() -> None:
    found = probabilities(np.array([0.0, 0.0, 0.0, 2.0]), 0.5)
    assert not found.is_reachable
    assert math.isinf(found.multiplier)


@pytest.mark.parametrize("seed", range(5))
def test_kept_rows_are_as_many_as_chance_allows(seed: int) -> None:
    p = probabilities(np.random.default_rng(9).lognormal(size=5000), 0.4).values
    kept = drawn(p, np.arange(5000), seed).sum()
    assert abs(kept - p.sum()) < 5 * np.sqrt((p * (1 - p)).sum())


def test_draws_depend_on_seed_and_row_alone() -> None:
    ids = np.arange(1000)
    shuffled = np.random.default_rng(0).permutation(ids)
    p = np.full(1000, 0.5)
    assert np.array_equal(drawn(p, ids, 3)[shuffled], drawn(p, shuffled, 3))
    assert np.array_equal(drawn(p, ids, 3)[:10], drawn(p[:10], ids[:10], 3))
    assert not np.array_equal(drawn(p, ids, 3), drawn(p, ids, 4))


def test_uniforms_are_uniform_and_seeds_are_strangers() -> None:
    first, second = (uniforms(np.arange(100_000), seed) for seed in (0, 1))
    assert np.histogram(first, 20, (0, 1))[0] == pytest.approx(np.full(20, 5000), abs=5 * np.sqrt(5000))
    assert abs(np.corrcoef(first, second)[0, 1]) < 0.02
    assert abs(np.corrcoef(first[1:], first[:-1])[0, 1]) < 0.02


@pytest.mark.parametrize("variant", ["uniform", "difficulty", "weighted", "trimmed"])
def test_whole_tables_in_any_order(log: Log, variant: str) -> None:
    table = log.train.head(400)
    sampler = Sampler(variant, rate=0.3, seed=2)
    sample = sampler.sample(table)
    assert abs(sample.expected_rate - 0.3) <= 1e-6
    assert sample.realised_rate == sample.keep.mean()
    order = np.random.default_rng(0).permutation(400)
    assert np.array_equal(sampler.sample(table.iloc[order]).keep, sample.keep[order])
    assert np.all(sample.probability >= sampler.least)
    is_weighted = variant in {"weighted", "trimmed"}
    assert np.allclose(sample.weight, 1 / sample.probability if is_weighted else 1)
    assert "mean 30.0000 %, asked for 30.0000 %" in str(sample)


def test_hard_rows_are_hard_out_of_fold() -> None:
    """Rows whose target is noise are harder than rows that follow a rule, though a fit could learn all by heart."""
    rng = np.random.default_rng(0)
    x = rng.random(400)
    is_noise = np.arange(400) % 2 == 0
    y = np.exp(np.where(is_noise, rng.normal(0, 2, 400), 3 * x))
    table = pd.DataFrame({"x": x, "is_noise": is_noise.astype(float)})
    hard = difficulty(table, {"y": (y, "regression")}, row_ids=np.arange(400))
    assert hard[is_noise].mean() > 3 * hard[~is_noise].mean()
    assert hard.mean() == pytest.approx(1)


def test_targets_of_other_units_count_alike() -> None:
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"x": rng.random(400)})
    run_s = np.exp(rng.normal(size=400))
    both = {"run_s": (run_s, "regression"), "power_w": (run_s * 1e6, "regression")}
    alone = difficulty(table, {"run_s": (run_s, "regression")}, row_ids=np.arange(400))
    assert difficulty(table, both, row_ids=np.arange(400)) == pytest.approx(alone, rel=1e-3)


def test_classes_are_as_hard_as_they_are_improbable() -> None:
    x = np.arange(400) % 2
    state = np.where(x == 1, "FAILED", "COMPLETED").astype(object)
    state[:20] = np.where(x[:20] == 1, "COMPLETED", "FAILED")  # labels that contradict the rule
    targets = {"state": (state, "classification")}
    hard = difficulty(pd.DataFrame({"x": x.astype(float)}), targets, row_ids=np.arange(400))
    assert hard[:20].min() > hard[20:].max()


def test_the_view_reduces_what_is_no_number() -> None:
    times = pd.to_datetime(["2024-01-01 06:00", "2024-01-02 07:00", None])
    table = pd.DataFrame(
        {"watts": [[1.0, 3.0], [], [5.0]], "at": times, "state": ["b", "a", None], "n": [1.0, np.nan, 3.0]}
    )
    view = numeric_view(table)
    assert view.shape[0] == 3
    assert np.isfinite(view).all()
    assert view[0, 0] == 2  # the length of the series
    assert view[0, 1:3].tolist() == [0.0, 2.0] or view[0, 1] == 2.0  # its mean


@pytest.mark.parametrize(
    ("variant", "rate", "floor", "told"),
    [
        ("difficulty", 0.0, None, "above 0, up to 1"),
        ("difficulty", 1.5, None, "above 0, up to 1"),
        ("difficulty", math.nan, None, "above 0, up to 1"),
        ("difficulty", 0.3, 0.4, "not between 0 and its rate"),
        ("dificulty", 0.3, None, "Did you mean 'difficulty'"),
    ],
)
def test_what_makes_no_sense_is_refused(variant: str, rate: float, floor: float | None, told: str) -> None:
    with pytest.raises(InvalidArgument, match=told):
        Sampler(variant, rate=rate, floor=floor)


def test_a_difficulty_that_is_no_number_is_refused() -> None:
    with pytest.raises(InvalidArgument, match="negative or no number"):
        probabilities(np.array([1.0, math.nan]), 0.5)


def test_samplers_are_written_as_text() -> None:
    assert sampler_of("trimmed:rate=0.2,floor=0.1") == Sampler("trimmed", rate=0.2, floor=0.1)
    assert sampler_of(None) is None
    with pytest.raises(InvalidArgument, match="no setting of a sampler"):
        sampler_of("difficulty:share=0.2")


def test_a_target_that_some_rows_lack_still_has_a_say() -> None:
    """Power is noise in every other row and unknown in a tenth: where known it makes rows hard."""
    rng = np.random.default_rng(0)
    x = rng.random(600)
    is_noise = np.arange(600) % 2 == 0
    power = np.exp(np.where(is_noise, rng.normal(0, 2, 600), 3 * x))
    power[::10] = math.nan
    table = pd.DataFrame({"x": x, "is_noise": is_noise.astype(float)})
    hard = difficulty(table, {"run": (np.exp(x), "regression"), "w": (power, "regression")}, row_ids=np.arange(600))
    known = np.isfinite(power)
    assert hard[known & is_noise].mean() > 1.3 * hard[known & ~is_noise].mean()
    assert np.isfinite(hard).all()
    nothing = difficulty(table, {"w": (np.full(600, math.nan), "regression")}, row_ids=np.arange(600))
    assert not nothing.any()


def test_power_missing_in_one_job_does_not_silence_power(log: Log) -> None:
    table = log.train.head(400).copy()
    whole = Sampler("difficulty", rate=0.3).sample(table).probability
    table.iloc[5, table.columns.get_loc("power_w")] = math.nan
    almost = Sampler("difficulty", rate=0.3).sample(table).probability
    without = Sampler("difficulty", rate=0.3).sample(table.assign(power_w=math.nan)).probability
    assert np.corrcoef(whole, almost)[0, 1] > 0.9 > np.corrcoef(whole, without)[0, 1]


def test_no_row_is_judged_by_a_model_that_has_seen_it(monkeypatch: pytest.MonkeyPatch) -> None:
    judged: list[float] = []

    def spy(features: np.ndarray, target: np.ndarray, wanted: np.ndarray, **settings: object) -> np.ndarray:
        assert not set(features[:, 0].tolist()) & set(wanted[:, 0].tolist())
        judged.extend(wanted[:, 0].tolist())
        return np.zeros(len(wanted))

    monkeypatch.setattr(boosting, "light_prediction", spy)
    x = np.random.default_rng(0).permutation(101).astype(float)
    difficulty(x[:, None], {"y": (x + 1, "regression")}, row_ids=x.astype(np.int64))
    assert sorted(judged) == list(range(101))
