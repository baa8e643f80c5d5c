"""Train one network: gather experience, learn from it, validate, keep the best, and be able to go on."""

from __future__ import annotations

import time
from collections.abc import Sequence
from concurrent.futures import Executor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch

from hpcsim.errors import HpcsimError
from hpcsim.policies.ppo_gtrxl.checkpoint import Checkpoint, CheckpointError, read_tensors
from hpcsim.policies.ppo_gtrxl.cloning import clone, scores_of
from hpcsim.policies.ppo_gtrxl.gathering import Gathered, Network, gather
from hpcsim.policies.ppo_gtrxl.network_config import NetworkConfig
from hpcsim.policies.ppo_gtrxl.presets import Preset
from hpcsim.policies.ppo_gtrxl.progress import Progress, Say
from hpcsim.policies.ppo_gtrxl.sources import Drawn, Draws
from hpcsim.policies.ppo_gtrxl.training_config import TrainingConfig
from hpcsim.policies.ppo_gtrxl.training_state import TrainingState, begin, resume
from hpcsim.policies.ppo_gtrxl.update import Rates, learn
from hpcsim.policies.ppo_gtrxl.validation import geometric_mean, ratios_to_saf

STATE = "state.safetensors"
BEST = "best.safetensors"


class Diverged(HpcsimError, ArithmeticError):
    """A training whose losses are numbers no more."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Lesson:
    """What one training is made of.

    Attributes:
        config: the architecture.
        preset: recipe and view.
        draws: where sequences come from.
        validation: sequences that training never draws.
        seed: of everything random.
        about: what made it, in plain data; a training goes on only where this is the same.
        card: what goes into checkpoints besides.
    """

    config: NetworkConfig
    preset: Preset
    draws: Draws
    validation: Sequence[Drawn]
    seed: int
    about: dict[str, Any]
    card: dict[str, Any]


def train_one(
    lesson: Lesson, folder: Path, say: Say, *, goes_on: bool, executor: Executor | None = None
) -> TrainingState:
    """Train to the end of the recipe, in *folder*; `BEST` there is the best network by validation.

    Raises:
        Diverged: a loss is no number.
        CheckpointError: what should go on is another training, or has lost its best network.
    """
    config = lesson.preset.training
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    path = folder / STATE
    going_on = goes_on and path.is_file()
    state = resume(path, lesson.config, lesson.about, device) if going_on else begin(lesson.config, lesson.seed, device)
    if state.best:
        _check_is_there(folder / BEST)
    progress = Progress(folder, 0 if config.decisions else config.updates, say)
    try:
        if not state.done and config.clone_updates:
            _clone(lesson, state, executor)
        while not is_over(config, state.done, state.decisions):
            _update(lesson, state, folder, executor)
            state.save(path, lesson.about)
            progress.tell(state.rows)
    finally:
        progress.close()
    return state


def _check_is_there(best: Path) -> None:
    """Refuse to go on from a best network that is gone: nothing later need be better than it was."""
    try:
        read_tensors(best)
    except CheckpointError as error:
        raise CheckpointError(error.cause, "Put it back, or train this seed anew in another folder.") from error


def is_over(config: TrainingConfig, updates: int, decisions: int) -> bool:
    """Tell whether a training ends after so many updates and decisions."""
    return updates >= config.updates or 0 < config.decisions <= decisions


def rates_at(lesson: Lesson, done: int, decisions: int) -> Rates:
    """Return the rates of the update after *done* others: straight lines from first to last."""
    config = lesson.preset.training
    way = decisions / config.decisions if config.decisions else done / max(config.updates - 1, 1)
    return Rates(
        config.learning_rate + way * (config.last_learning_rate - config.learning_rate),
        config.entropy_bonus + way * (config.last_entropy_bonus - config.entropy_bonus),
    )


def weights_of(tensors: dict[str, torch.Tensor]) -> dict[str, np.ndarray[Any, np.dtype[np.float32]]]:
    """Return weights as arrays of their own."""
    return {name: value.detach().cpu().numpy().copy() for name, value in tensors.items()}


def _gather(lesson: Lesson, state: TrainingState, purpose: int, executor: Executor | None) -> Gathered:
    network = Network(lesson.config, weights_of(state.network.state_dict()), lesson.preset.view)
    drawn = lesson.draws.draw(lesson.seed, state.done)
    seed = np.random.SeedSequence([lesson.seed, state.done, purpose])
    return gather(network, drawn, lesson.preset.training, seed, executor)


def _update(lesson: Lesson, state: TrainingState, folder: Path, executor: Executor | None) -> None:
    config = lesson.preset.training
    began_s = time.process_time()
    gathered = _gather(lesson, state, 3, executor)
    experience = gathered.experience
    if config.decisions:
        experience = experience.first(config.decisions - state.decisions)
    rates = rates_at(lesson, state.done, state.decisions)
    rng = np.random.default_rng(np.random.SeedSequence([lesson.seed, state.done, 4]))
    report = learn(state.network, state.optimiser, experience, config, rates, rng)
    if not np.isfinite([report.policy_loss, report.value_loss, report.kl]).all():
        raise Diverged(
            f"Update {state.done + 1} has a loss that is no number.",
            "Lower the learning rate, or look at the workload.",
        )
    state.average_in(config.averaging)
    state.seen = gathered.seen if state.seen is None else state.seen.joined(gathered.seen)
    state.done += 1
    row = {"update": state.done, "decisions": experience.decisions, "cost": gathered.cost}
    row |= rates._asdict() | report._asdict()
    is_last = is_over(config, state.done, state.decisions + experience.decisions)
    if state.done % config.validate_every == 0 or is_last:
        row |= _validate(lesson, state, folder, executor)
    state.cpu_s += time.process_time() - began_s
    state.rows.append(row | {"cpu_s": state.cpu_s})


def _validate(lesson: Lesson, state: TrainingState, folder: Path, executor: Executor | None) -> dict[str, float]:
    """Try the weights and their average; save whichever is the best so far."""
    row = {}
    for name, tensors in (("validation", state.network.state_dict()), ("validation_average", state.average)):
        weights = weights_of(tensors)
        network = Network(lesson.config, weights, lesson.preset.view)
        ratio = geometric_mean(ratios_to_saf(network, lesson.validation, lesson.preset.training, executor))
        row[name] = ratio
        if ratio < state.best.get("ratio_to_saf", np.inf):
            kind = "last" if name == "validation" else "averaged"
            state.best = {"ratio_to_saf": ratio, "update": state.done, "weights": kind}
            assert state.seen is not None
            card = lesson.card | {"trained": True, "validation": state.best | {"sequences": len(lesson.validation)}}
            Checkpoint(config=lesson.config, weights=weights, view=lesson.preset.view, seen=state.seen, card=card).save(
                folder / BEST
            )
    return row


def _clone(lesson: Lesson, state: TrainingState, executor: Executor | None) -> None:
    config = lesson.preset.training
    gathered = _gather(lesson, state, 5, executor)
    clone(
        state.network,
        torch.optim.Adam(state.network.parameters(), lr=config.learning_rate, eps=1e-5),
        gathered.experience,
        scores_of(config.clone_of, gathered.experience),
        steps=config.clone_updates,
        minibatch=config.minibatch,
        rng=np.random.default_rng(np.random.SeedSequence([lesson.seed, 6])),
    )
