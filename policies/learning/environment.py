"""Scheduling as a Gymnasium environment, on the simulator itself: no thread, no second simulator.

Importing this module registers ``hpcsim/Schedule-v0`` and ``hpcsim/ScheduleStartOrWait-v0``; so does
``gymnasium.make("hpcsim.policies.learning.environment:hpcsim/Schedule-v0")`` by itself.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from hpcsim.errors import MissingExtra

try:
    import gymnasium
except ModuleNotFoundError as error:
    raise MissingExtra("The learning environment needs Gymnasium.", "Type: pip install 'hpcsim-des[rl]'.") from error

from hpcsim.cluster import Cluster
from hpcsim.errors import InvalidArgument, InvalidDecision, closest
from hpcsim.node_ids import format_intervals, intervals_of
from hpcsim.policies.learning.episode import Episode, Rules
from hpcsim.policies.learning.features import GLOBAL_FEATURES, JOB_FEATURES, NODE_FEATURES
from hpcsim.policies.learning.heads import committed
from hpcsim.policies.learning.objectives import Wanted, weighted
from hpcsim.policies.learning.observation import Observation, Observer
from hpcsim.policies.learning.reference import RuleCost
from hpcsim.policies.learning.sequences import JobSequence, Sampler, sampler_of
from hpcsim.system import System
from hpcsim.workload import Workload

Seen = dict[str, NDArray[Any]]

SEMANTICS = ("commit", "start-or-wait")
INVALID = ("raise", "fallback")
OPTIONS = ("start", "length", "source", "stretch", "sequence")


class SchedulingEnv(gymnasium.Env[Seen, np.int64]):
    """Choose which waiting job comes next; an episode is a sequence of jobs on an empty machine.

    *Actions*: the slot of a waiting job; with ``semantics="start-or-wait"`` also the last action, WAIT.
    *Observations*: a dictionary of ``jobs`` [K, F], ``nodes`` [N, G], ``globals`` [H], all float32 and
    bounded, and ``mask``, int8, the valid actions. `hpcsim.policies.learning.features` says what each
    feature is. *Rewards*: minus the cost of the objective since the last decision, exactly; undiscounted
    they sum to minus the cost of the episode. What accrued before the first decision is part of the
    first reward.

    Args:
        workload: what sequences are cut from: a workload, several, or a `Sampler`. Default: a workload
            by Lublin and Feitelson's model that offers 256 processors half as much again as they can do.
        cluster: the machine; default: as many processors as the (first) workload's machine has.
        objective: a name of `OBJECTIVES`, an `Objective`, or a mapping of these to weights.
        window: slots for jobs, K.
        groups: rows for node groups, N.
        semantics: ``"commit"``: the job chosen is the reserved head until it starts, and others are
            backfilled beside it. ``"start-or-wait"``: only jobs that fit are valid, each starts at once;
            WAIT lets time go on to the next event.
        backfill: beside a committed head, one of `hpcsim.policies.learning.heads.BACKFILLS`; default
            ``"easy"``.
        keeps_heads: a committed head stays until it starts; False: the agent is asked anew at each pass.
        length: jobs in a sequence, None: all. Not for a `Sampler`, which has its own.
        skip_forced: decisions with a single valid action are taken without asking.
        max_decisions: cut the episode (truncated) after so many; None: never.
        beta_per_s: rate of continuous discounting; 0: none. ``info["discount"]`` is exp(-beta gap).
        normalise: divide rewards by the cost of the better of SJF and SAF on the same sequence, so that a
            return of -1 is as good as the rule.
        on_invalid: ``"raise"`` an `InvalidDecision`, or ``"fallback"`` to the first valid action, counted
            in ``info["invalid_actions"]``.
        kill_at_limit: jobs end at their limits at the latest. The published figures of RLScheduler need
            False.
        wait_cap_s: see `Observer`.
        with_metrics: put the simulator's own report into the last ``info``; it costs some
            milliseconds.

    ``info`` has ``action_mask``, ``gap_s``, ``discount``, ``now_s`` and ``decisions``; that of a reset
    also ``sequence``, (source, start, length, stretch); the last one ``cost``, ``costs`` by objective
    and ``metrics``, equal to `Result.summary`.

    Raises:
        InvalidArgument: an argument is out of range; the message says which.
    """

    metadata: dict[str, Any] = {"render_modes": []}  # noqa: RUF012 - as Gymnasium declares it

    def __init__(
        self,
        workload: Workload | Sequence[Workload] | Sampler | None = None,
        cluster: Cluster | None = None,
        *,
        objective: Wanted = "bounded-slowdown",
        window: int = 32,
        groups: int = 4,
        semantics: str = "commit",
        backfill: str | None = None,
        keeps_heads: bool = True,
        length: int | None = 256,
        skip_forced: bool = True,
        max_decisions: int | None = None,
        beta_per_s: float = 0.0,
        normalise: bool = False,
        on_invalid: str = "raise",
        kill_at_limit: bool = True,
        wait_cap_s: float = 172_800.0,
        with_metrics: bool = True,
        render_mode: str | None = None,
    ) -> None:
        _check_choice("semantics", semantics, SEMANTICS)
        _check_choice("on_invalid", on_invalid, INVALID)
        can_wait = semantics == "start-or-wait"
        if can_wait and backfill is not None:
            raise InvalidArgument(
                "With semantics='start-or-wait' nothing is backfilled: the agent starts every job.",
                "Leave backfill out, or take semantics='commit'.",
            )
        committed(backfill or "easy", keeps=keeps_heads)
        if isinstance(beta_per_s, bool) or not isinstance(beta_per_s, int | float) or not 0 <= beta_per_s < math.inf:
            raise InvalidArgument(f"beta_per_s is {beta_per_s!r}.", "Give a rate per second, 0 for no discounting.")
        if max_decisions is not None and (type(max_decisions) is not int or max_decisions < 1):
            raise InvalidArgument(
                f"max_decisions is {max_decisions!r}.", "Give a whole number, at least 1, or None for no limit."
            )
        if render_mode is not None:
            raise InvalidArgument(f"render_mode is {render_mode!r}.", "Leave it out: plots are made of results.")
        self.render_mode = None
        workload = _default_workload() if workload is None else workload
        self.sampler = sampler_of(workload, length)
        self.cluster = _machine_of(workload) if cluster is None else cluster
        objectives = weighted(objective)
        for _, each, _ in objectives:
            each.open(self.cluster)
        self._rules = Rules(
            can_wait, backfill or "easy", keeps_heads, skip_forced, kill_at_limit, objectives, beta_per_s
        )
        self._observer = Observer(window, groups, wait_cap_s=wait_cap_s)
        self._max_decisions = max_decisions
        self._on_invalid = on_invalid
        self._with_metrics = with_metrics
        self._unit_of = _yardstick(self.cluster, objective, self._rules) if normalise else None
        self._episode: Episode | None = None
        self.action_space = gymnasium.spaces.Discrete(window + can_wait)
        self.observation_space = _space(window, groups, can_wait)

    @property
    def observation(self) -> Observation:
        """What was seen last, with the jobs themselves; rules read it."""
        return self._running.observation

    @property
    def system(self) -> System:
        """The simulator's read-only view at this decision."""
        return self._running.system

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Seen, dict[str, Any]]:
        """Begin an episode; the sequence is drawn by the environment's generator, or pinned by *options*.

        Args:
            seed: of the generator; None goes on with it.
            options: ``start`` and ``length`` (jobs, in order of arrival), ``source`` (number of the
                workload), ``stretch``; or ``sequence``, a `JobSequence`.

        Raises:
            InvalidArgument: an option that does not exist, or jobs that do not.
            WorkloadError: none of the sequence's jobs can ever run on this machine.
        """
        super().reset(seed=seed)
        sequence = self._choose(options or {})
        self._unit = 1.0
        if self._unit_of is not None:
            self._unit = self._unit_of(sequence) or 1.0
        self._episode = Episode(sequence.workload, self.cluster, self._rules, self._observer)
        self._decisions = self._invalid = 0
        self._is_cut = False
        self._owed = self._episode.begin()
        return self._seen(), self._info(0.0) | {"sequence": sequence.key}

    def step(self, action: Any) -> tuple[Seen, float, bool, bool, dict[str, Any]]:
        """Take *action*, and let time go on to the next decision.

        Raises:
            InvalidDecision: the action is not valid now, and ``on_invalid`` is ``"raise"``.
        """
        episode = self._running
        if episode.is_over or self._is_cut:
            raise InvalidArgument("The episode is over.", "Call reset() to begin another.")
        cost, gap_s = episode.step(self._valid(action))
        self._decisions += 1
        reward = (0.0 - cost - self._owed) / self._unit
        self._owed = 0.0
        self._is_cut = not episode.is_over and self._decisions == self._max_decisions
        info = self._info(gap_s)
        if episode.is_over or self._is_cut:
            info |= {"cost": episode.cost, "costs": episode.costs, "unit": self._unit}
            if self._with_metrics:
                info["metrics"] = episode.metrics()
        return self._seen(), reward, episode.is_over, self._is_cut, info

    def action_masks(self) -> NDArray[np.bool_]:
        """Return which actions are valid now, boolean, as sb3-contrib's MaskablePPO asks for."""
        return self._running.mask.astype(np.bool_)

    @property
    def _running(self) -> Episode:
        if self._episode is None:
            raise InvalidArgument("No episode has begun.", "Call reset() first.")
        return self._episode

    def _choose(self, options: Mapping[str, Any]) -> JobSequence:
        unknown = [name for name in options if name not in OPTIONS]
        if unknown:
            raise InvalidArgument(
                f"There is no option {unknown[0]!r}.{closest(str(unknown[0]), OPTIONS)}",
                f"Give {', '.join(OPTIONS)}.",
            )
        pinned = options.get("sequence")
        if pinned is not None:
            if not isinstance(pinned, JobSequence) or len(options) > 1:
                raise InvalidArgument(
                    f"The option sequence is {pinned!r:.80}.", "Give one JobSequence and no other option."
                )
            return pinned
        if not options:
            return self.sampler.draw(self.np_random)
        where = {"start": 0} | dict(options)
        return self.sampler.at(
            where["start"], where.get("length"), source=where.get("source", 0), stretch=where.get("stretch")
        )

    def _valid(self, action: Any) -> int:
        mask = self._running.mask
        slot = _whole(action)
        if 0 <= slot < len(mask) and mask[slot]:
            return slot
        if self._on_invalid == "raise":
            valid = format_intervals(intervals_of(np.flatnonzero(mask).tolist()))
            raise InvalidDecision(
                f"At t = {self.system.now_s} s the agent chose action {action!r}, which is not valid.",
                f"Valid are {valid}: see action_masks(). on_invalid='fallback' takes the first of them instead.",
                rule="action-mask",
                time_s=self.system.now_s,
            )
        self._invalid += 1
        return int(mask.argmax())

    def _seen(self) -> Seen:
        episode = self._running
        seen = episode.observation
        return {
            "jobs": seen.jobs.copy(),
            "nodes": seen.nodes.copy(),
            "globals": seen.globals.copy(),
            "mask": episode.mask.copy(),
        }

    def _info(self, gap_s: float) -> dict[str, Any]:
        episode = self._running
        return {
            "action_mask": episode.mask.copy(),
            "gap_s": gap_s,
            "discount": math.exp(-self._rules.beta_per_s * gap_s),
            "now_s": episode.system.now_s,
            "decisions": self._decisions,
            "invalid_actions": self._invalid,
        }


def _whole(action: Any) -> int:
    """Return *action* as a slot, -1 for what is no whole number."""
    if type(action) is int:
        return action
    if np.ndim(action) or isinstance(action, bool | np.bool_ | str | bytes):
        return -1
    try:
        slot = int(action)
    except (TypeError, ValueError, OverflowError):
        return -1
    return slot if slot == action else -1


def _yardstick(cluster: Cluster, objective: Wanted, rules: Rules) -> RuleCost:
    """Return what measures a sequence by the better of two rules, under the same rules of the game."""
    return RuleCost(
        cluster,
        objective,
        backfill=rules.backfill,
        keeps_heads=rules.keeps_heads,
        kill_at_limit=rules.kill_at_limit,
    )


def _space(window: int, groups: int, can_wait: bool) -> gymnasium.Space[Seen]:
    box = gymnasium.spaces.Box
    space: Any = gymnasium.spaces.Dict(
        {
            "jobs": box(-1, 1, (window, len(JOB_FEATURES)), np.float32),
            "nodes": box(0, 1, (groups, len(NODE_FEATURES)), np.float32),
            "globals": box(-1, 1, (len(GLOBAL_FEATURES),), np.float32),
            "mask": box(0, 1, (window + can_wait,), np.int8),
        }
    )
    return cast("gymnasium.Space[Seen]", space)


def _check_choice(name: str, value: Any, known: tuple[str, ...]) -> None:
    if value not in known:
        raise InvalidArgument(f"{name} is {value!r}.{closest(str(value), known)}", f"Give one of {', '.join(known)}.")


def _default_workload() -> Workload:
    from hpcsim import registry

    workload: Workload = registry.make("models", "lublin", jobs=5_000, nodes=256, load=1.5, seed=1)
    return workload


def _machine_of(jobs: Workload | Sequence[Workload] | Sampler) -> Cluster:
    first = jobs if isinstance(jobs, Workload) else jobs[0] if isinstance(jobs, Sequence) and jobs else None
    if not isinstance(first, Workload) or first.machine_nodes is None:
        raise InvalidArgument("The size of the machine is not known.", "Give cluster=Cluster.of_processors(P).")
    make = Cluster.of_processors if first.counted == "processors" else Cluster.of_nodes
    return make(first.machine_nodes)


for _name, _semantics in (("Schedule", "commit"), ("ScheduleStartOrWait", "start-or-wait")):
    gymnasium.register(
        id=f"hpcsim/{_name}-v0",
        entry_point="hpcsim.policies.learning.environment:SchedulingEnv",
        kwargs={"semantics": _semantics},
    )
