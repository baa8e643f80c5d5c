"""Studies: engines on a toy whose front is known, and simulations as objectives."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from numpy.typing import NDArray

from hpcsim import Cluster, make_policy, registry, simulate
from hpcsim.errors import ExperimentError, MissingExtra, UnknownName
from hpcsim.experiments.front_chart import write_front
from hpcsim.experiments.space import Dimension, dimensions, parameters
from hpcsim.experiments.study import Range, Study
from hpcsim.experiments.sweep import Sweep
from hpcsim.experiments.tune import search, tune
from hpcsim.results.statistics.student import mean_interval
from hpcsim.search import Search, is_on_front, snapped

BUDGET = 40
REFERENCE = (1.1, 1.1)
WHOLE = 0.1 + 2 / 3 + 0.11
"""Area that the toy's front dominates: the integral of 1.1 - (1 - sqrt x) over 0..1, and 1.1 x 0.1 beyond."""

AXES = [Dimension("policy.x", Range.model_validate({"low": 0.0, "high": 1.0})) for _ in range(2)]


def toy(points: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return ZDT1 in two dimensions (Zitzler, Deb and Thiele 2000): its front is y = 1 - sqrt x, at b = 0."""
    a, b = points.T
    g = 1 + 9 * b
    return np.stack([a, g * (1 - np.sqrt(a / g))], axis=1)


def area(values: NDArray[np.float64]) -> float:
    """Return the area between the points and the reference, swept from the left."""
    total, top = 0.0, REFERENCE[1]
    for x, y in sorted(map(tuple, values)):
        if x < REFERENCE[0] and y < top:
            total, top = total + (REFERENCE[0] - x) * (top - y), y
    return total


def share_found(name: str, seed: int, batch: int = 1) -> float:
    """Return how much of the toy's area an engine finds within the budget."""
    axes = [Dimension("policy.a", AXES[0].choices), Dimension("policy.b", AXES[1].choices)]
    engine: Search = registry.make("search", name, levels=[0, 0], budget=BUDGET, seed=seed)
    found: list[NDArray[np.float64]] = []

    def evaluate(settings: list[dict[str, Any]]) -> NDArray[np.float64]:
        values = toy(np.array([[s["policy.a"], s["policy.b"]] for s in settings]))
        found.append(values)
        return values

    search(engine, axes, evaluate, batch=batch)
    values = np.vstack(found)
    assert len(values) <= BUDGET
    return area(values) / WHOLE


needs_advisor = pytest.mark.skipif(
    find_spec("sklearn") is None or find_spec("moocore") is None,
    reason="scikit-learn and moocore are not installed: pip install 'hpcsim-des[advisor]'",
)


def test_area_of_the_front_is_what_the_integral_says() -> None:
    a = np.linspace(0, 1, 20_001)
    assert area(toy(np.stack([a, np.zeros_like(a)], axis=1))) == pytest.approx(WHOLE, abs=1e-3)


@needs_advisor
@pytest.mark.parametrize("seeds", [3, pytest.param(20, marks=pytest.mark.nightly)])
def test_model_finds_the_front_and_beats_chance(seeds: int) -> None:
    found = np.array([share_found("sms-ego", seed) for seed in range(seeds)])
    chance = np.array([share_found("random", seed) for seed in range(seeds)])
    assert (found >= 0.95).all(), found
    assert (found > chance).all(), chance


@needs_advisor
def test_model_asks_the_same_of_the_same_seed() -> None:
    assert share_found("sms-ego", 3, batch=4) == share_found("sms-ego", 3, batch=4) > 0.9


@pytest.mark.parametrize("name", ["random", "grid", pytest.param("sms-ego", marks=needs_advisor)])
def test_engines_stop_when_every_level_has_been_tried(name: str) -> None:
    axes = [Dimension("policy.a", [1, 2, 3]), Dimension("policy.b", ["x", "y"])]
    engine: Search = registry.make("search", name, levels=[axis.levels for axis in axes], budget=50, seed=1)
    asked: list[tuple[Any, ...]] = []

    def evaluate(settings: list[dict[str, Any]]) -> NDArray[np.float64]:
        asked.extend((s["policy.a"], s["policy.b"]) for s in settings)
        return np.array([[s["policy.a"], -s["policy.a"]] for s in settings], dtype=float)

    search(engine, axes, evaluate, batch=4)
    assert sorted(asked) == [(a, b) for a in (1, 2, 3) for b in ("x", "y")]


def test_grid_is_as_fine_as_the_budget_allows() -> None:
    engine: Search = registry.make("search", "grid", levels=[0, 3], budget=12)
    points = engine.ask(100)
    assert sorted(set(points[:, 0])) == pytest.approx([0, 1 / 3, 2 / 3, 1])
    assert sorted(set(points[:, 1])) == [0, 0.5, 1]
    assert len(points) == 12


def test_front_by_hand() -> None:
    values = np.array([[1, 5], [2, 2], [3, 3], [5, 1], [2, 2], [0, math.nan]])
    assert is_on_front(values).tolist() == [True, True, False, True, True, False]
    assert snapped(np.array([[0.3, 0.7, 0.9]]), [3, 0, 1]).tolist() == [[0.5, 0.7, 0]]


def test_dimensions_decode_ends_and_levels() -> None:
    whole = Dimension("policy.depth", Range.model_validate({"low": 0, "high": 10}))
    log = Dimension("cluster.nodes", Range.model_validate({"low": 10, "high": 1000, "scale": "log"}))
    assert (whole.levels, whole.value(0), whole.value(0.26), whole.value(1)) == (11, 0, 3, 10)
    assert (log.levels, log.value(0), log.value(0.5), log.value(1)) == (0, 10, 100, 1000)
    assert parameters({"order": "sjf", "depth": 1}, {"order.age": 2}) == {
        "order": {"name": "sjf", "age": 2},
        "depth": 1,
    }


STUDY: dict[str, Any] = {
    "name": "nodes",
    "objectives": ["nodes", "mean_wait_s"],
    "seeds": [1, 2],
    "policy": {"name": "backfill"},
    "workload": {"model": "poisson", "parameters": {"jobs": 60, "nodes": 16, "load": 0.9}},
    "space": {"policy": {"reservations": [0, 1]}, "cluster": {"nodes": {"low": 16, "high": 32}}},
    "search": {"engine": "random", "budget": 6, "batch": 3},
}


@pytest.fixture
def run_study(tmp_path: Path) -> Callable[..., pd.DataFrame]:
    def call(**change: Any) -> pd.DataFrame:
        options = {key: change.pop(key) for key in ("resume", "progress") if key in change}
        with ThreadPoolExecutor(1) as executor:
            return tune(Study.of(STUDY | change), tmp_path / "study", executor=executor, **options)

    return call


def test_trials_are_what_simulate_gives(run_study: Callable[..., pd.DataFrame], tmp_path: Path) -> None:
    table = run_study()
    assert len(table) == 6
    for row in table.to_dict("records"):
        nodes, reservations = row["cluster.nodes"], row["policy.reservations"]
        waits = []
        for seed in (1, 2):
            workload = registry.make("models", "poisson", jobs=60, nodes=16, load=0.9, seed=seed)
            policy = make_policy("backfill", reservations=reservations)
            waits.append(simulate(workload, Cluster.of_nodes(nodes), policy, seed=seed).summary()["mean_wait_s"])
        assert row["nodes"] == nodes
        assert row["mean_wait_s"] == pytest.approx(np.mean(waits))
        assert row["mean_wait_s_low"] == pytest.approx(
            np.mean(waits) - 12.7062 * abs(waits[0] - waits[1]) / 2, rel=1e-4
        )
    best = table[["nodes", "mean_wait_s"]].to_numpy(dtype=float)
    assert table["is_on_front"].tolist() == is_on_front(best).tolist()
    assert len(Sweep.load(tmp_path / "study").table()) == 12


def test_study_is_resumed_without_running_anything_again(
    run_study: Callable[..., pd.DataFrame], tmp_path: Path
) -> None:
    first = run_study()
    cells = tmp_path / "study" / "cells"
    before = {path: path.stat().st_mtime_ns for path in cells.iterdir()}
    with pytest.raises(ExperimentError, match="Add --resume"):
        run_study()
    assert run_study(resume=True).equals(first)
    assert {path: path.stat().st_mtime_ns for path in cells.iterdir()} == before


def test_utilisation_is_to_be_high(run_study: Callable[..., pd.DataFrame]) -> None:
    table = run_study(objectives=["utilisation"])
    assert table["utilisation"].idxmax() in table.index[table["is_on_front"]]


def test_page_has_every_setting_and_the_front(run_study: Callable[..., pd.DataFrame]) -> None:
    table = run_study()
    page = write_front(table, ["nodes", "mean_wait_s"], "a < b")
    assert page.count("<circle") == 6
    assert page.count('class="dot front"') == table["is_on_front"].sum()
    assert "a &lt; b" in page
    assert "http" not in page.replace("http://www.w3.org", "")


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"objectives": ["mean_wait"]}, "no objective 'mean_wait'. Did you mean 'mean_wait_s'"),
        ({"space": {}}, "space names nothing to search"),
        ({"space": {"cluster": {"node": [1]}}}, "space.cluster.node cannot be searched. Did you mean 'nodes'"),
        ({"space": {"policy": {"depth": {"low": 3, "high": 3}}}}, "low < high"),
        ({"search": {"bugdet": 3}}, "unknown key 'search.bugdet'. Did you mean 'budget'"),
        ({"workload": {"model": "poisson", "loads": [0.5, 0.6]}}, "one workload at one load"),
    ],
)
def test_wrong_study_is_one_sentence(change: dict[str, Any], words: str) -> None:
    with pytest.raises(ExperimentError) as caught:
        Study.of(STUDY | change)
    assert words in str(caught.value)


def test_engine_without_its_packages_names_the_extra(
    run_study: Callable[..., pd.DataFrame], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("hpcsim.surrogates.search.sms_ego.PACKAGES", {"no_such_module": "scikit-learn"})
    with pytest.raises(MissingExtra, match=r"scikit-learn.*pip install 'hpcsim-des\[advisor\]'"):
        run_study(search={"engine": "sms-ego"})


def test_unknown_engine_names_the_known(run_study: Callable[..., pd.DataFrame]) -> None:
    with pytest.raises(UnknownName, match=r"Known: exact, grid, loggrid, mobo, .*sms-ego"):
        run_study(search={"engine": "annealing"})


def test_interval_by_hand() -> None:
    """Mean 2, standard deviation 1, t(2) = 4.3027: 2 -+ 2.4841."""
    assert mean_interval([1, 2, 3])[:3] == pytest.approx((2, -0.4841, 4.4841), abs=1e-4)
    assert math.isnan(mean_interval([1.0])[1])
    assert all(map(math.isnan, mean_interval([])))
    assert mean_interval([3.0, 3.0]) == (3, 3, 3, 0)
    assert mean_interval([0.0, 0.0]) == (0, 0, 0, 1)


def test_example_study_is_sound(root: Path) -> None:
    study = Study.load(root / "examples" / "tune.toml")
    assert [axis.name for axis in dimensions(study)] == ["policy.reservations", "cluster.nodes"]


def test_command(tmp_path: Path) -> None:
    from typer.testing import CliRunner

    from hpcsim.cli import app

    path = tmp_path / "study.toml"
    path.write_text(
        'objectives = ["nodes", "mean_wait_s"]\nseeds = [1, 2]\n'
        '[policy]\nname = "easy"\n[workload]\nmodel = "poisson"\n'
        "parameters = { jobs = 40, nodes = 16 }\n[space.cluster]\nnodes = [16, 24, 32]\n[search]\nbudget = 3\n"
    )
    outcome = CliRunner().invoke(app, ["tune", str(path), "--out", str(tmp_path / "out")])
    assert outcome.exit_code == 0, outcome.output
    assert "on the front" in outcome.stdout
    assert "3 of 3 settings" in outcome.stderr
    assert (tmp_path / "out" / "front.html").read_text().startswith("<!doctype html>")
    again = CliRunner().invoke(app, ["tune", str(path), "--out", str(tmp_path / "out"), "--resume", "--json"])
    assert len(json.loads(again.stdout)["trials"]) == 3


@pytest.mark.skipif(find_spec("botorch") is None, reason="pip install 'hpcsim-des[mobo]'")
def test_study_is_searched_by_expected_hypervolume(run_study: Callable[..., pd.DataFrame]) -> None:
    """Both ends of the machine's sizes are tried before there is a model, and nothing is tried twice."""
    table = run_study(search={"engine": "mobo-noisy", "budget": 14, "batch": 2})
    settings = table[["policy.reservations", "cluster.nodes"]]
    assert len(settings.drop_duplicates()) == len(settings) == 14
    assert {16, 32} <= set(table["cluster.nodes"])
