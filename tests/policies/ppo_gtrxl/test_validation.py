"""What a network is chosen by: its cost on other jobs over SAF's."""

from __future__ import annotations

import numpy as np
import pytest

from hpcsim import Cluster
from hpcsim.policies.learning.sequences import Windows
from hpcsim.policies.ppo_gtrxl import validation
from hpcsim.policies.ppo_gtrxl.checkpoint import View
from hpcsim.policies.ppo_gtrxl.experience import Record
from hpcsim.policies.ppo_gtrxl.gathering import Network
from hpcsim.policies.ppo_gtrxl.rollout import Played
from hpcsim.policies.ppo_gtrxl.sources import Drawn, Source, validation_of
from hpcsim.policies.ppo_gtrxl.training_config import TrainingConfig
from hpcsim.policies.ppo_gtrxl.untrained import network_config, untrained
from tests.policies.ppo_gtrxl.test_policy import crowded

CONFIG = TrainingConfig(group=1)
PLAYER = Network(network_config(), {}, View(window=6))


def test_ratios_by_hand(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of 6 jobs that cost 10 where SAF pays 4, (10 + 6) / (4 + 6); of 5 that cost nobody anything, 1."""
    jobs = crowded(6).select(np.arange(6), "six")
    drawn = [
        Drawn(Windows([jobs], length).draw(np.random.default_rng(0)), Cluster.of_processors(64), "easy", saf)
        for length, saf in ((6, 4.0), (5, 0.0))
    ]
    played = Played(Record(2), np.array([10.0, 0.0]))
    monkeypatch.setattr(validation, "play_all", lambda *_: [played])
    ratios = validation.ratios_to_saf(PLAYER, drawn, CONFIG)
    assert ratios.tolist() == [1.6, 1.0]
    assert validation.geometric_mean(ratios) == pytest.approx(1.6**0.5)


@pytest.mark.parametrize("backfill", ["easy", "rlscheduler"])
def test_a_network_that_is_saf_costs_what_saf_does(backfill: str) -> None:
    source = Source("small", crowded(200), Cluster.of_processors(64), backfill)
    drawn = validation_of([source], CONFIG, 2, 120, 1)
    network = untrained(network_config(prior="saf"))
    player = Network(network.config, dict(network.weights), network.view)
    assert validation.ratios_to_saf(player, drawn, CONFIG) == pytest.approx([1.0, 1.0], abs=1e-12)
    assert all(one.unit > 0 for one in drawn)
