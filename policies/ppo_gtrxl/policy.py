"""The policy `ppo-gtrxl`: a trained network chooses the head, backfilling goes on beside it. NumPy alone."""

from __future__ import annotations

import math
import os
from collections.abc import Sequence
from dataclasses import field, fields
from importlib.resources import files
from pathlib import Path

import numpy as np

from hpcsim.cluster import Cluster
from hpcsim.errors import InvalidArgument, closest
from hpcsim.job import Job
from hpcsim.listener import Listener
from hpcsim.policies.backfill import EASY, Backfill
from hpcsim.policies.composition import each_once
from hpcsim.policies.learning.heads import Ask, ChoosesHeads, always_keeps
from hpcsim.policies.learning.observation import Observation, Observer
from hpcsim.policies.learning.priors import HEURISTIC_PRIORS
from hpcsim.policies.patience import PATIENCE, Patience
from hpcsim.policies.ppo_gtrxl.checkpoint import Checkpoint, load_checkpoint
from hpcsim.policies.ppo_gtrxl.forward import Forward, Step
from hpcsim.policies.ppo_gtrxl.starvation import starving_slot
from hpcsim.policy import Policy
from hpcsim.system import System


class PPOGTrXL(ChoosesHeads):
    """PPO-GTrXL: a gated transformer, trained by PPO, says which waiting job comes next.

    The network is asked whenever a new head is needed and more than one job waits; others are backfilled
    beside the head it chooses. Of equal logits
    the first slot of the window wins. Where what it sees is far from what it was trained on, or its
    answer is no number, the order of *fallback* chooses instead, which `counts` counts.

    Parameters:
        checkpoint: name of a network that comes with hpcsim (``slowdown``, ``wait``), or a file.
        backfill: what happens beside the head, see `hpcsim.policies.learning.heads.BACKFILLS`.
        keeps_heads: the head stays until it starts, as in training; False: the network is asked anew at each pass,
            as rules are. None: it stays where the protocol keeps heads, and nowhere else.
        fallback: whose order chooses where the network cannot be trusted.
        patience: a job that has waited out of proportion to the work before it comes next without asking, so that
            the network's taste for small jobs starves nobody, see `hpcsim.policies.patience.Patience`; ``inf``:
            none does; None: the default there, but ``inf`` in RLScheduler's protocol, which has no such bound.
        must_start_after_s: a job that has waited longer comes next, too; ``inf``: never; None: as the checkpoint
            has it.

    Source: after Gao et al., Applied Sciences 15(16), 8928, 2025, a reconstruction.
    """

    checkpoint: str = "slowdown"
    backfill: str = "easy"
    keeps_heads: bool | None = None
    fallback: Backfill = field(default_factory=EASY)
    patience: float | None = None
    must_start_after_s: float | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if not isinstance(self.fallback, Backfill):
            raise InvalidArgument(
                f"fallback is {self.fallback!r}.",
                "Give one that backfills, as EASY(), or its name on a command line.",
            )
        cap_s = self.must_start_after_s
        if cap_s is not None and not (isinstance(cap_s, int | float) and cap_s >= 0):
            raise InvalidArgument(f"must_start_after_s is {cap_s!r}.", "Give seconds, 0 or more, or inf for no cap.")
        self._new_patience()
        self._trained = load_checkpoint(find_checkpoint(self.checkpoint))
        self._cap_s = self._trained.view.must_start_after_s if cap_s is None else cap_s
        self._forward = Forward(self._trained.config, self._trained.weights)
        self._prior = HEURISTIC_PRIORS[self._trained.config.prior]

    def _new_patience(self) -> Patience:
        if self.patience is None:
            return Patience(math.inf if always_keeps(self.backfill) else PATIENCE)
        return Patience(self.patience)

    def _keeps(self) -> bool:
        return always_keeps(self.backfill) if self.keeps_heads is None else self.keeps_heads

    @property
    def trained(self) -> Checkpoint:
        """The network, and how it was made."""
        return self._trained

    def inspected(self, since_s: float = -math.inf, until_s: float = math.inf) -> Policy:
        """Return the same policy with a record of its decisions from *since_s* on, before *until_s*.

        Raises:
            Unsupported: the network has no attention over decisions.
        """
        from hpcsim.policies.ppo_gtrxl.inspected import InspectedPPOGTrXL

        own = {each.name: getattr(self, each.name) for each in fields(PPOGTrXL)}
        return InspectedPPOGTrXL(**own, since_s=since_s, until_s=until_s)

    def reset(self, cluster: Cluster, rng: np.random.Generator) -> None:
        """Forget everything; the network's memory begins here."""
        super().reset(cluster, rng)
        view = self._trained.view
        self._observer = Observer(view.window, view.groups, wait_cap_s=view.wait_cap_s)
        self._observer.reset(cluster)
        self._memory = self._forward.begin()
        self._patience = self._new_patience()
        self._patience.reset(cluster)
        self.fallback.reset(cluster, rng)
        self.counts = {"asked": 0, "starving": 0, "out of distribution": 0, "no number": 0}

    def listeners(self) -> Sequence[Listener]:
        """Return what hears of jobs: pass, observer, patience and the order of the fallback."""
        return each_once(*super().listeners(), self._observer, self._patience, *self.fallback.order.listeners())

    def choose(self, ask: Ask, system: System) -> Job:
        """Return the job that comes next."""
        self.counts["asked"] += 1
        overdue = self._patience.overdue(system, ask.hidden)
        if overdue is not None:
            self.counts["starving"] += 1
            return overdue
        observation = self._observer.observe(system, ask.hidden, ask.free)
        starving = starving_slot(observation, system.now_s, self._cap_s)
        if starving is not None:
            self.counts["starving"] += 1
            return _job_in(observation, starving)
        if self._trained.seen.is_foreign(observation.jobs, observation.globals):
            self.counts["out of distribution"] += 1
            return self._fall_back(ask, system)
        logits = self._logits(observation)
        if not np.isfinite(logits).all():
            self.counts["no number"] += 1
            return self._fall_back(ask, system)
        return _job_in(observation, int(np.where(observation.mask, logits, -np.inf).argmax()))

    def _logits(self, observation: Observation) -> np.ndarray[tuple[int], np.dtype[np.float32]]:
        jobs, nodes, globals_ = self._trained.seen.within(observation.jobs, observation.nodes, observation.globals)
        step = Step(jobs[None], nodes[None], globals_[None], self._prior(observation)[None])
        logits: np.ndarray[tuple[int], np.dtype[np.float32]] = self._forward.step(self._memory, step).logits[0]
        return logits

    def _fall_back(self, ask: Ask, system: System) -> Job:
        return next(job for job in self.fallback.order.in_order(system) if job.row not in ask.hidden)


def _job_in(observation: Observation, slot: int) -> Job:
    assert observation.queue is not None
    job = observation.queue[slot]
    assert job is not None
    return job


def shipped_checkpoints() -> dict[str, Path]:
    """Return the checkpoints that come with hpcsim, by name."""
    folder = Path(str(files("hpcsim.policies.ppo_gtrxl") / "checkpoints"))
    return {path.stem: path for path in sorted(folder.glob("*.safetensors"))}


def find_checkpoint(name: str) -> Path:
    """Return the file of a checkpoint by its name or path.

    Raises:
        InvalidArgument: it is neither.
    """
    shipped = shipped_checkpoints()
    if not isinstance(name, str | os.PathLike):
        raise InvalidArgument(
            f"checkpoint is {name!r}.", f"Give a file as text, or one of: {', '.join(shipped) or 'none'}."
        )
    if name in shipped:
        return shipped[str(name)]
    path = Path(name)
    if not path.is_file():
        raise InvalidArgument(
            f"There is no checkpoint '{name}'.{closest(str(name), shipped)}",
            f"Give a file, or one of: {', '.join(shipped) or 'none came with this version'}.",
        )
    return path
