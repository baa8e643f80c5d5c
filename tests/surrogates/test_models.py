"""Every surrogate: fits, predicts, survives saving; and what a hostile table or folder gets."""

from __future__ import annotations

import hashlib
import json
import math
import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from hpcsim import registry
from hpcsim.errors import InvalidArgument, ResultError, UnknownName
from hpcsim.surrogate import Surrogate
from hpcsim.surrogates import model_files
from hpcsim.surrogates.features import outcomes_table
from hpcsim.surrogates.features.columns import COUNTED
from tests.surrogates.conftest import Log

pytest.importorskip("lightgbm")
pytest.importorskip("pytorch_tabnet")

COUNTS = np.array([1, 2, 4, 64])
SHORT = {"tabnet": {"epochs": 1}}
CASES = [(name, SHORT.get(name, {})) for name in registry.names("surrogates")] + [
    ("lightgbm", {"inputs": "embedding", "epochs": 1}),
    ("xgboost", {"inputs": "raw+embedding", "form": "paper", "embed": "concat", "epochs": 1}),
    ("lightgbm-monotone", {"inputs": "raw+embedding", "epochs": 1, "with_limit": False}),
]
QUICK = ("semi-parametric", "lightgbm", "scaling-law", "app-last", "tabnet")


def fitted(name: str, table: pd.DataFrame, **parameters: object) -> Surrogate:
    model: Surrogate = registry.make("surrogates", name, **(SHORT.get(name, {}) | parameters))
    return model.fit(table)


@pytest.mark.parametrize(("name", "parameters"), CASES)
def test_each_fits_predicts_and_survives_saving(
    log: Log, tmp_path: Path, name: str, parameters: dict[str, object]
) -> None:
    model = fitted(name, log.train.head(300), **parameters)
    before = model.predict(log.test.head(6), COUNTS)
    assert before.mean.shape == before.lower.shape == before.upper.shape == (6, 4, 2)
    assert before.supported.shape == (6, 4)
    assert np.all((before.lower <= before.mean) & (before.mean <= before.upper) & (before.lower > 0))
    model.save(tmp_path / "model")
    after = model_files.load_any(tmp_path / "model").predict(log.test.head(6), COUNTS)
    for part in ("mean", "lower", "upper"):
        assert getattr(after, part) == pytest.approx(getattr(before, part), rel=1e-6)
    assert not list((tmp_path / "model").glob("*.pkl"))
    importance = model.explain()["importance"]  # type: ignore[attr-defined] - all of ours can
    for shares in importance.values():
        assert sum(shares.values()) == pytest.approx(1)


def test_counts_reach_the_trees_and_keep_the_monotone_promise(log: Log) -> None:
    nodes = np.arange(1, 65)
    mean = fitted("lightgbm-monotone", log.train.head(800), with_limit=False).predict(log.test.head(40), nodes).mean
    assert np.all(np.diff(mean[..., 0], axis=1) <= 1e-9)
    assert np.all(np.diff(mean[..., 1], axis=1) >= -1e-9)
    assert np.ptp(mean[..., 1], axis=1).min() > 0


def test_baselines_remember(log: Log) -> None:
    jobs = log.test[log.test["pair_jobs"] > 0].head(20)
    last = fitted("app-last", log.train).predict(jobs, COUNTS).mean
    assert last[:, 0, 0] == pytest.approx(np.exp(jobs["pair_last_log_run"]))
    assert last[:, 2, 1] == pytest.approx(4 * jobs["pair_last_node_w"])
    assert np.array_equal(last[:, 0, 0], last[:, 3, 0])
    mean = fitted("app-mean", log.train).predict(jobs, COUNTS).mean
    assert mean[:, 0, 0] == pytest.approx(np.exp(jobs["pair_mean_log_run"]))


def test_one_law_for_all_follows_amdahl(log: Log) -> None:
    jobs = log.test.head(10)
    run_s = fitted("scaling-law", log.train).predict(jobs, COUNTS).mean[..., 0]
    share = 2 * run_s[0, 1] / run_s[0, 0] - 1  # T(2)/T(1) = f + (1 - f)/2
    assert 0 < share < 1
    assert run_s[:, 3] / run_s[:, 0] == pytest.approx(share + (1 - share) / 64, rel=1e-6)


def test_a_sample_is_what_it_learns_from(log: Log) -> None:
    model = registry.make("surrogates", "lightgbm", sampler="uniform:rate=0.25", seed=5).fit(log.train.head(1000))
    assert model.sample.realised_rate == pytest.approx(0.25, abs=0.08)
    assert "kept" in str(model.sample)


# --- hostile tables


@pytest.mark.parametrize("name", QUICK)
def test_one_finished_job_is_enough_to_answer(log: Log, name: str) -> None:
    prediction = fitted(name, log.train.head(1)).predict(log.test.head(3), COUNTS)
    assert np.all(prediction.mean > 0)
    ratio = prediction.upper[:, 0] / prediction.mean[:, 0]
    assert np.all(ratio >= 2.9)  # nothing could be held out: a factor of 3


@pytest.mark.parametrize("name", QUICK)
def test_a_constant_target_is_predicted(log: Log, name: str) -> None:
    table = log.train.head(150).assign(run_s=600.0, power_w=log.train["nodes"].head(150) * 500.0)
    mean = fitted(name, table).predict(log.test.head(3), np.array([1])).mean
    assert np.all(np.isfinite(mean))
    if name == "lightgbm":
        assert mean[..., 0] == pytest.approx(600.0)


@pytest.mark.parametrize("name", QUICK)
@pytest.mark.parametrize("column", ["memory_per_node_bytes", "log_limit_s", "pair_mean_node_w", "gpus_requested"])
def test_a_column_all_missing_is_no_obstacle(log: Log, name: str, column: str) -> None:
    table, jobs = log.train.head(150).assign(**{column: np.nan}), log.test.head(3).assign(**{column: np.nan})
    assert np.all(np.isfinite(fitted(name, table).predict(jobs, COUNTS).mean))


@pytest.mark.parametrize("name", QUICK)
def test_an_application_never_seen_gets_an_answer_marked_as_a_guess(log: Log, name: str) -> None:
    strange = log.test.head(3).assign(app_id=987_654.0, user_id=-1.0)
    history = [column for column in strange.columns if column.startswith(("pair_", "app_", "user_"))]
    strange[[column for column in history if column not in {"app_id", "user_id"}]] = np.nan
    prediction = fitted(name, log.train.head(300)).predict(strange, COUNTS)
    assert np.all(np.isfinite(prediction.mean) & (prediction.mean > 0))
    assert not prediction.supported.any()


@pytest.mark.parametrize("name", QUICK)
def test_no_job_and_no_count_give_empty_answers(log: Log, name: str) -> None:
    model = fitted(name, log.train.head(120))
    assert model.predict(log.test.head(0), COUNTS).mean.shape == (0, 4, 2)
    assert model.predict(log.test.head(3), np.zeros(0, dtype=np.int64)).mean.shape == (3, 0, 2)


@pytest.mark.parametrize(
    "nodes", [np.array([0]), np.array([-3]), np.array([1.5]), np.array([np.nan]), np.array([[1, 2]])]
)
def test_counts_that_are_none_are_refused(log: Log, nodes: np.ndarray) -> None:
    with pytest.raises(InvalidArgument, match="whole numbers from 1"):
        fitted("app-mean", log.train.head(10)).predict(log.test.head(1), nodes)


def test_tables_that_cannot_be_learned_from_are_refused(log: Log) -> None:
    model = registry.make("surrogates", "app-mean")
    with pytest.raises(InvalidArgument, match="no finished job"):
        model.fit(log.train.head(0))
    with pytest.raises(InvalidArgument, match="run time of row 1 of the outcomes is nan"):
        model.fit(log.train.head(3).assign(run_s=[1.0, np.nan, 2.0]))
    with pytest.raises(InvalidArgument, match="no column 'run_s'"):
        model.fit(log.train.drop(columns="run_s"))
    with pytest.raises(InvalidArgument, match="what is no number"):
        model.fit(log.train.head(2).assign(tasks=["many", "few"]))
    with pytest.raises(InvalidArgument, match="not learned anything yet"):
        model.predict(log.test, COUNTS)
    with pytest.raises(UnknownName, match="no parameter 'input'"):
        registry.make("surrogates", "lightgbm", input="raw")
    with pytest.raises(InvalidArgument, match="no kind of inputs 'embeding'"):
        registry.make("surrogates", "lightgbm", inputs="embeding")


# --- hostile folders


@pytest.fixture
def folder(log: Log, tmp_path: Path) -> Path:
    fitted("semi-parametric", log.train.head(200)).save(tmp_path / "model")
    return tmp_path / "model"


def change_card(folder: Path, **changes: object) -> None:
    card = json.loads((folder / "card.json").read_text())
    (folder / "card.json").write_text(json.dumps(card | changes))


def refused(folder: Path, told: str) -> None:
    with pytest.raises(ResultError, match=told) as caught:
        model_files.load_any(folder)
    assert caught.value.remedy


@pytest.mark.parametrize("file", ["base.txt", "residual.txt", "tables.safetensors"])
def test_a_truncated_file_is_refused(folder: Path, file: str) -> None:
    content = (folder / file).read_bytes()
    (folder / file).write_bytes(content[: len(content) // 2])
    refused(folder, f"{file} is truncated or was changed")
    (folder / file).unlink()
    refused(folder, f"{file} cannot be read")


def test_a_truncated_card_is_refused(folder: Path) -> None:
    text = (folder / "card.json").read_text()
    (folder / "card.json").write_text(text[:100])
    refused(folder, "is no JSON")
    (folder / "card.json").write_text("[]")
    refused(folder, "is no card")
    (folder / "card.json").unlink()
    refused(folder, "holds no saved surrogate")


def test_a_model_of_other_features_is_refused(folder: Path) -> None:
    change_card(folder, schema="0123456789abcdef")
    refused(folder, "made for other features")


def test_a_model_of_another_kind_is_refused(folder: Path) -> None:
    with pytest.raises(ResultError, match="holds a 'semi-parametric', not a 'app-mean'"):
        registry.find("surrogates", "app-mean").load(folder)


def test_loading_runs_no_code_that_a_card_names(folder: Path, tmp_path: Path) -> None:
    spy = tmp_path / "spy.py"
    mark = tmp_path / "ran"
    spy.write_text(f"open({str(mark)!r}, 'w')\nclass Model:\n    pass\n")
    for name in (f"{spy}:Model", "os:system", ["semi-parametric"]):
        change_card(folder, surrogate=name)
        refused(folder, "not registered")
    assert not mark.exists()


def test_files_elsewhere_are_refused(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "base.txt").write_text("tree")
    change_card(folder, files={"../base.txt": "0"})
    refused(folder, "names a file elsewhere")


FEW_BOUNDS = {"bounds_log": [[[-1, 1]]], "held_out_jobs": [1]}
CROSSED = {"bounds_log": [[[1, -1]] * 2] * 6, "held_out_jobs": [1] * 6}
CHANGES = [
    *({"learned": {}}, {"learned": None}, {"parameters": {"speed": 2}}, {"parameters": []}, {"intervals": None}),
    *(
        {"intervals": FEW_BOUNDS},
        {"intervals": CROSSED},
        {"apps": "x"},
        {"apps": None},
        {"apps": 5},
        {"files": [1]},
        {"files": {"a": 1}},
        {"train": 3},
    ),
]


@pytest.mark.parametrize("changes", CHANGES)
def test_a_card_that_was_changed_is_one_sentence(folder: Path, changes: dict[str, object]) -> None:
    change_card(folder, **changes)
    with pytest.raises(ResultError):
        model_files.load_any(folder)


def test_a_forest_of_foreign_types_is_refused(log: Log, tmp_path: Path) -> None:
    import hashlib

    from skops import io

    fitted("random-forest", log.train.head(60)).save(tmp_path / "forest")
    content = io.dumps({"forest": Path("elsewhere"), "code": Evil()})
    (tmp_path / "forest" / "run_s.model").write_bytes(content)
    card = json.loads((tmp_path / "forest" / "card.json").read_text())
    change_card(tmp_path / "forest", files=card["files"] | {"run_s.model": hashlib.sha256(content).hexdigest()})
    refused(tmp_path / "forest", "holds the type")


@pytest.mark.parametrize("present", ["thesis.txt", "card.json"])
def test_what_is_no_model_is_not_replaced(log: Log, tmp_path: Path, present: str) -> None:
    (tmp_path / present).write_text('{"my": "own"}')
    with pytest.raises(ResultError, match=f"holds '{present}', which is not part of a saved surrogate"):
        fitted("app-mean", log.train.head(60)).save(tmp_path)
    assert (tmp_path / present).read_text() == '{"my": "own"}'
    assert len(list(tmp_path.iterdir())) == 1


def test_a_model_of_another_kind_leaves_nothing_behind(log: Log, folder: Path) -> None:
    fitted("app-mean", log.train.head(60)).save(folder)
    card = json.loads((folder / "card.json").read_text())
    assert {path.name for path in folder.iterdir()} == {"card.json", *card["files"]}


def test_a_save_that_was_cut_off_can_be_saved_again(log: Log, folder: Path) -> None:
    (folder / "card.json").unlink()
    fitted("app-mean", log.train.head(60)).save(folder)
    assert model_files.load_any(folder)


def test_a_card_is_json_to_any_reader(log: Log, tmp_path: Path) -> None:
    """Without power there are no bounds of it, and JSON knows no NaN."""
    fitted("scaling-law", log.train.head(200).assign(power_w=np.nan)).save(tmp_path)
    text = (tmp_path / "card.json").read_text()
    assert "NaN" not in text
    prediction = model_files.load_any(tmp_path).predict(log.test.head(1), np.array([1]))
    assert np.isnan(prediction.upper[..., 1]).all()
    assert np.isfinite(prediction.upper[..., 0]).all()


@pytest.mark.parametrize(
    ("name", "parameters"),
    [
        ("app-mean", {"seed": -1}),
        ("app-mean", {"seed": 2**31}),
        ("app-mean", {"seed": 1.5}),
        ("semi-parametric", {"idle_w": -5}),
        ("semi-parametric", {"idle_w": math.nan}),
        ("semi-parametric", {"idle_w": "400"}),
        ("semi-parametric", {"waiting_share": 1.1}),
        ("lightgbm", {"with_limit": "perhaps"}),
        ("lightgbm", {"cross_fit": 3}),
        ("lightgbm", {"embed": "mean"}),
        ("lightgbm", {"form": "papers"}),
    ],
)
def test_parameters_that_make_no_sense_are_refused(name: str, parameters: dict[str, object]) -> None:
    with pytest.raises(InvalidArgument) as caught:
        registry.make("surrogates", name, **parameters)
    assert str(next(iter(parameters.values()))) in str(caught.value)


class Evil:
    """A type that no forest needs."""


def test_the_card_says_what_the_model_is(folder: Path) -> None:
    card = json.loads((folder / "card.json").read_text())
    assert card["surrogate"] == "semi-parametric"
    assert len(card["features"]) == 35
    assert card["moves_with_nodes"] == list(COUNTED)
    assert card["train"]["rows"] == 200
    assert card["versions"]["lightgbm"]
    assert len(card["intervals"]["bounds_log"]) == 6


def test_saving_over_an_older_model_leaves_a_whole_one(log: Log, folder: Path) -> None:
    fitted("app-mean", log.train.head(50)).save(folder)
    assert type(model_files.load_any(folder)).__name__ == "AppMean"
    shutil.rmtree(folder)


def reseal(folder: Path, file: str, content: bytes) -> None:
    """Write *content* into *file* and its hash into the card, as somebody would who edits a model."""
    (folder / file).write_bytes(content)
    card = json.loads((folder / "card.json").read_text())
    card["files"][file] = hashlib.sha256(content).hexdigest()
    (folder / "card.json").write_text(json.dumps(card))


@pytest.mark.parametrize(("name", "file"), [("lightgbm", "run_s.model"), ("xgboost", "run_s.model")])
@pytest.mark.parametrize("share", [0.0, 0.5, 0.95])
def test_a_booster_cut_off_behind_a_right_hash_does_not_end_the_process(
    log: Log, tmp_path: Path, name: str, file: str, share: float
) -> None:
    """Both libraries call std::terminate on some of these."""
    fitted(name, log.train.head(60)).save(tmp_path / "model")
    content = (tmp_path / "model" / file).read_bytes()
    reseal(tmp_path / "model", file, content[: int(share * len(content))])
    refused(tmp_path / "model", "cut off or was changed")


@pytest.mark.parametrize("name", ["lightgbm", "xgboost", "random-forest"])
def test_trees_of_other_columns_than_the_card_says_are_refused(log: Log, tmp_path: Path, name: str) -> None:
    fitted(name, log.train.head(60)).save(tmp_path / "model")
    card = json.loads((tmp_path / "model" / "card.json").read_text())
    change_card(tmp_path / "model", parameters=card["parameters"] | {"with_limit": False})
    refused(tmp_path / "model", "made for 35 features, and their card says 34")


@pytest.mark.parametrize("apps", [None, 5, [2, 1], [[1]]])
def test_applications_that_are_none_are_refused(folder: Path, apps: object) -> None:
    change_card(folder, apps=apps)
    refused(folder, "list of applications|cannot be rebuilt")


def test_a_card_nested_without_end_is_refused(folder: Path) -> None:
    (folder / "card.json").write_text("[" * 100_000)
    refused(folder, "is no JSON")


def test_power_that_no_meter_can_have_measured_is_not_learned_from(log: Log) -> None:
    """Below 0, 0 or infinite: as if it had not been measured, in targets and in everybody's history."""
    workload = log.workload
    broken, missing = (workload.columns["mean_power_w"].astype(float) for _ in range(2))
    for place, value in ((3, -4.0), (5, 0.0), (8, math.inf)):
        broken[place], missing[place] = value, math.nan
    tables = [
        outcomes_table(replace(workload, columns={**workload.columns, "mean_power_w": w})) for w in (broken, missing)
    ]
    pd.testing.assert_frame_equal(*tables)
    table = log.train.head(60).copy()
    table.iloc[7, table.columns.get_loc("power_w")] = math.inf
    with pytest.raises(InvalidArgument, match="power of row 7 of the outcomes is inf"):
        fitted("lightgbm", table)


def test_bounds_of_a_sampled_model_are_those_of_all_jobs(log: Log, tmp_path: Path) -> None:
    """A sampler that likes hard jobs makes errors of the jobs it kept larger than those to come: all are held out."""
    found = []
    for name, sampler in (("all", None), ("hard", "difficulty:rate=0.25")):
        fitted("app-mean", log.train.head(1500), sampler=sampler).save(tmp_path / name)
        card = json.loads((tmp_path / name / "card.json").read_text())
        found.append((card["train"]["rows"], card["intervals"]["held_out_jobs"]))
    assert found[1][0] < 0.3 * found[0][0]
    assert sum(found[1][1]) == sum(found[0][1])
