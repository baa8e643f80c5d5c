"""A training in the middle: weights, their slow average, the optimiser's moments, and what was measured so far.

It is one safetensors file, replaced at once after every update, so that a killed training goes on from
the last one. Random numbers follow from seed and update, and need no place in it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch

from hpcsim.policies.ppo_gtrxl.checkpoint import CheckpointError, read_tensors, write_tensors
from hpcsim.policies.ppo_gtrxl.network import SchedulingNetwork
from hpcsim.policies.ppo_gtrxl.network_config import NetworkConfig
from hpcsim.policies.ppo_gtrxl.seen_ranges import SeenRanges

FORMAT = "hpcsim-ppo-gtrxl-training"

_ANEW = "Start anew in another folder."


@dataclass(slots=True, kw_only=True)
class TrainingState:
    """Everything that an update changes.

    Attributes:
        network: being trained.
        average: slow average of its weights.
        optimiser: Adam over the network's weights.
        done: updates so far.
        seen: ranges of the features so far; None before the first update.
        rows: what was measured in each update.
        best: lowest validation cost so far, and of which weights and update; empty before the first.
        cpu_s: processor seconds spent.
    """

    network: SchedulingNetwork
    average: dict[str, torch.Tensor]
    optimiser: torch.optim.Adam
    done: int = 0
    seen: SeenRanges | None = None
    rows: list[dict[str, float]] = field(default_factory=list)
    best: dict[str, Any] = field(default_factory=dict)
    cpu_s: float = 0.0

    @property
    def decisions(self) -> int:
        """How many decisions were learned from."""
        return int(sum(row["decisions"] for row in self.rows))

    def average_in(self, keep: float) -> None:
        """Move the average towards the network, keeping the share *keep* of what it was."""
        for name, weights in self.network.state_dict().items():
            self.average[name].mul_(keep).add_(weights.detach(), alpha=1 - keep)

    def save(self, path: Path, about: Mapping[str, Any]) -> None:
        """Write the state whole or not at all; *about* says which training it is."""
        tensors = {f"network.{name}": value for name, value in self.network.state_dict().items()}
        tensors |= {f"average.{name}": value for name, value in self.average.items()}
        for at, weights in enumerate(self.network.parameters()):
            moments = self.optimiser.state[weights]
            for name in ("exp_avg", "exp_avg_sq", "step"):
                if name in moments:
                    tensors[f"adam.{at}.{name}"] = moments[name].reshape(-1)
        header = {
            "format": FORMAT,
            "about": dict(about),
            "done": self.done,
            "seen": self.seen.to_dict() if self.seen else None,
            "rows": self.rows,
            "best": self.best,
            "cpu_s": self.cpu_s,
        }
        write_tensors(path, {name: value.detach().cpu().numpy() for name, value in tensors.items()}, header)


def begin(config: NetworkConfig, seed: int, device: torch.device) -> TrainingState:
    """Return the state before the first update; the first weights follow from *seed*."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        network = SchedulingNetwork(config)
    network.to(device)
    average = {name: value.detach().clone() for name, value in network.state_dict().items()}
    return TrainingState(network=network, average=average, optimiser=torch.optim.Adam(network.parameters(), eps=1e-5))


def resume(path: Path, config: NetworkConfig, about: Mapping[str, Any], device: torch.device) -> TrainingState:
    """Return the state that was saved.

    Raises:
        CheckpointError: the file is damaged, or belongs to another training than *about* describes.
    """
    try:
        header, arrays = read_tensors(path)
    except CheckpointError as error:
        raise CheckpointError(error.cause, _ANEW) from error
    if header.get("format") != FORMAT or not isinstance(header.get("about"), dict):
        raise CheckpointError(f"{path} is no training that could go on.", "Give the folder of one, or start anew.")
    differing = _difference(header["about"], about)
    if differing is not None:
        raise CheckpointError(
            f"The training in {path.parent} has {differing} is asked for.",
            "Ask for the same, or start anew in another folder.",
        )
    try:
        return _restored(header, arrays, config, device)
    except (KeyError, TypeError, ValueError, RuntimeError) as error:
        raise CheckpointError(f"{path} is damaged: {str(error).splitlines()[0]}.", _ANEW) from error


def _difference(theirs: Mapping[str, Any], ours: Mapping[str, Any], within: str = "") -> str | None:
    """Return the first setting that differs, with both values, as "key = theirs, and ours"; None: none does."""
    for key, value in ours.items():
        other = theirs.get(key)
        if _are_alike(other, value):
            found = _difference(_by_key(other), _by_key(value), f"{within}{key}.")
            if found is not None:
                return found
        elif other != value:
            return f"{within}{key} = {other!r:.200}, and {value!r:.200}"
    return None


def _are_alike(theirs: Any, ours: Any) -> bool:
    """Tell whether both are tables, or equally long lists, so that their entries can be held against each other."""
    if isinstance(ours, list) and isinstance(theirs, list):
        return len(ours) == len(theirs)
    return isinstance(ours, Mapping) and isinstance(theirs, Mapping)


def _by_key(values: Any) -> Mapping[Any, Any]:
    return values if isinstance(values, Mapping) else dict(enumerate(values))


def _restored(
    header: Mapping[str, Any], arrays: Mapping[str, Any], config: NetworkConfig, device: torch.device
) -> TrainingState:
    """Return the state of a file's header and arrays."""
    state = begin(config, 0, device)
    tensors = {name: torch.from_numpy(array.copy()).to(device) for name, array in arrays.items()}
    state.network.load_state_dict(_part(tensors, "network."))
    state.average = _part(tensors, "average.")
    for at, weights in enumerate(state.network.parameters()):
        moments = _part(tensors, f"adam.{at}.")
        if moments:
            state.optimiser.state[weights] = {
                "step": moments["step"].reshape(()).cpu(),
                "exp_avg": moments["exp_avg"].reshape(weights.shape),
                "exp_avg_sq": moments["exp_avg_sq"].reshape(weights.shape),
            }
    state.done, state.rows, state.best, state.cpu_s = (header[key] for key in ("done", "rows", "best", "cpu_s"))
    state.seen = SeenRanges.from_dict(header["seen"]) if header["seen"] else None
    return state


def _part(tensors: Mapping[str, torch.Tensor], prefix: str) -> dict[str, torch.Tensor]:
    return {name.removeprefix(prefix): value for name, value in tensors.items() if name.startswith(prefix)}
