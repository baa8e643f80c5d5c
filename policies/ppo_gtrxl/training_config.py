"""How a network is trained: every number of the recipe, frozen, and checked when it is made."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any, Self

from hpcsim.errors import InvalidArgument, closest
from hpcsim.policies.learning.heads import BACKFILLS
from hpcsim.policies.learning.objectives import OBJECTIVES

SURROGATES = ("truly", "clip")

CLONED = ("saf", "sjf")
"""Rules that can be cloned: those that the features alone tell."""

_CHOICES: Mapping[str, tuple[str | None, ...]] = {
    "surrogate": SURROGATES,
    "objective": tuple(OBJECTIVES),
    "backfill": (None, *BACKFILLS),
    "clone_of": CLONED,
}
_LEAST = {"clone_updates": 0, "decisions": 0}


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainingConfig:
    """The recipe of a training.

    Attributes:
        updates: how many times experience is gathered and learned from.
        decisions: learned from in all: training ends there, if not after *updates*, and rates fall until there;
            the last update learns from as many as are left. 0: *updates* alone says where it ends.
        sequences, group: arrival sequences an update, and rollouts of each.
        jobs: of a sequence.
        harder_share: sequences are drawn from this share of a pool, the costliest under the rules.
        longest_stretch: gaps between submits are multiplied by a number between 0.7 and this, in validation
            between 1 and this: above 1 networks see lighter loads than the logs'.
        pool: windows of each source that are tried by the rules, anew every *pool_updates* updates.
        objective: what is to be made small, by its name in `hpcsim.policies.learning.objectives`.
        backfill: beside the heads in training, one of `hpcsim.policies.learning.heads.BACKFILLS`; None:
            each source's own.
        keeps_heads: a head stays until it starts; False: the network is asked anew at each pass, but where the
            protocol keeps heads.
        surrogate: ``truly``, Truly PPO, or ``clip``, PPO with a clipped ratio.
        clip: of the ratio, with ``clip``.
        delta, rollback, slope: of Truly PPO; see `losses.truly_objective`.
        learning_rate, last_learning_rate: the first and the last, in a straight line.
        epochs, minibatch: passes over the experience, and segments a step.
        target_kl: an update stops after the minibatch whose KL to the old policy exceeds it.
        entropy_bonus, last_entropy_bonus: the first and the last, in a straight line.
        value_weight, gradient_norm: of the value loss; at most, of a gradient step.
        trace: lambda of generalised advantages.
        discount_rate_per_s: exp(-rate x gap) discounts what lies behind a gap; 0 does not.
        group_share: of the group baseline in the advantage; the rest is GAE's.
        averaging: of the slow average of weights, an update.
        validate_every: updates between validations; the last update has one too.
        clone_updates: gradient steps of behaviour cloning from *clone_of* before the first update.
        clone_of: the rule that is cloned, by name.
        must_start_after_s: a job that has waited longer is chosen without asking the network; None: never.

    Raises:
        InvalidArgument: a value is out of its range.
    """

    updates: int = 60
    decisions: int = 0
    sequences: int = 6
    group: int = 8
    jobs: int = 384
    harder_share: float = 0.5
    longest_stretch: float = 1.0
    pool: int = 32
    pool_updates: int = 100
    objective: str = "bounded-slowdown"
    backfill: str | None = None
    keeps_heads: bool = True
    surrogate: str = "truly"
    clip: float = 0.2
    delta: float = 0.02
    rollback: float = 5.0
    slope: float = 1.0
    learning_rate: float = 1e-3
    last_learning_rate: float = 1e-4
    epochs: int = 6
    minibatch: int = 24
    target_kl: float = 0.02
    entropy_bonus: float = 0.0
    last_entropy_bonus: float = 0.0
    value_weight: float = 0.5
    gradient_norm: float = 0.5
    trace: float = 0.97
    discount_rate_per_s: float = 0.0
    group_share: float = 0.5
    averaging: float = 0.9
    validate_every: int = 10
    clone_updates: int = 0
    clone_of: str = "saf"
    must_start_after_s: float | None = None

    def __post_init__(self) -> None:
        for name, known in _CHOICES.items():
            chosen = getattr(self, name)
            if chosen not in known:
                names = [one for one in known if one is not None]
                raise InvalidArgument(
                    f"{name} is {chosen!r}.{closest(str(chosen), names)}", f"Give one of: {', '.join(names)}."
                )
        if not isinstance(self.keeps_heads, bool):
            raise InvalidArgument(f"keeps_heads is {self.keeps_heads!r}.", "Give true or false.")
        for field in fields(self):
            value = getattr(self, field.name)
            if field.type == "int" and (type(value) is not int or value < _LEAST.get(field.name, 1)):
                raise InvalidArgument(
                    f"{field.name} is {value!r}.", f"Give a whole number of at least {_LEAST.get(field.name, 1)}."
                )
            is_number = isinstance(value, int | float) and not isinstance(value, bool)
            if field.type == "float" and not (is_number and 0 <= value < math.inf):
                raise InvalidArgument(f"{field.name} is {value!r}.", "Give a finite number of 0 or more.")
        if not 1 <= self.longest_stretch <= 10:
            raise InvalidArgument(f"longest_stretch is {self.longest_stretch!r}.", "Give a number from 1 to 10.")
        cap_s = self.must_start_after_s
        if cap_s is not None and (isinstance(cap_s, bool) or not isinstance(cap_s, int | float) or not cap_s > 0):
            raise InvalidArgument(f"must_start_after_s is {cap_s!r}.", "Give seconds, above 0, or leave it out.")
        if self.harder_share == 0:
            raise InvalidArgument("harder_share is 0: nothing would be left to draw.", "Give a share above 0, up to 1.")
        for name in ("harder_share", "trace", "group_share", "averaging"):
            if getattr(self, name) > 1:
                raise InvalidArgument(f"{name} is {getattr(self, name)!r}.", "Give a share from 0 to 1.")

    def to_dict(self) -> dict[str, Any]:
        """Return the recipe as plain data."""
        return asdict(self)

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Self:
        """Return the recipe of plain data. Raises `InvalidArgument` for a key or a value that is none."""
        known = [field.name for field in fields(cls)]
        for key in values:
            if key not in known:
                raise InvalidArgument(
                    f"A training has no '{key}'.{closest(key, known)}", f"It has: {', '.join(known)}."
                )
        return cls(**values)
