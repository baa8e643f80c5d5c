"""Experiment files: what they may say, and what is said of a wrong one."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pytest

from hpcsim.errors import ExperimentError, UnknownName
from hpcsim.experiments.experiment import Experiment

MINIMAL: dict[str, Any] = {"policies": [{"name": "easy"}], "workloads": [{"model": "poisson"}]}


def test_smallest_experiment_has_defaults() -> None:
    experiment = Experiment.of(MINIMAL)
    assert experiment.seeds == [0]
    assert experiment.metrics == ["mean_wait_s", "mean_bounded_slowdown", "utilisation"]
    assert experiment.run.model_dump() == {
        "until": None,
        "grace_s": 0,
        "kill_at_limit": True,
        "feedback": False,
        "check": False,
    }


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"polices": []}, ["unknown key 'polices'", "'policies'"]),
        ({"policies": [{"name": "easy", "grids": {}}]}, ["'policies.0.grids'", "Did you mean 'grid'", "parameters"]),
        ({"workloads": [{"modell": "poisson"}]}, ["'workloads.0.modell'", "'model'"]),
        ({"workloads": [{"model": "poisson", "windows": [{"job": 3}]}]}, ["'workloads.0.windows.0.job'", "'jobs'"]),
        ({"run": {"untill": 3}}, ["'run.untill'", "'until'"]),
        ({"clusters": [{"nodes": 4, "power_cap_w": [1.0]}]}, ["'clusters.0.power_cap_w'", "'power_caps_w'"]),
        ({"workloads": []}, ["workloads", "at least 1"]),
        ({"workloads": [{}]}, ["workloads.0", "a file or a model"]),
        ({"workloads": [{"model": "poisson", "file": "x.swf"}]}, ["a file or a model"]),
        ({"workloads": [{"model": "poisson", "loads": [0.0]}]}, ["load of 0.0 makes no sense"]),
        ({"clusters": [{}]}, ["one of nodes, processors and file"]),
        ({"clusters": [{"nodes": 4, "power_caps_w": [-1.0]}]}, ["cap of -1.0 W"]),
        ({"metrics": ["mean_wait"]}, ["no metric 'mean_wait'", "Did you mean 'mean_wait_s'"]),
        ({"seeds": [1, 1]}, ["listed twice"]),
        ({"seeds": [-1]}, ["from 0"]),
        ({"seeds": ["1"]}, ["seeds.0", "integer", "'1'"]),
        ({"policies": [{"name": "easy", "grid": {"depth": []}}]}, ["grid.depth lists no value"]),
        (
            {"policies": [{"name": "easy", "grid": {"depth": [1]}, "parameters": {"depth": 2}}]},
            ["'depth' is in both parameters and grid"],
        ),
        (
            {"workloads": [{"model": "poisson", "windows": [{"jobs": 3, "until_s": 5.0}]}]},
            ["by skip and jobs, or by from_s and until_s"],
        ),
        ({"workloads": [{"model": "poisson", "windows": [{"from_s": 5.0, "until_s": 5.0}]}]}, ["ends after it begins"]),
    ],
)
def test_wrong_file_is_one_sentence_that_names_the_place(change: dict[str, Any], words: list[str]) -> None:
    with pytest.raises(ExperimentError) as caught:
        Experiment.of(MINIMAL | change, source="my.toml")
    text = str(caught.value)
    assert text.startswith("my.toml: ")
    assert "\n" not in text
    assert all(word in text for word in words), text


def test_missing_file_and_broken_toml(tmp_path: Path) -> None:
    with pytest.raises(ExperimentError, match="Cannot read the experiment file"):
        Experiment.load(tmp_path / "none.toml")
    (tmp_path / "bad.toml").write_text("seeds = [1\n")
    with pytest.raises(ExperimentError, match=r"is not TOML: .*line"):
        Experiment.load(tmp_path / "bad.toml")


def test_paths_are_taken_from_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "e.toml").write_text(
        '[[policies]]\nname = "mine.py:Mine"\n[[policies]]\nname = "hpcsim.policies:EASY"\n'
        '[[workloads]]\nfile = "log.swf"\n[[clusters]]\nfile = "../machine.toml"\n'
    )
    monkeypatch.chdir("/")
    experiment = Experiment.load(tmp_path / "in" / "e.toml")
    assert experiment.policies[0].name == f"{tmp_path / 'in' / 'mine.py'}:Mine"
    assert experiment.policies[1].name == "hpcsim.policies:EASY"
    assert experiment.workloads[0].file == str(tmp_path / "in" / "log.swf")
    assert Path(str(experiment.clusters[0].file)).resolve() == tmp_path / "machine.toml"


def test_infinite_power_cap_is_no_cap() -> None:
    experiment = Experiment.from_toml(
        '[[policies]]\nname = "easy"\n[[workloads]]\nmodel = "poisson"\n'
        "[[clusters]]\nnodes = 4\npower_caps_w = [inf, 100.0]\n"
    )
    assert experiment.clusters[0].power_caps_w == [math.inf, 100.0]


def test_committed_schema_is_the_schema(root: Path) -> None:
    """`hpcsim sweep --schema > docs/experiment.schema.json` makes it anew."""
    committed = json.loads((root / "docs" / "experiment.schema.json").read_text(encoding="utf-8"))
    assert committed == json.loads(json.dumps(Experiment.json_schema()))
    assert set(committed["properties"]) == set(Experiment.model_fields)
    assert committed["additionalProperties"] is False


def test_example_file_is_sound(root: Path) -> None:
    experiment = Experiment.load(root / "examples" / "sweep.toml")
    assert experiment.baseline == "fcfs"


def test_unknown_policy_is_found_before_anything_is_written(tmp_path: Path, sweep_here: Any) -> None:
    with pytest.raises(UnknownName, match="Did you mean 'easy'"):
        sweep_here(Experiment.of(MINIMAL | {"policies": [{"name": "esay"}]}))
    with pytest.raises(UnknownName, match="Did you mean 'depth'"):
        sweep_here(Experiment.of(MINIMAL | {"policies": [{"name": "easy", "grid": {"dept": [1]}}]}))
    assert not (tmp_path / "sweep").exists()
