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
        ({"network": [1]}, "has no table 'network'"),
        ({"view": {"colour": 1}}, "is damaged: A view has no 'colour'"),
        ({"view": {"window": 0}}, "is damaged: window is 0"),
        ({"view": {"window": 10**12}}, "is damaged: window is 1000000000000"),
        ({"view": {"wait_cap_s": "x"}}, "is damaged: wait_cap_s is 'x'"),
        ({"view": {"must_start_after_s": float("nan")}}, "is damaged: must_start_after_s is nan"),
        ({"view": None}, "has no table 'view'"),
        ({"card": "a network"}, "has no table 'card'"),
        ({"seen": {}}, "is damaged: The ranges of the features cannot be read"),
    ],
)
def test_header_is_checked(path: Path, header: dict[str, Any], message: str) -> None:
    changed(path, **header)
    with pytest.raises(HpcsimError, match=message):
        load_checkpoint(path)


@pytest.mark.parametrize(
    ("choices", "message"),
    [
        ({"prior": "colour"}, "prior is 'colour'"),
        ({"prior": ["saf"]}, r"prior is \['saf'\]"),
        ({"prior_weight": 1e300}, r"prior_weight is 1e\+300"),
        ({"prior_weight": float("nan")}, "prior_weight is nan"),
        ({"gate_bias": "x"}, "gate_bias is 'x'"),
        ({"token_attention": 1}, "token_attention is 1"),
        ({"blocks": 10**9}, "blocks is 1000000000"),
        ({"memory": 10**12}, "memory is 1000000000000"),
    ],
)
def test_architecture_in_the_header_is_checked(path: Path, choices: dict[str, Any], message: str) -> None:
    changed(path, network=read_tensors(path)[0]["network"] | choices)
    with pytest.raises(HpcsimError, match=f"is damaged: {message}"):
        load_checkpoint(path)


@pytest.mark.parametrize(
    ("pair", "message"),
    [
        ([[0.0], [1.0]], "There are 1 ranges for 11 features of globals"),
        ([[0.0] * 11], "cannot be read"),
        ([["a"] * 11, ["b"] * 11], "cannot be read"),
        ([[1.0] * 11, [0.0] * 11], "no pairs of equally long lists of finite numbers"),
        ([[0.0] * 11, [float("inf")] * 11], "no pairs of equally long lists of finite numbers"),
        ([[float("nan")] * 11, [1.0] * 11], "no pairs of equally long lists of finite numbers"),
    ],
)
def test_ranges_in_the_header_are_checked(path: Path, pair: list[Any], message: str) -> None:
    changed(path, seen=read_tensors(path)[0]["seen"] | {"globals": pair})
    with pytest.raises(HpcsimError, match=f"is damaged: .*{message}"):
        load_checkpoint(path)


def test_header_that_never_ends_its_brackets_is_refused(path: Path) -> None:
    data = path.read_bytes()
    size = int.from_bytes(data[:8], "little")
    tensors = json.loads(data[8 : 8 + size]) | {"__metadata__": {"hpcsim": "[" * 100_000}}
    header = json.dumps(tensors).encode()
    header += b" " * (-len(header) % 8)
    path.write_bytes(len(header).to_bytes(8, "little") + header + data[8 + size :])
    with pytest.raises(HpcsimError, match="is no safetensors file, or a damaged one"):
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
