"""The trainer `ppo-gtrxl`: presets, sources and seeds in, checkpoints out."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import Executor, ProcessPoolExecutor
from contextlib import contextmanager
from dataclasses import asdict, replace
from multiprocessing import get_context
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hpcsim.cluster import Cluster
from hpcsim.errors import InvalidArgument, closest
from hpcsim.policies.learning.features import schema_hash
from hpcsim.policies.ppo_gtrxl.checkpoint import CheckpointError, View, load_checkpoint, read_tensors, write_tensors
from hpcsim.policies.ppo_gtrxl.presets import Preset, find_preset
from hpcsim.policies.ppo_gtrxl.progress import Say
from hpcsim.policies.ppo_gtrxl.sources import Draws, Source, generated, given, validation_of
from hpcsim.policies.ppo_gtrxl.torch_needed import need_torch
from hpcsim.policies.ppo_gtrxl.untrained import network_config
from hpcsim.workload import Workload

if TYPE_CHECKING:
    from hpcsim.policies.ppo_gtrxl.trainer import Lesson

CHOSEN = "chosen.safetensors"
"""The best network of all seeds, in the folder of the training."""

SIZES = {
    "validation.sequences": "validation_sequences",
    "validation.jobs": "validation_jobs",
    "generated.jobs": "generated_jobs",
}
"""Settings that are sizes, and what presets call them."""

VALIDATION_SEED = 1_000_003
"""Generated logs of validation come from this seed, which no training uses."""


def train(
    *,
    out: Path,
    preset: str = "demo",
    logs: Mapping[str, tuple[Workload, Cluster]] | None = None,
    generates: bool = True,
    seed: int | None = None,
    resume: bool = False,
    workers: int = 1,
    settings: Mapping[str, Any] | None = None,
    command: str = "",
    say: Say = lambda _: None,
) -> Path:
    """Train PPO-GTrXL and return the file of the best network.

    Args:
        out: folder; each seed has one of its own in it.
        preset: ``smoke``, ``demo`` or ``report``.
        logs: name -> jobs and machine; their first 60 % are trained and validated on, by time.
        generates: train on generated logs as well; without *logs* it is the only source.
        seed: train this one instead of the preset's seeds.
        resume: go on where a training in *out* was stopped.
        workers: processes that play episodes; how many changes no number.
        settings: ``training.KEY``, ``network.KEY``, ``view.KEY``, ``validation.KEY`` or ``generated.jobs`` -> value,
            in place of the preset's.
        command: what was typed, for the card of the checkpoint.
        say: is told of the progress, a line at a time.

    Raises:
        MissingExtra: torch is not installed.
        InvalidArgument: a setting is unknown, or there is nothing to train on.
        CheckpointError: what should be resumed is another training, or *out* holds one that should not.
    """
    torch = need_torch()
    _check_seed(seed)
    chosen = changed(find_preset(preset), settings or {})
    folders = {one: out / f"seed-{one}" for one in (chosen.seeds if seed is None else (seed,))}
    if not resume:
        _check_is_free([*folders.values()])
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        with _workers(workers) as executor:
            return _train_seeds(
                chosen, out, folders, _sources(chosen, logs or {}, generates), resume, command, say, executor
            )
    finally:
        torch.set_num_threads(threads)


def _check_seed(seed: int | None) -> None:
    if seed is not None and (type(seed) is not int or not 0 <= seed < 2**63):
        raise InvalidArgument(f"The seed is {seed!r}.", "Give a whole number from 0 to 2**63 - 1, or leave it out.")


def _check_is_free(folders: Sequence[Path]) -> None:
    """Never begin anew where a training stands."""
    from hpcsim.policies.ppo_gtrxl.trainer import STATE

    for folder in folders:
        if (folder / STATE).exists():
            raise CheckpointError(
                f"{folder} holds a training already.", "Go on with it by --resume, or name another folder."
            )


def _make(folders: Sequence[Path]) -> None:
    """Make the folders before anything is computed for them."""
    for folder in folders:
        folder.mkdir(parents=True, exist_ok=True)
        if not os.access(folder, os.W_OK):
            raise CheckpointError(f"Nothing can be written into {folder}.", "Check its permissions.")


def changed(preset: Preset, settings: Mapping[str, Any]) -> Preset:
    """Return *preset* with ``part.key`` settings in the place of its own.

    Raises:
        InvalidArgument: there is no such part or key, or the value is wrong.
    """
    parts: dict[str, dict[str, Any]] = {part: {} for part in ("training", "network", "view", "validation", "generated")}
    for name, value in settings.items():
        part, _, key = name.partition(".")
        if part not in parts or not key:
            raise InvalidArgument(
                f"There is no setting '{name}'.", f"Name one as {', '.join(f'{one}.KEY' for one in parts)}."
            )
        parts[part][key] = value
    training = type(preset.training).from_dict(preset.training.to_dict() | parts["training"])
    network = {**preset.network, **parts["network"]}
    network_config(**{key: value for key, value in network.items() if _is_choice(key)})
    if "must_start_after_s" in parts["view"]:
        raise InvalidArgument("A view takes must_start_after_s from the training.", "Set training.must_start_after_s.")
    cap_s = {"must_start_after_s": training.must_start_after_s}
    view = View.from_dict(asdict(preset.view) | parts["view"] | cap_s)
    sizes = {SIZES[name]: size for name, size in _sizes(parts).items()}
    return replace(preset, training=training, network=network, view=view, **sizes)


def _sizes(parts: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    """Return how much is validated on and generated, by the names of settings."""
    wanted = {f"{part}.{key}": value for part in ("validation", "generated") for key, value in parts[part].items()}
    for name, value in wanted.items():
        if name not in SIZES:
            raise InvalidArgument(
                f"There is no setting '{name}'.{closest(name, SIZES)}", f"Sizes are {', '.join(SIZES)}."
            )
        if type(value) is not int or value < 1:
            raise InvalidArgument(f"{name} is {value!r}.", "Give a whole number of at least 1.")
    return wanted


def _is_choice(key: str) -> bool:
    if key.endswith("_features"):
        raise InvalidArgument(f"network.{key} follows from the features.", "Leave it out.")
    return True


class _Sources:
    """Where training and validation draw from."""

    def __init__(self, training: list[Source], validation: list[Source]) -> None:
        self.training, self.validation = training, validation


def _sources(preset: Preset, logs: Mapping[str, tuple[Workload, Cluster]], generates: bool) -> _Sources:
    mine = [Source(name, workload, cluster) for name, (workload, cluster) in logs.items()]
    if not mine and not generates:
        raise InvalidArgument("There is nothing to train on.", "Give logs, or let them be generated.")
    jobs = preset.generated_jobs
    training = (generated(jobs, seed=0) if generates else []) + given(mine, "training")
    validation = (generated(jobs, seed=VALIDATION_SEED) if generates else []) + given(mine, "validation")
    return _Sources(training, validation)


def _train_seeds(
    preset: Preset,
    out: Path,
    folders: Mapping[int, Path],
    sources: _Sources,
    resume: bool,
    command: str,
    say: Say,
    executor: Executor | None,
) -> Path:
    from hpcsim.policies.ppo_gtrxl.smoke import check_itself
    from hpcsim.policies.ppo_gtrxl.trainer import BEST, train_one

    training = preset.training
    draws = Draws(sources.training, training)
    _make([*folders.values()])
    validation = validation_of(
        sources.validation, training, preset.validation_sequences, preset.validation_jobs, VALIDATION_SEED
    )
    best: tuple[float, Path] | None = None
    for one, folder in folders.items():
        lesson = _lesson(preset, draws, validation, one, sources, command)
        say(f"Seed {one}: {training.updates} updates, into {folder}")
        state = train_one(lesson, folder, say, goes_on=resume, executor=executor)
        if preset.checks_itself:
            check_itself(lesson, state, folder, say)
        ratio = float(state.best["ratio_to_saf"])
        say(f"Seed {one}: {ratio:.4f} of SAF's cost on validation, {state.cpu_s:.0f} CPU s")
        if best is None or ratio < best[0]:
            best = (ratio, folder / BEST)
    assert best is not None
    header, weights = read_tensors(best[1])
    write_tensors(out / CHOSEN, weights, header)
    load_checkpoint(out / CHOSEN)
    return out / CHOSEN


def _lesson(preset: Preset, draws: Draws, validation: Any, seed: int, sources: _Sources, command: str) -> Lesson:
    from hpcsim.policies.ppo_gtrxl.trainer import Lesson

    config = network_config(**preset.network)
    made = {
        "training": preset.training.to_dict(),
        "network": config.to_dict(),
        "view": asdict(preset.view),
        "seed": seed,
        "validated_on": {"sequences": preset.validation_sequences, "jobs": preset.validation_jobs},
        "data": [source.name for source in sources.training],
        "data_sha256": [source.workload.sha256() for source in sources.training],
        "features_sha256": schema_hash(),
    }
    starts = {"prior": config.prior, "cloned": preset.training.clone_of if preset.training.clone_updates else None}
    card = {"command": command, "starts_from": starts} | made
    about = made | {"machines": [source.cluster.to_toml() for source in sources.training]}
    return Lesson(config=config, preset=preset, draws=draws, validation=validation, seed=seed, about=about, card=card)


@contextmanager
def _workers(count: int) -> Iterator[Executor | None]:
    """Give an executor of *count* processes; of one, None: the work is done here."""
    if type(count) is not int or count < 1:
        raise InvalidArgument(f"workers is {count!r}.", "Give a whole number of at least 1.")
    if count == 1:
        yield None
        return
    with ProcessPoolExecutor(min(count, os.cpu_count() or 1), get_context("forkserver")) as executor:
        yield executor
