"""The semi-parametric surrogate: what a job takes as asked for, times what another count changes.

Run time is the base T(asked), predicted by a booster from the context, limit included, times the slow-down of its
application from the count asked for to n. Power is n times the watts of a node there, times what a booster predicts
of its residual. No booster sees the candidate count, so that what n changes comes from the curves alone.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from hpcsim.errors import InvalidArgument
from hpcsim.surrogates import boosting, model_files
from hpcsim.surrogates.features.columns import CONTEXT
from hpcsim.surrogates.features.matrix import Matrix
from hpcsim.surrogates.learned import Learned
from hpcsim.surrogates.speedup_evidence import NodePower, PowerEvidence, habit_likelihood, trial_likelihood
from hpcsim.surrogates.speedup_tables import Curves, SpeedUpTables, interpolated, interpolated_own, learn_tables
from hpcsim.surrogates.support import distance

Floats = NDArray[np.float64]

BASE_COLUMNS = (*CONTEXT, "asked_nodes")
RESIDUAL_COLUMNS = tuple(name for name in CONTEXT if name != "log_limit_s")
BASE = {"num_leaves": 15, "learning_rate": 0.06, "min_data_in_leaf": 20, "feature_fraction": 0.7}
RESIDUAL = {"num_leaves": 7, "learning_rate": 0.1, "min_data_in_leaf": 30}
BASE_ROUNDS, RESIDUAL_ROUNDS = 150, 40
FURTHER = 0.05
"""Growth of bounds with distance beyond what the spread of the curves says."""

MOST_KNOWN = 4096
"""Pairs of application and request, with their counts, whose curves are remembered."""

SHOWN = (2, 4, 8, 16, 32, 64)

EVIDENCE = ("power", "habits", "trials")


@dataclass(kw_only=True, eq=False)
class SemiParametric(Learned):
    """Base run time times a learned speed-up of each application; power from its efficiency.

    Args:
        idle_w: watts of an idle node; None learns them.
        waiting_share: share of dynamic power that a waiting core still draws; None learns it.
        evidence: what the speed-ups are learned from: any of ``power habits trials``, joined by ``+``.
        seed, sampler: as of `Learned`.
    """

    idle_w: float | None = None
    waiting_share: float | None = None
    evidence: str = "power+habits+trials"

    def __post_init__(self) -> None:
        super().__post_init__()
        self._known: dict[tuple[float, float, bytes], Curves] = {}
        unknown = [part for part in self.evidence.split("+") if part not in EVIDENCE]
        if unknown:
            raise InvalidArgument(
                f"There is no evidence '{unknown[0]}'.", f"Join some of {', '.join(EVIDENCE)} by '+'."
            )
        _check("idle_w", self.idle_w, math.inf, "watts from 0")
        _check("waiting_share", self.waiting_share, 1, "a share from 0 to 1")

    def _learn(self, outcomes: Matrix, weight: Floats | None) -> None:
        run_s, nodes, asked = (outcomes[name] for name in ("run_s", "nodes", "asked_nodes"))
        apps, app = np.unique(outcomes["app_id"], return_inverse=True)
        features = outcomes.take(BASE_COLUMNS)
        own = nodes == asked
        base = (
            boosting.boosted(
                features[own], np.log(run_s[own]), rounds=BASE_ROUNDS, seed=self.seed, weight=_part(weight, own), **BASE
            )
            if own.any()
            else None
        )
        self._known = {}
        self._tables = self._speed_ups(outcomes, apps, app, base, features)
        rows = self._tables.rows(outcomes["app_id"])
        at_asked = np.log(run_s) - (self._slowdown(rows, nodes) - self._slowdown(rows, asked))
        self._base = (
            base
            if own.all()
            else boosting.boosted(features, at_asked, rounds=BASE_ROUNDS, seed=self.seed, weight=weight, **BASE)
        )
        measured = np.isfinite(outcomes["power_w"])
        self._residual = None
        if measured.any():
            node_w = interpolated_own(self._tables.node_w, rows, nodes)
            rest = np.log(outcomes["power_w"] / nodes) - np.log(node_w * self._level(outcomes, rows))
            context = outcomes.take(RESIDUAL_COLUMNS)
            self._residual = boosting.boosted(
                context[measured],
                rest[measured],
                rounds=RESIDUAL_ROUNDS,
                seed=self.seed,
                weight=_part(weight, measured),
                **RESIDUAL,
            )

    def _twin(self) -> Self:
        """Return a model that need not learn anew what all nodes have in common."""
        power = self._tables.power
        return replace(self, idle_w=power.idle_w, waiting_share=power.waiting_share, sampler=None)

    def _speed_ups(
        self, outcomes: Matrix, apps: Floats, app: NDArray[np.int64], base: Any, features: Floats
    ) -> SpeedUpTables:
        run_s, nodes, asked = (outcomes[name] for name in ("run_s", "nodes", "asked_nodes"))
        wanted = self.evidence.split("+")
        power_w = outcomes["power_w"] if "power" in wanted else np.full(len(nodes), np.nan)
        others = []
        own = nodes == asked
        if "habits" in wanted:
            users = outcomes["user_id"]
            others.append(habit_likelihood(app[own], users[own], nodes[own], run_s[own], len(apps)))
        if "trials" in wanted and base is not None and not own.all():
            log_ratio = np.log(run_s) - boosting.predicted(base, features)
            error = float(np.std(log_ratio[own]))
            others.append(trial_likelihood(app, asked, nodes, log_ratio, error, len(apps)))
        evidence = PowerEvidence(app, nodes, power_w, len(apps))
        return learn_tables(
            apps,
            np.bincount(app, minlength=len(apps)),
            evidence,
            others,
            idle_w=self.idle_w,
            waiting_share=self.waiting_share,
        )

    def _slowdown(self, rows: NDArray[np.int64], nodes: Floats) -> Floats:
        """Return the log slow-down of each row of the tables at a count of its own: shape [J]."""
        return interpolated_own(self._tables.log_slowdown, rows, nodes)

    def _level(self, contexts: Matrix, rows: NDArray[np.int64]) -> Floats:
        """Return what the tables' watts are to be multiplied by: a new application's by its history, else 1."""
        result = np.ones(len(contexts))
        level, usual = contexts["app_mean_node_w"], contexts["app_mean_log_nodes"]
        strange = (rows == len(self._tables.app)) & np.isfinite(level) & np.isfinite(usual)
        if strange.any():
            typical = interpolated_own(self._tables.node_w, rows[strange], np.exp(usual[strange]))
            result[strange] = level[strange] / typical
        return result

    def _log_mean(self, contexts: Matrix, nodes: Floats) -> Floats:
        curves = self._curves(contexts, nodes)
        result = np.empty((len(contexts), len(nodes), 2))
        base = boosting.predicted(self._base, contexts.take(BASE_COLUMNS))
        result[..., 0] = (base - curves.slowdown_asked)[:, None] + curves.slowdown
        if self._residual is None:
            result[..., 1] = np.nan
        else:
            rest = boosting.predicted(self._residual, contexts.take(RESIDUAL_COLUMNS))
            if curves.rows.max(initial=-1) == len(self._tables.app):
                rest = rest + np.log(self._level(contexts, curves.rows))
            result[..., 1] = curves.log_watts + rest[:, None]
        return result

    def _widening(self, contexts: Matrix, nodes: Floats) -> Floats:
        """Return the spread of the application's curves between the count asked for and n, and some more beyond."""
        return (self._curves(contexts, nodes).apart + FURTHER * distance(contexts, nodes))[..., None]

    def _curves(self, contexts: Matrix, nodes: Floats) -> Curves:
        """Return what the tables say of J contexts at N counts; of one context it is remembered."""
        if len(contexts) != 1:
            return self._tables.curves(contexts["app_id"], contexts["asked_nodes"], nodes)
        key = (float(contexts["app_id"][0]), float(contexts["asked_nodes"][0]), nodes.tobytes())
        found = self._known.get(key)
        if found is None:
            if len(self._known) >= MOST_KNOWN:
                self._known.clear()
            found = self._known[key] = self._tables.curves(contexts["app_id"], contexts["asked_nodes"], nodes)
        return found

    def explain(self) -> dict[str, Any]:
        """Return importance, what nodes have in common, and the speed-up of each application at `SHOWN` counts.

        ``speed_ups`` maps an application to its mean speed-ups; ``None`` is one never seen. ``node`` is None where
        the log had no power.
        """
        found = super().explain()
        rows = np.arange(len(self._tables.app) + 1)
        speed_up = np.exp(-interpolated(self._tables.log_slowdown, rows, np.array(SHOWN, dtype=float)))
        names = [*self._tables.app.tolist(), None]
        power = self._tables.power
        node = {"idle_w": power.idle_w, "waiting_share": power.waiting_share}
        return found | {
            "node": None if self._residual is None else node,
            "counts": list(SHOWN),
            "speed_ups": dict(zip(names, speed_up.tolist(), strict=True)),
        }

    def _importance(self) -> dict[str, dict[str, float]]:
        found = {"run_s": boosting.gains(self._base, BASE_COLUMNS)}
        if self._residual is not None:
            found["power_w"] = boosting.gains(self._residual, RESIDUAL_COLUMNS)
        return found

    def _state(self) -> model_files.State:
        tables = self._tables
        arrays = {
            "app": tables.app,
            "log_slowdown": tables.log_slowdown,
            "spread": tables.spread,
            "node_w": tables.node_w,
        }
        files = {"base.txt": boosting.to_text(self._base)}
        if self._residual is not None:
            files["residual.txt"] = boosting.to_text(self._residual)
        power = {"idle_w": tables.power.idle_w, "waiting_share": tables.power.waiting_share}
        return model_files.State(arrays, files, power)

    def _restore(self, state: model_files.State) -> None:
        power = NodePower(float(state.facts["idle_w"]), float(state.facts["waiting_share"]))
        app, slowdown, spread, node_w = (state.arrays[name] for name in ("app", "log_slowdown", "spread", "node_w"))
        self._tables = SpeedUpTables(app, slowdown, spread, node_w, power)
        self._base = boosting.from_text(state.files["base.txt"], len(BASE_COLUMNS))
        text = state.files.get("residual.txt")
        self._residual = None if text is None else boosting.from_text(text, len(RESIDUAL_COLUMNS))


def _part(weight: Floats | None, rows: NDArray[np.bool_]) -> Floats | None:
    return None if weight is None else weight[rows]


def _check(name: str, value: float | None, most: float, wanted: str) -> None:
    """Refuse a *value* of a parameter that is neither None nor a finite number from 0 to *most*."""
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    if value is not None and not (is_number and 0 <= value <= most and value < math.inf):
        raise InvalidArgument(f"The {name} of a surrogate is {value!r}.", f"Give {wanted}.")
