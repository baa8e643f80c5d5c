"""Sweeps over power caps and advisors: their results count as whole, and their own figures can be compared."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from hpcsim import Cluster, registry, simulate
from hpcsim.errors import ExperimentError
from hpcsim.experiments.experiment import Experiment
from hpcsim.experiments.sweep import Sweep
from hpcsim.policies import EASY

RunHere = Callable[..., Sweep]
MACHINE = """
[[groups]]
name = "all"
nodes = 16
power = { idle_w = 100, busy_w = 300 }
"""
MODEL = {"model": "poisson", "parameters": {"jobs": 60, "nodes": 16, "load": 0.9}}


def experiment(folder: Path, **more: Any) -> Experiment:
    (folder / "machine.toml").write_text(MACHINE)
    table = {
        "seeds": [1, 2, 3],
        "metrics": ["mean_wait_s", "energy_j", "peak_power_w"],
        "baseline": {"power_cap_w": float("inf")},
        "policies": [{"name": "easy"}],
        "workloads": [MODEL],
        "clusters": [{"file": "machine.toml", "power_caps_w": [float("inf"), 4_000.0]}],
    }
    return Experiment.of(table | more, folder=folder)


def test_runs_under_a_cap_are_whole_and_compared_by_their_energy(tmp_path: Path, sweep_here: RunHere) -> None:
    sweep = sweep_here(experiment(tmp_path))
    table = sweep.table()
    assert set(table["status"]) == {"finished"}
    assert (table["peak_power_w"] <= table["power_cap_w"]).all()
    comparisons = sweep.comparisons().set_index("metric")
    assert comparisons.loc["peak_power_w", "verdict"] == "better"
    assert comparisons.loc["mean_wait_s", "difference"] > 0
    cluster = Cluster.load(tmp_path / "machine.toml")
    alone = simulate(registry.make("models", "poisson", **MODEL["parameters"], seed=1), cluster, EASY(), seed=1)
    assert table["energy_j"][0] == alone.summary()["energy_j"]


def test_truncated_table_of_power_is_damage(tmp_path: Path, sweep_here: RunHere) -> None:
    sweep = sweep_here(experiment(tmp_path))
    power = next((sweep.folder / "cells").glob("*/power.parquet"))
    power.write_bytes(power.read_bytes()[:-20])
    states = list(sweep.table()["status"])
    assert sorted(set(states)) == ["damaged", "finished"]
    assert states.count("damaged") == 1


def test_advisors_are_a_dimension_and_compared(tmp_path: Path, sweep_here: RunHere) -> None:
    model = {"model": "synth-pm100", "parameters": {"jobs": 60, "nodes": 64, "load": 0.8, "preset": "habit-driven"}}
    described = experiment(
        tmp_path,
        metrics=["mean_wait_s", "advice_changed"],
        baseline={"advisor": "none"},
        workloads=[model],
        clusters=[{"nodes": 64}],
        advisors=[{"name": "none"}, {"name": "scaling-law", "grid": {"slowdown": [1.1, 2.0]}}],
    )
    sweep = sweep_here(described)
    table = sweep.table()
    assert set(table["status"]) == {"finished"}
    assert list(dict.fromkeys(table["advisor"])) == ["none", "scaling-law slowdown=1.1", "scaling-law slowdown=2"]
    assert (table.loc[table["advisor"] != "none", "advice_changed"] > 0).all()
    comparisons = sweep.comparisons()
    assert set(comparisons.loc[comparisons["metric"] == "mean_wait_s", "pairs"]) == {3}


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"clusters": [{"nodes": 16}], "baseline": "easy"}, "power is described, so no run has 'energy_j'"),
        ({"metrics": ["advice_changed"]}, "no advisor, so no run has 'advice_changed'"),
    ],
)  # fmt: skip
def test_figures_that_no_run_has_are_refused_before_any(
    change: dict[str, Any], words: str, tmp_path: Path, sweep_here: RunHere
) -> None:
    with pytest.raises(ExperimentError, match=words):
        sweep_here(experiment(tmp_path, **change))
