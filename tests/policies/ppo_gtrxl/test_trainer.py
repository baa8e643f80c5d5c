"""One training from the inside: which network is kept, and which random numbers an update has."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from hpcsim.policies.ppo_gtrxl import trainer, training
from hpcsim.policies.ppo_gtrxl.checkpoint import load_checkpoint
from hpcsim.policies.ppo_gtrxl.sources import Source
from hpcsim.policies.ppo_gtrxl.training_config import TrainingConfig
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


class Enough(Exception):
    """Ends a training where everything asked for is known."""


def test_a_resumed_training_keeps_its_best_network(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The third update is worse than what stood before the stop, and is not taken for the best."""
    ratios: Iterator[float] = iter([0.9, 1.1, 1.2, 0.8, 0.85, 1.3])
    monkeypatch.setattr(trainer, "ratios_to_saf", lambda *_: np.array([next(ratios)]))

    def stop(line: str) -> None:
        if line.startswith("update 2/"):
            raise Enough

    with pytest.raises(Enough):
        tiny(tmp_path, settings=SETTINGS, say=stop, **ONCE)
    best = load_checkpoint(tiny(tmp_path, settings=SETTINGS, resume=True, **ONCE))
    assert best.card["validation"]["update"] == 2
    assert best.card["validation"]["ratio_to_saf"] == pytest.approx(0.8)
    assert next(ratios, None) is None


def test_validation_is_on_jobs_that_no_training_draws(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of logs that are given, a later part; of generated ones, others."""
    seen: dict[str, list[Source]] = {}

    def note(sources: list[Source], *_: Any) -> None:
        seen["validation"] = sources
        raise Enough

    class Noted(training.Draws):
        def __init__(self, sources: list[Source], config: TrainingConfig) -> None:
            seen["training"] = sources
            super().__init__(sources, config)

    monkeypatch.setattr(training, "Draws", Noted)
    monkeypatch.setattr(training, "validation_of", note)
    with pytest.raises(Enough):
        tiny(tmp_path, generates=True)
    assert [one.name for one in seen["training"]] == [one.name for one in seen["validation"]]
    for mine, other in zip(seen["training"], seen["validation"], strict=True):
        assert mine.workload.sha256() != other.workload.sha256()
    given, later = seen["training"][-1].workload, seen["validation"][-1].workload
    assert given.columns["submit_s"].max() <= later.columns["submit_s"].min()


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
