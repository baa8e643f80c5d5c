"""The policy `ppo-gtrxl` with a record of what it decides and of what goes on in its network meanwhile."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from hpcsim.cluster import Cluster
from hpcsim.errors import InvariantViolation
from hpcsim.inspection import Inspection
from hpcsim.job import Job
from hpcsim.policies.learning.features import JOB_FEATURES, NODE_FEATURES
from hpcsim.policies.learning.heads import Ask
from hpcsim.policies.learning.observation import Observation
from hpcsim.policies.learning.priors import HEURISTIC_PRIORS
from hpcsim.policies.ppo_gtrxl.policy import PPOGTrXL
from hpcsim.policies.ppo_gtrxl.transparent import Seen, TransparentNetwork
from hpcsim.system import System

RULE = "saf"
"""What a network without a prior is compared with."""

LARGEST_ERROR = 1e-3
"""Between the logits of the fast pass and of the open one; above it the record would show another network."""


class _Note(NamedTuple):
    """One decision: what the network did, and the slots of the rule's choice and of its own without its past."""

    seen: Seen
    jobs: tuple[Job | None, ...]
    of_rule: int
    alone: int
    moved: float


class InspectedPPOGTrXL(PPOGTrXL):
    """`ppo-gtrxl`, deciding as ever; asked between two instants it also keeps a record.

    Parameters:
        since_s, until_s: decisions from the one on and before the other are recorded.
    """

    since_s: float = -math.inf
    until_s: float = math.inf

    def __post_init__(self) -> None:
        super().__post_init__()
        self._new_network()

    def reset(self, cluster: Cluster, rng: np.random.Generator) -> None:
        """Forget everything, the record too."""
        super().reset(cluster, rng)
        self._open = self._new_network()
        self._noted: _Note | None = None
        self._notes: list[tuple[float, int, Job, _Note]] = []

    def _new_network(self) -> TransparentNetwork:
        return TransparentNetwork(self.trained.config, self.trained.weights)

    @property
    def rule(self) -> str:
        """The rule that the network is compared with: its prior, else `RULE`."""
        prior = self.trained.config.prior
        return RULE if prior == "none" else prior

    def choose(self, ask: Ask, system: System) -> Job:
        """Return the job that comes next, and keep the network's part in that."""
        self._noted = None
        chosen = super().choose(ask, system)
        if self._noted is not None and self.since_s <= system.now_s < self.until_s:
            self._notes.append((system.now_s, len(system.queue) - len(ask.hidden), chosen, self._noted))
        return chosen

    def _logits(self, observation: Observation) -> Any:
        logits = super()._logits(observation)
        within = self.trained.seen.within(observation.jobs, observation.nodes, observation.globals)
        jobs, nodes, globals_ = (each.astype(float) for each in within)
        seen = self._open.step(jobs, nodes, globals_, self._prior(observation).astype(float))
        _check(logits, seen.logits)
        scores = HEURISTIC_PRIORS[self.rule](observation)
        assert observation.queue is not None
        self._noted = _Note(
            seen,
            observation.queue,
            _best(scores, observation),
            _best(seen.alone, observation),
            _variation(seen.logits, seen.alone, observation),
        )
        return logits

    def inspection(self) -> Inspection:
        """Return the record of the last run."""
        config = self.trained.config
        looks = [note.seen.looks for *_, note in self._notes]
        attention = np.full((len(looks), config.blocks * config.heads, config.span), np.nan)
        for at, blocks in enumerate(looks):
            for block, look in enumerate(blocks):
                heads = slice(block * config.heads, (block + 1) * config.heads)
                attention[at, heads, : look.attention.shape[1]] = look.attention
        gates = {
            f"block {block + 1}, {part}": np.array([getattr(each[block], kind) for each in looks], dtype=float)
            for block in range(config.blocks)
            for part, kind in (("attention", "attention_gate"), ("feed-forward", "mlp_gate"))
        }
        has_gates = config.core == "gtrxl" and config.gate not in {"residual", "input"}
        return Inspection(
            columns=_columns(self._notes),
            attention=attention,
            heads=tuple(
                f"block {block + 1}, head {head + 1}" for block in range(config.blocks) for head in range(config.heads)
            ),
            gates=gates if has_gates else {},
            gates_at_first=1 / (1 + math.exp(config.gate_bias)) if has_gates else math.nan,
            factors=self._factors(),
            features={
                "jobs": tuple(name for name, _ in JOB_FEATURES),
                "nodes": tuple(name for name, _ in NODE_FEATURES),
            },
            rule=self.rule,
            is_prior=config.prior != "none",
        )

    def _factors(self) -> dict[str, np.ndarray[Any, np.dtype[np.float64]]]:
        seen = [note.seen for *_, note in self._notes]
        if self.trained.config.recalibration == "none":
            return {}
        rows = {"jobs": np.array([each.job_factors for each in seen])}
        if self.trained.config.node_features:
            rows["nodes"] = np.array([each.node_factors for each in seen])
        return rows


def _columns(notes: Sequence[tuple[float, int, Job, _Note]]) -> dict[str, Any]:
    """Return one row a decision; see `hpcsim.inspection.Inspection`."""
    rows = [
        {"time_s": now_s, "waiting": waiting}
        | _job(job, now_s, "")
        | _job(_in(note.jobs, note.of_rule), now_s, "rule_")
        | {"alone_job_id": _in(note.jobs, note.alone).job_id, "moved": note.moved}
        for now_s, waiting, job, note in notes
    ]
    names = rows[0] if rows else ("time_s", "waiting", "job_id", "rule_job_id", "alone_job_id", "moved")
    return {name: np.array([row[name] for row in rows]) for name in names}


def _job(job: Job, now_s: float, prefix: str) -> dict[str, Any]:
    values = {
        "job_id": job.job_id,
        "nodes": job.nodes,
        "limit_s": job.limit_s,
        "area_node_s": job.area_node_s,
        "wait_s": now_s - job.submit_s,
    }
    return {f"{prefix}{name}": value for name, value in values.items()}


def _in(jobs: Sequence[Job | None], slot: int) -> Job:
    job = jobs[slot]
    assert job is not None
    return job


def _best(scores: Any, observation: Observation) -> int:
    return int(np.where(observation.mask, scores, -np.inf).argmax())


def _variation(one: Any, other: Any, observation: Observation) -> float:
    """Return the total variation between the probabilities behind two vectors of logits."""
    valid = observation.mask > 0
    shares = []
    for logits in (one[valid], other[valid]):
        weights = np.exp(logits - logits.max())
        shares.append(weights / weights.sum())
    return float(0.5 * np.abs(shares[0] - shares[1]).sum())


def _check(fast: Any, slow: Any) -> None:
    """Hold the fast pass against the open one, where both are numbers."""
    if np.isfinite(fast).all() and not np.abs(fast - slow).max() <= LARGEST_ERROR * max(1.0, np.abs(slow).max()):
        raise InvariantViolation(
            f"Two passes of one network differ by {np.abs(fast - slow).max():.2g} in their logits."
        )
