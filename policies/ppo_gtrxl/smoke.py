"""What the smoke preset checks of its own training, so that a minute tells whether training works here."""

from __future__ import annotations

import hashlib
import tempfile
from pathlib import Path

import numpy as np

from hpcsim.errors import InvariantViolation
from hpcsim.policies.ppo_gtrxl.checkpoint import load_checkpoint
from hpcsim.policies.ppo_gtrxl.progress import Say
from hpcsim.policies.ppo_gtrxl.trainer import BEST, Lesson, train_one, weights_of
from hpcsim.policies.ppo_gtrxl.training_state import TrainingState

MOST_RATIO_ERROR = 1e-5
"""Largest difference between a decision's log-probability when taken and before the first step of an update."""


def check_itself(lesson: Lesson, state: TrainingState, folder: Path, say: Say) -> None:
    """Hold a finished training against its own rules, and against itself done again.

    Raises:
        InvariantViolation: one of them is broken; the message says which.
    """
    worst = max(row["ratio_error"] for row in state.rows)
    if not worst <= MOST_RATIO_ERROR:
        raise InvariantViolation(f"Rollout and update differ by {worst:.2g} in log-probability.")
    losses = [row[name] for row in state.rows for name in ("policy_loss", "value_loss", "kl", "entropy")]
    if not np.isfinite(losses).all():
        raise InvariantViolation("A loss is no finite number.")
    loaded = load_checkpoint(folder / BEST)
    if loaded.config != lesson.config:
        raise InvariantViolation("The checkpoint reads back as another network.")
    with tempfile.TemporaryDirectory() as elsewhere:
        again = train_one(lesson, Path(elsewhere), lambda _: None, goes_on=False)
    mine, theirs = fingerprint(state), fingerprint(again)
    if mine != theirs:
        raise InvariantViolation(f"The same seed trained two networks, {mine[:12]} and {theirs[:12]}.")
    say(f"Checked: ratio error {worst:.1e}, finite losses, checkpoint reads back, same weights again ({mine[:12]})")


def fingerprint(state: TrainingState) -> str:
    """Return the SHA-256 of all weights, by name."""
    digest = hashlib.sha256()
    for name, array in sorted(weights_of(state.network.state_dict()).items()):
        digest.update(name.encode() + array.tobytes())
    return digest.hexdigest()
