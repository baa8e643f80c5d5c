"""Checkpoints: what was saved is what is loaded, and everything else is refused with a sentence."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from hpcsim.errors import HpcsimError
from hpcsim.policies.ppo_gtrxl.checkpoint import (
    Checkpoint,
    View,
    load_checkpoint,
    read_tensors,
    write_tensors,
    write_whole,
)
from hpcsim.policies.ppo_gtrxl.policy import shipped_checkpoints
from hpcsim.policies.ppo_gtrxl.untrained import network_config, untrained


@pytest.fixture(scope="module")
def checkpoint() -> Checkpoint:
    return replace(untrained(network_config(width=8)), view=View(window=5, must_start_after_s=9.0), card={"seed": 3})


@pytest.fixture
def path(checkpoint: Checkpoint, tmp_path: Path) -> Path:
    checkpoint.save(tmp_path / "network.safetensors")
    return tmp_path / "network.safetensors"


def test_saved_is_loaded(checkpoint: Checkpoint, path: Path) -> None:
    loaded = load_checkpoint(path)
    assert (loaded.config, loaded.view, loaded.card) == (checkpoint.config, checkpoint.view, {"seed": 3})
    assert loaded.weights.keys() == checkpoint.weights.keys()
    assert all(np.array_equal(loaded.weights[name], weights) for name, weights in checkpoint.weights.items())
    assert np.array_equal(loaded.seen.globals[1], checkpoint.seen.globals[1])


def test_card_beside_it_is_for_people(path: Path) -> None:
    card = json.loads(path.with_suffix(".json").read_text())
    assert card["card"] == {"seed": 3}
    assert card["network"]["width"] == 8


def changed(path: Path, **header: Any) -> None:
    old, tensors = read_tensors(path)
    write_tensors(path, tensors, old | header)


def test_other_features_are_named(path: Path) -> None:
    features = dict(read_tensors(path)[0]["features"])
    features["jobs"] = [*features["jobs"][:-1], "colour"]
    changed(path, features=features, features_sha256="0")
    with pytest.raises(HpcsimError, match=r"trained on other features \(jobs: colour, log_last_two\)"):
        load_checkpoint(path)


@pytest.mark.parametrize(
    ("tensors", "message"),
    [
        ({"pool.bias": np.zeros(3, np.float32)}, r"'pool.bias' has shape \(3,\), and needs \(8,\)"),
        ({"pool.bias": np.zeros(8)}, r"'pool.bias' holds values that are no finite float32"),
        ({"pool.bias": np.full(8, np.nan, np.float32)}, r"'pool.bias' holds values that are no finite float32"),
        ({"colour": np.zeros(1, np.float32)}, "holds weights 'colour', which this network has not"),
    ],
)
def test_weights_are_held_against_the_architecture(path: Path, tensors: dict[str, Any], message: str) -> None:
    header, weights = read_tensors(path)
    write_tensors(path, weights | tensors, header)
    with pytest.raises(HpcsimError, match=message):
        load_checkpoint(path)


def test_missing_weights_are_named(path: Path) -> None:
    header, weights = read_tensors(path)
    del weights["pool.bias"]
    write_tensors(path, weights, header)
    with pytest.raises(HpcsimError, match="lacks the weights 'pool\\.bias'"):
        load_checkpoint(path)


@pytest.mark.parametrize("data", [b"", b"not a checkpoint", b"\x80\x04\x95", b"\xff" * 64])
def test_what_is_no_checkpoint_is_refused(tmp_path: Path, data: bytes) -> None:
    (tmp_path / "file").write_bytes(data)
    with pytest.raises(HpcsimError, match="is no safetensors file, or a damaged one"):
        load_checkpoint(tmp_path / "file")


def test_truncated_checkpoint_is_refused(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-100])
    with pytest.raises(HpcsimError, match="damaged"):
        load_checkpoint(path)


def test_missing_checkpoint_is_named(tmp_path: Path) -> None:
    with pytest.raises(HpcsimError, match="There is no checkpoint"):
        load_checkpoint(tmp_path / "none.safetensors")


@pytest.mark.parametrize(
    ("header", "message"),
    [
        ({"format": "other"}, "is no checkpoint of PPO-GTrXL"),
        ({"network": {"colour": 1}}, "A network has no 'colour'"),
        ({"view": {"colour": 1}}, "is damaged"),
        ({"seen": {}}, "is damaged"),
    ],
)
def test_header_is_checked(path: Path, header: dict[str, Any], message: str) -> None:
    changed(path, **header)
    with pytest.raises(HpcsimError, match=message):
        load_checkpoint(path)


def test_old_file_stays_until_the_new_one_is_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_whole(tmp_path / "file", b"old")

    def killed(*_: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("os.fsync", killed)
    with pytest.raises(KeyboardInterrupt):
        write_whole(tmp_path / "file", b"new")
    assert (tmp_path / "file").read_bytes() == b"old"


@pytest.mark.parametrize("name", ["slowdown", "wait"])
def test_shipped_checkpoints_are_small_and_say_how_they_were_made(name: str) -> None:
    path = shipped_checkpoints()[name]
    assert path.stat().st_size < 300_000
    card = load_checkpoint(path).card
    assert {"command", "seed", "data", "starts_from", "validation"} <= card.keys()
    assert json.loads(path.with_suffix(".json").read_text())["card"] == card
