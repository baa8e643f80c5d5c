"""One training from the inside: which network is kept, and which random numbers an update has."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from hpcsim.policies.ppo_gtrxl import trainer
from hpcsim.policies.ppo_gtrxl.checkpoint import load_checkpoint
from tests.policies.ppo_gtrxl.test_training import tiny

ONCE = {"preset": "demo", "seed": 0}
SETTINGS = {"training.updates": 3, "training.validate_every": 1, "validation.sequences": 2, "training.sequences": 2}


def test_the_network_of_the_least_validation_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Weights and their average are tried after each update; the fourth of six is the best."""
    ratios: Iterator[float] = iter([0.9, 1.1, 1.2, 0.8, 0.85, 1.3])
    tried: list[dict[str, Any]] = []

    def scripted(network: Any, *_: Any) -> np.ndarray:
        tried.append(network.weights)
        return np.array([next(ratios)])

    monkeypatch.setattr(trainer, "ratios_to_saf", scripted)
    best = load_checkpoint(tiny(tmp_path, settings=SETTINGS, **ONCE))
    assert best.card["validation"] == {
        "ratio_to_saf": pytest.approx(0.8),
        "update": 2,
        "weights": "averaged",
        "sequences": 2,
    }
    assert len(tried) == 6
    same = [all(np.array_equal(best.weights[name], one[name]) for name in one) for one in tried]
    assert same == [False, False, False, True, False, False]


def test_each_update_has_random_numbers_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    drawn: list[tuple[int, ...]] = []
    whole = trainer.gather

    def watched(network: Any, sequences: Any, config: Any, seed: np.random.SeedSequence, executor: Any) -> Any:
        drawn.append(tuple(seed.generate_state(4).tolist()))
        return whole(network, sequences, config, seed, executor)

    monkeypatch.setattr(trainer, "gather", watched)
    tiny(tmp_path, settings=SETTINGS, **ONCE)
    tiny(tmp_path / "other", settings=SETTINGS, **ONCE | {"seed": 1})
    assert len(drawn) == len(set(drawn)) == 6
