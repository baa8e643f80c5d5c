"""Whole trainings, tiny: deterministic, resumable, declared."""

from __future__ import annotations

import csv
import hashlib
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from hpcsim import Cluster
from hpcsim.errors import HpcsimError, MissingExtra
from hpcsim.policies.ppo_gtrxl.checkpoint import load_checkpoint, read_tensors, write_tensors
from hpcsim.policies.ppo_gtrxl.sources import Draws, Source, generated, given, validation_of
from hpcsim.policies.ppo_gtrxl.training import train
from hpcsim.policies.ppo_gtrxl.training_config import TrainingConfig
from hpcsim.policies.ppo_gtrxl.training_state import begin
from hpcsim.policies.ppo_gtrxl.untrained import network_config
from tests.policies.ppo_gtrxl.test_policy import crowded

TINY = {"training.updates": 2, "training.jobs": 40, "training.pool": 2, "training.group": 2, "training.epochs": 1}


def tiny(out: Path, **changes: Any) -> Path:
    options: dict[str, Any] = {
        "logs": {"small": (crowded(300), Cluster.of_processors(64))},
        "generates": False,
        "preset": "smoke",
        "settings": TINY | changes.pop("settings", {}),
    }
    return train(out=out, **(options | changes))


def digest(out: Path) -> str:
    _, tensors = read_tensors(out / "seed-0" / "state.safetensors")
    return hashlib.sha256(b"".join(tensors[name].tobytes() for name in sorted(tensors))).hexdigest()


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Train for two updates; the smoke preset does it twice and checks itself."""
    out = tmp_path_factory.mktemp("trained")
    torch.manual_seed(11)
    before, threads = torch.random.get_rng_state(), torch.get_num_threads()
    tiny(out, command="hpcsim train ppo-gtrxl")
    assert torch.equal(before, torch.random.get_rng_state()), "the global generator was touched"
    assert torch.get_num_threads() == threads
    return out


class Killed(Exception):
    """Ends a training where it stands."""


def test_killed_training_goes_on_to_the_same_weights(trained: Path, tmp_path: Path) -> None:
    def kill(line: str) -> None:
        if line.startswith("update 1/"):
            raise Killed

    with pytest.raises(Killed):
        tiny(tmp_path, say=kill)
    lines: list[str] = []
    tiny(tmp_path, resume=True, say=lines.append)
    assert not any(line.startswith("update 1/") for line in lines)
    assert digest(tmp_path) == digest(trained)


@pytest.mark.slow
def test_training_shot_dead_goes_on_to_the_same_weights(tmp_path: Path) -> None:
    """SIGKILL, which nobody can catch, in the midst of the second update or of what is written there."""
    sets = [f"--set={key}={value}" for key, value in (TINY | {"training.updates": 3}).items()]
    command = [sys.executable, "-m", "hpcsim.cli", "train", "ppo-gtrxl", "--preset", "smoke", *sets]

    def start(out: Path, *more: str) -> subprocess.Popen[str]:
        return subprocess.Popen([*command, "--out", str(out), *more], stderr=subprocess.PIPE, text=True)

    shot = start(tmp_path / "shot")
    assert shot.stderr is not None
    with shot, shot.stderr as lines:
        told = next(line for line in lines if line.startswith("update 1/3"))
        shot.send_signal(signal.SIGKILL)
    assert shot.returncode == -signal.SIGKILL, told
    for out, more in ((tmp_path / "shot", ["--resume"]), (tmp_path / "whole", [])):
        with start(out, *more) as process:
            _, said = process.communicate(timeout=600)
        assert process.returncode == 0, said
        assert ("update 1/3" in said) == (not more)
    assert digest(tmp_path / "shot") == digest(tmp_path / "whole")


def test_another_training_cannot_go_on_there(trained: Path) -> None:
    with pytest.raises(HpcsimError, match=r"has training\.learning_rate = 0\.001, and 1\.0 is asked for"):
        tiny(trained, resume=True, settings={"training.learning_rate": 1.0})


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"settings": {"validation.sequences": 3}}, r"has validated_on\.sequences = 2, and 3 is asked for"),
        ({"settings": {"validation.jobs": 30}}, r"has validated_on\.jobs = \d+, and 30 is asked for"),
        ({"logs": {"small": (crowded(300), Cluster.of_processors(80))}}, r"has machines\.0 = .*, and .* is asked for"),
        (
            {"logs": {"small": (crowded(301), Cluster.of_processors(64))}},
            r"has data_sha256\.0 = '\w+', and '\w+'",
        ),
    ],
)
def test_other_validation_machines_or_jobs_are_another_training(
    trained: Path, changes: dict[str, Any], message: str
) -> None:
    """Else the best so far would be held against a cost on other sequences."""
    before = digest(trained)
    with pytest.raises(HpcsimError, match=message):
        tiny(trained, resume=True, **changes)
    assert digest(trained) == before


@pytest.mark.parametrize("seed", [-1, 2**63, 1.5, True])
def test_a_seed_that_is_none_is_refused(tmp_path: Path, seed: Any) -> None:
    with pytest.raises(HpcsimError, match="Give a whole number from 0 to"):
        tiny(tmp_path / "out", seed=seed)
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("damage", ["gone", "cut short"])
def test_a_lost_best_network_is_told(trained: Path, tmp_path: Path, damage: str) -> None:
    (tmp_path / "seed-0").mkdir()
    shutil.copy(trained / "seed-0" / "state.safetensors", tmp_path / "seed-0")
    if damage == "cut short":
        (tmp_path / "seed-0" / "best.safetensors").write_bytes(b"half")
    with pytest.raises(HpcsimError, match=r"best\.safetensors.*\. Put it back, or train this seed anew"):
        tiny(tmp_path, resume=True)


def test_each_seed_and_update_draws_sequences_of_its_own() -> None:
    draws = Draws([Source("small", crowded(300), Cluster.of_processors(64))], TrainingConfig(jobs=40, pool=8))
    found = {
        tuple(one.sequence.key for one in draws.draw(seed, update)) for seed, update in ((0, 0), (1, 0), (0, 1), (0, 0))
    }
    assert len(found) == 3


def test_a_training_is_not_begun_anew_where_one_stands(trained: Path) -> None:
    before = digest(trained)
    with pytest.raises(HpcsimError, match=r"holds a training already\. Go on with it by --resume, or name another"):
        tiny(trained)
    assert digest(trained) == before


@pytest.mark.parametrize("fault", ["header", "shape", "missing"])
def test_damaged_training_is_told(trained: Path, tmp_path: Path, fault: str) -> None:
    header, tensors = read_tensors(trained / "seed-0" / "state.safetensors")
    if fault == "header":
        del header["rows"]
    elif fault == "shape":
        tensors["network.pool.bias"] = tensors["network.pool.bias"][:-1]
    else:
        del tensors["network.pool.bias"]
    write_tensors(tmp_path / "seed-0" / "state.safetensors", tensors, header)
    with pytest.raises(HpcsimError, match=r"state\.safetensors is damaged: .* Start anew in another folder"):
        tiny(tmp_path, resume=True)


def test_truncated_training_is_told(trained: Path, tmp_path: Path) -> None:
    whole = (trained / "seed-0" / "state.safetensors").read_bytes()
    (tmp_path / "seed-0").mkdir()
    (tmp_path / "seed-0" / "state.safetensors").write_bytes(whole[: len(whole) // 2])
    with pytest.raises(HpcsimError, match=r"state\.safetensors is no safetensors file.* Start anew in another folder"):
        tiny(tmp_path, resume=True)


def test_folder_is_tried_before_anything_is_computed(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("mine")
    said: list[str] = []
    with pytest.raises(OSError, match="file"):
        tiny(tmp_path / "file", say=said.append)
    assert said == []
    assert (tmp_path / "file").read_text() == "mine"


def test_rates_fall_in_straight_lines(tmp_path: Path) -> None:
    """From the first to the last value over the updates: after one of two others, half of the way."""
    settings = {"training.entropy_bonus": 0.02, "training.last_entropy_bonus": 0.01, "training.updates": 3}
    tiny(tmp_path, settings=settings)
    rows = list(csv.DictReader((tmp_path / "seed-0" / "progress.csv").read_text().splitlines()))
    assert [float(row["entropy_bonus"]) for row in rows] == pytest.approx([0.02, 0.015, 0.01])
    assert [float(row["learning_rate"]) for row in rows] == pytest.approx([1e-3, 5.5e-4, 1e-4])


def test_table_has_a_row_for_each_update(trained: Path) -> None:
    rows = list(csv.DictReader((trained / "seed-0" / "progress.csv").read_text().splitlines()))
    assert [row["update"] for row in rows] == ["1", "2"]
    assert float(rows[1]["ratio_error"]) <= 1e-5
    assert float(rows[1]["validation"]) > 0
    assert rows[0]["validation"] == ""


def test_training_ends_after_so_many_decisions(tmp_path: Path) -> None:
    """Exactly so many, whatever an update has; rates fall until there, and the last update is validated."""
    tiny(tmp_path, settings={"training.decisions": 201, "training.updates": 50})
    rows = list(csv.DictReader((tmp_path / "seed-0" / "progress.csv").read_text().splitlines()))
    learned = [int(row["decisions"]) for row in rows]
    assert sum(learned) == 201
    assert len(learned) > 1
    assert rows[-1]["validation"]
    rates = [1e-3 - (1e-3 - 1e-4) * sum(learned[:at]) / 201 for at in range(len(learned))]
    assert [float(row["learning_rate"]) for row in rows] == pytest.approx(rates)


def test_card_declares_how_the_network_was_made(trained: Path) -> None:
    card = load_checkpoint(trained / "chosen.safetensors").card
    assert card["command"] == "hpcsim train ppo-gtrxl"
    assert card["starts_from"] == {"prior": "saf", "cloned": None}
    assert card["data"] == ["small"]
    assert card["validation"]["ratio_to_saf"] > 0


def test_cloning_is_declared_and_clones(tmp_path: Path) -> None:
    """Cloned from SAF, a network without a prior chooses by area: it costs what SAF costs."""
    settings = {
        "training.updates": 1,
        "training.clone_updates": 80,
        "training.learning_rate": 1e-2,
        "training.last_learning_rate": 0.0,
        "training.target_kl": 0.0,
        "network.prior": "none",
        "training.group": 6,
    }
    out = tiny(tmp_path, settings=settings)
    card = load_checkpoint(out).card
    assert card["starts_from"] == {"prior": "none", "cloned": "saf"}
    assert card["validation"]["ratio_to_saf"] < 1.3


def test_logs_that_are_given_are_cut_by_time() -> None:
    log = Source("log", crowded(100), Cluster.of_processors(64))
    first, second = (given([log], part)[0].workload for part in ("training", "validation"))
    submit = np.sort(log.workload.columns["submit_s"])
    assert (len(first), len(second)) == (50, 10)
    assert first.columns["submit_s"].max() <= submit[49]
    assert submit[49] <= second.columns["submit_s"].min() <= second.columns["submit_s"].max() <= submit[59]


def test_first_weights_follow_from_their_seed() -> None:
    first, again, other = (begin(network_config(), seed, torch.device("cpu")).network for seed in (1, 1, 2))
    assert all(torch.equal(a, b) for a, b in zip(first.parameters(), again.parameters(), strict=True))
    assert not all(torch.equal(a, b) for a, b in zip(first.parameters(), other.parameters(), strict=True))


def test_generated_logs_follow_from_their_seed() -> None:
    first, again, other = (generated(50, seed) for seed in (1, 1, 2))
    assert [one.workload.sha256() for one in first] == [one.workload.sha256() for one in again]
    assert not {one.workload.sha256() for one in first} & {one.workload.sha256() for one in other}
    with_users = [one for one in first if "habits" in one.name]
    assert with_users
    for one in with_users:
        assert (one.workload.columns["limit_s"] >= one.workload.columns["run_s"]).all()
        assert len(set(one.workload.columns["user_id"].tolist())) > 3


def test_draws_follow_from_seed_and_update_and_are_of_the_harder_part() -> None:
    source = Source("log", crowded(300), Cluster.of_processors(64))
    config = TrainingConfig(sequences=3, jobs=40, pool=4)
    draws = Draws([source], config)
    first, again, later = ([one.sequence.key for one in draws.draw(*at)] for at in ((0, 0), (0, 0), (0, 1)))
    assert first == again != later
    every = Draws([source], TrainingConfig(sequences=3, jobs=40, pool=4, harder_share=1.0))
    kept, pool = (one._pool(0, 0, 0).kept for one in (draws, every))
    cost = draws._costs[0]
    assert sorted(map(cost, kept)) == sorted(map(cost, pool))[2:]


def test_lighter_loads_can_be_trained_and_validated_on() -> None:
    source = Source("log", crowded(300), Cluster.of_processors(64))
    light = TrainingConfig(sequences=40, jobs=40, pool=40, harder_share=1.0, longest_stretch=3.0)
    for drawn in (Draws([source], light).draw(0, 0), validation_of([source], light, 40, 40, 0)):
        assert 2 < max(one.sequence.key[-1] for one in drawn) <= 3
    plain = validation_of([source], TrainingConfig(jobs=40), 5, 40, 0)
    assert {one.sequence.key[-1] for one in plain} == {1.0}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"preset": "smok"}, "There is no preset 'smok'. Did you mean 'smoke'"),
        ({"settings": {"training.colour": 1}}, "A training has no 'colour'"),
        ({"settings": {"colour": 1}}, "There is no setting 'colour'"),
        ({"settings": {"network.gate": "grue"}}, "gate is 'grue'. Did you mean 'gru'"),
        ({"settings": {"network.colour": 1}}, "A network has no 'colour'"),
        ({"settings": {"network.prior": "safe"}}, "prior is 'safe'. Did you mean 'saf'"),
        ({"settings": {"network.prior_weight": float("nan")}}, "prior_weight is nan"),
        ({"settings": {"network.gate_bias": "two"}}, "gate_bias is 'two'"),
        ({"settings": {"network.token_attention": "maybe"}}, "token_attention is 'maybe'. Give true or false"),
        ({"settings": {"network.memory": 10**11}}, "memory is 100000000000. Give a whole number from 0 to 4,096"),
        ({"settings": {"view.colour": 1}}, "A view has no 'colour'"),
        ({"settings": {"view.window": "many"}}, "window is 'many'"),
        ({"settings": {"view.wait_cap_s": "long"}}, "wait_cap_s is 'long'"),
        ({"settings": {"view.must_start_after_s": 5}}, r"Set training\.must_start_after_s"),
        ({"settings": {"training.must_start_after_s": "x"}}, "must_start_after_s is 'x'"),
        ({"settings": {"training.must_start_after_s": float("nan")}}, "must_start_after_s is nan"),
        ({"settings": {"training.objective": [1]}}, r"objective is \[1\]"),
        ({"settings": {"training.clone_of": "f1"}}, "clone_of is 'f1'. Give one of: saf, sjf"),
        ({"settings": {"training.learning_rate": float("inf")}}, "learning_rate is inf"),
        ({"settings": {"training.harder_share": 0}}, "harder_share is 0"),
        ({"settings": {"network.job_features": 3}}, "follows from the features"),
        ({"settings": {"validation.colour": 1}}, "There is no setting 'validation.colour'"),
        ({"settings": {"validation.sequences": 0}}, "validation.sequences is 0"),
        ({"settings": {"training.longest_stretch": 0.5}}, "longest_stretch is 0.5. Give a number from 1 to 10"),
        ({"logs": {}, "generates": False}, "There is nothing to train on"),
        ({"settings": {"training.jobs": 5000}}, "has 150 jobs to train on, and a sequence takes 5000"),
        ({"settings": {"training.decisions": -1}}, "decisions is -1"),
        ({"settings": {"generated.job": 1}}, "no setting 'generated.job'. Did you mean 'generated.jobs'"),
        ({"settings": {"generated.jobs": 0}}, "generated.jobs is 0"),
        ({"workers": 0}, "workers is 0"),
    ],
)
def test_what_cannot_be_trained_is_told(tmp_path: Path, options: dict[str, Any], message: str) -> None:
    with pytest.raises(HpcsimError, match=message):
        tiny(tmp_path, **options)
    assert not list(tmp_path.iterdir())


def test_without_torch_the_extra_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(MissingExtra, match=r"hpcsim-des\[rl\]"):
        train(out=tmp_path, preset="smoke")


@pytest.mark.slow
def test_number_of_workers_changes_nothing(trained: Path, tmp_path: Path) -> None:
    tiny(tmp_path, workers=2)
    assert digest(tmp_path) == digest(trained)
