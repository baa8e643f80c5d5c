"""A network before any training, as a checkpoint: its prior, and the row that every table needs."""

from __future__ import annotations

from typing import Any

import numpy as np

from hpcsim.policies.learning.features import GLOBAL_FEATURES, JOB_FEATURES, NODE_FEATURES
from hpcsim.policies.ppo_gtrxl.checkpoint import Checkpoint, View
from hpcsim.policies.ppo_gtrxl.network_config import NetworkConfig
from hpcsim.policies.ppo_gtrxl.seen_ranges import SeenRanges


def network_config(**choices: Any) -> NetworkConfig:
    """Return a configuration for the features of this version.

    Raises:
        InvalidArgument: a choice is unknown, or its value is none.
    """
    sizes = {
        "job_features": len(JOB_FEATURES),
        "node_features": len(NODE_FEATURES),
        "global_features": len(GLOBAL_FEATURES),
    }
    return NetworkConfig.from_dict(sizes | choices)


def untrained(config: NetworkConfig, view: View | None = None, seed: int = 0) -> Checkpoint:
    """Return a network as training begins with it. It trusts itself everywhere: its ranges are without end.

    Raises:
        MissingExtra: torch is not installed.
    """
    from hpcsim.policies.ppo_gtrxl.torch_needed import need_torch

    torch = need_torch()
    from hpcsim.policies.ppo_gtrxl.network import SchedulingNetwork

    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        weights = {name: value.numpy() for name, value in SchedulingNetwork(config).state_dict().items()}
    return Checkpoint(
        config=config, weights=weights, view=view or View(), seen=everything(config), card={"trained": False}
    )


def everything(config: NetworkConfig) -> SeenRanges:
    """Return ranges that hold every value a feature can have."""
    sizes = (config.job_features, config.node_features, config.global_features)
    ends = [np.full(size, 8.0, dtype=np.float32) for size in sizes]
    return SeenRanges(*((-end, end) for end in ends))
