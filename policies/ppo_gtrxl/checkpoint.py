"""A trained network on disk: weights as safetensors, everything else as JSON in the same file's header.

Nothing is unpickled. What is loaded is held against this version: the layout of the features, the name
and shape of every weight, and that all of them are numbers.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any, Self

import numpy as np

from hpcsim.errors import HpcsimError, InvalidArgument, closest
from hpcsim.policies.learning.features import schema, schema_hash
from hpcsim.policies.learning.observation import check_view
from hpcsim.policies.ppo_gtrxl.forward_parts import Floats
from hpcsim.policies.ppo_gtrxl.network_config import NetworkConfig
from hpcsim.policies.ppo_gtrxl.seen_ranges import SeenRanges
from hpcsim.policies.ppo_gtrxl.weight_shapes import weight_shapes

FORMAT = "hpcsim-ppo-gtrxl"
VERSION = 1

_REMEDY = "Give a checkpoint that `hpcsim train ppo-gtrxl` has written."


class CheckpointError(HpcsimError, ValueError):
    """A checkpoint that is missing, damaged, foreign, or of features that this version does not compute."""


@dataclass(frozen=True, slots=True, kw_only=True)
class View:
    """What the network is shown: slots for jobs, rows for node groups, and the wait that counts as too long.

    Attributes:
        window, groups, wait_cap_s: of `hpcsim.policies.learning.observation.Observer`.
        must_start_after_s: a job that has waited longer is chosen without asking; None: never.

    Raises:
        InvalidArgument: one of them is out of range.
    """

    window: int = 16
    groups: int = 1
    wait_cap_s: float = 172_800.0
    must_start_after_s: float | None = None

    def __post_init__(self) -> None:
        check_view(self.window, self.groups, wait_cap_s=self.wait_cap_s)
        cap_s = self.must_start_after_s
        if cap_s is not None and (isinstance(cap_s, bool) or not isinstance(cap_s, int | float) or not cap_s >= 0):
            raise InvalidArgument(f"must_start_after_s is {cap_s!r}.", "Give seconds, 0 or more, or leave it out.")

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Self:
        """Return the view of plain data. Raises `InvalidArgument` for a key or a value that is none."""
        known = [each.name for each in fields(cls)]
        for key in values:
            if key not in known:
                raise InvalidArgument(
                    f"A view has no '{key}'.{closest(str(key), known)}", f"It has: {', '.join(known)}."
                )
        return cls(**values)


@dataclass(frozen=True, slots=True, kw_only=True)
class Checkpoint:
    """A network as a policy uses it.

    Attributes:
        config: the architecture.
        weights: float32 arrays by the names that torch gives them.
        view: what it is shown.
        seen: ranges of the features in training.
        card: how it was made: command, seed, data, starts, validation; plain data.
    """

    config: NetworkConfig
    weights: Mapping[str, Floats]
    view: View = field(default_factory=View)
    seen: SeenRanges
    card: Mapping[str, Any] = field(default_factory=dict)

    def save(self, path: Path) -> None:
        """Write the file whole or not at all, and its card beside it as ``.json`` for people to read."""
        header = {
            "format": FORMAT,
            "version": VERSION,
            "network": self.config.to_dict(),
            "view": asdict(self.view),
            "features": schema(),
            "features_sha256": schema_hash(),
            "seen": self.seen.to_dict(),
            "card": dict(self.card),
        }
        write_tensors(path, self.weights, header)
        write_whole(
            path.with_suffix(".json"), json.dumps(header | {"seen": "see the header"}, indent=1).encode() + b"\n"
        )


def load_checkpoint(path: Path) -> Checkpoint:
    """Read a checkpoint.

    Raises:
        CheckpointError: it is missing, damaged or foreign; its features or weights are not those expected.
    """
    header, weights = read_tensors(path)
    if header.get("format") != FORMAT or header.get("version") != VERSION:
        raise CheckpointError(f"{path} is no checkpoint of PPO-GTrXL, version {VERSION}.", _REMEDY)
    if header.get("features_sha256") != schema_hash():
        raise CheckpointError(
            f"{path} {_other_features(header.get('features'))}.", "Train it anew, or use its version."
        )
    for part in ("network", "view", "seen", "card"):
        if not isinstance(header.get(part), dict):
            raise CheckpointError(f"The header of {path} has no table '{part}'.", _REMEDY)
    try:
        config = NetworkConfig.from_dict(header["network"])
        view = View.from_dict(header["view"])
        seen = SeenRanges.from_dict(header["seen"], _sizes(config))
    except InvalidArgument as error:
        raise CheckpointError(f"The header of {path} is damaged: {error.cause}", _REMEDY) from error
    except (KeyError, TypeError, ValueError, IndexError) as error:
        raise CheckpointError(f"The header of {path} is damaged: {error}.", _REMEDY) from error
    _check_weights(path, config, weights)
    return Checkpoint(config=config, weights=weights, view=view, seen=seen, card=header["card"])


def _sizes(config: NetworkConfig) -> dict[str, int]:
    """Return how many features there are of jobs, node groups and the machine."""
    return {"jobs": config.job_features, "nodes": config.node_features, "globals": config.global_features}


def _other_features(theirs: Any) -> str:
    ours = schema()
    if not isinstance(theirs, dict):
        return "does not say which features it was trained on"
    for kind, names in ours.items():
        other = theirs.get(kind)
        if other != names:
            differing = set(names) ^ set(other) if isinstance(names, list) and isinstance(other, list) else ()
            told = f": {', '.join(sorted(map(str, differing)))}" if differing else ""
            return f"was trained on other features ({kind}{told})"
    return "was trained on other features"


def _check_weights(path: Path, config: NetworkConfig, weights: Mapping[str, Floats]) -> None:
    expected = weight_shapes(config)
    for name, shape in expected.items():
        if name not in weights:
            raise CheckpointError(f"{path} lacks the weights '{name}'.", _REMEDY)
        if weights[name].shape != shape:
            raise CheckpointError(f"{path}: '{name}' has shape {weights[name].shape}, and needs {shape}.", _REMEDY)
        if weights[name].dtype != np.float32 or not np.isfinite(weights[name]).all():
            raise CheckpointError(f"{path}: '{name}' holds values that are no finite float32 numbers.", _REMEDY)
    for name in weights:
        if name not in expected:
            raise CheckpointError(f"{path} holds weights '{name}', which this network has not.", _REMEDY)


def write_tensors(path: Path, tensors: Mapping[str, Any], header: Mapping[str, Any]) -> None:
    """Write arrays and a JSON header as one safetensors file, whole or not at all."""
    from safetensors.numpy import save

    arrays = {name: np.ascontiguousarray(array) for name, array in tensors.items()}
    write_whole(path, save(arrays, metadata={"hpcsim": json.dumps(header, sort_keys=True)}))


def read_tensors(path: Path) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return header and arrays of a file by `write_tensors`. Raises `CheckpointError` if it is none."""
    from safetensors import SafetensorError, safe_open

    if not path.is_file():
        raise CheckpointError(f"There is no checkpoint {path}.", "Check the path.")
    try:
        with safe_open(path, framework="np") as file:
            metadata = file.metadata() or {}
            arrays = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118 - it is no mapping
        header = json.loads(metadata.get("hpcsim", "{}"))
    except (SafetensorError, OSError, ValueError, RecursionError) as error:
        raise CheckpointError(f"{path} is no safetensors file, or a damaged one: {error}.", _REMEDY) from error
    if not isinstance(header, dict):
        raise CheckpointError(f"The header of {path} is no table.", _REMEDY)
    return header, arrays


def write_whole(path: Path, data: bytes) -> None:
    """Put *data* in the place of *path* at once, so that a kill leaves the old file or the new one."""
    path.parent.mkdir(parents=True, exist_ok=True)
    beside = path.with_name(f".{path.name}.{os.getpid()}")
    with beside.open("wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())
    beside.replace(path)
