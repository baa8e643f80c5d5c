"""A trial: one surrogate, learned with one sample, searched by one engine, on one log."""

from __future__ import annotations

import math
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from hpcsim import registry
from hpcsim.surrogate import Surrogate
from hpcsim.surrogates import grading, pareto
from hpcsim.surrogates.accuracy import accuracy_by_group
from hpcsim.surrogates.features import FEATURES
from hpcsim.surrogates.search.domain import Domain
from hpcsim.surrogates.search.front import Found, find_front
from hpcsim.surrogates.selection import Candidates, select
from hpcsim.surrogates.study.data import TrialData, prepared
from hpcsim.workload import Workload

if TYPE_CHECKING:
    import pandas as pd

Floats = NDArray[np.float64]
Row = dict[str, Any]

TARGETS = ("run_s", "power_w")
TIMED_CALLS = 30
LEVELS = (0.2, 0.4, 0.6, 0.8)
"""Parts of the 90 % interval, in logarithms about the prediction, at which calibration is drawn besides the whole."""

TRACED_AT = (4, 8, 16, 32, 64, 128, 300)
"""Evaluations at which the hypervolume is noted."""


@dataclass(frozen=True, slots=True, eq=False)
class _Fitted:
    """What is known of a surrogate once it is fitted: predictions [J, N, 2], costs, errors, TabNet's masks."""

    mean: Floats
    cost: Row
    accuracy: list[Row]
    masks: dict[str, float]


class AdvisorTrial:
    """Runs trials on one log; see `run`.

    Args:
        workload: the log, with or without its hidden truth.
        test_jobs: how many later jobs are judged.
        most_nodes: counts from 1 to this are considered.
    """

    def __init__(self, workload: Workload, *, test_jobs: int, most_nodes: int) -> None:
        self.data: TrialData = prepared(workload, test_jobs=test_jobs, most_nodes=most_nodes)
        self._known: dict[str, _Fitted] = {}

    def run(self, cell: Mapping[str, Any]) -> dict[str, Any]:
        """Return what came of *cell*, as plain data.

        *cell* has the keys family, parameters (of the surrogate), sampler (text or None), engine, budget
        (None: all counts), jobs (how many test jobs are searched), seed. The answer has one row each for
        ``self_graded truth_graded cost``, and ``trace`` (hypervolume over evaluations), ``accuracy``
        (a row a target and group), ``fronts`` (of the first job), ``masks`` (of TabNet).
        """
        fitted = self._fitted(cell)
        jobs = min(cell["jobs"], len(fitted.mean))
        began = _clocks()
        found = [self._search(cell, fitted.mean[job], job) for job in range(jobs)]
        cost = fitted.cost | _search_cost(found, _spent(began, "search"))
        whole = next(row for row in fitted.accuracy if row["group"] == "all" and row["target"] == "run_s")
        errors = {f"run_{name}": whole[name] for name in ("mape_percent", "rmse_log", "coverage")}
        return {
            "self_graded": self._self_graded(found),
            "truth_graded": self._truth_graded(found) | errors,
            "cost": cost,
            "trace": _trace(found, fitted.mean),
            "accuracy": fitted.accuracy,
            "fronts": self._front(found[0], fitted.mean[0]) if found else {},
            "masks": fitted.masks,
            "funnel": self.data.funnel,
        }

    def _fitted(self, cell: Mapping[str, Any]) -> _Fitted:
        """Return the surrogate of *cell*, learned once for all cells that only search it in other ways."""
        key = repr([cell[name] for name in ("family", "parameters", "sampler", "seed")])
        if key not in self._known:
            began = _clocks()
            sampler = {} if cell["sampler"] is None else {"sampler": cell["sampler"]}
            model = registry.make("surrogates", cell["family"], seed=cell["seed"], **sampler, **cell["parameters"])
            model.fit(self.data.train)
            cost = _spent(began, "train") | self._latency(model)
            sample = getattr(model, "sample", None)
            cost["realised_rate"] = 1.0 if sample is None else sample.realised_rate
            cost["rows"] = len(self.data.train) if sample is None else int(sample.keep.sum())
            mean = model.predict(self.data.contexts, self.data.counts).mean
            self._known[key] = _Fitted(mean, cost, self._accuracy(model), _masks(model, self.data.tested))
        return self._known[key]

    def _search(self, cell: Mapping[str, Any], predicted: Floats, job: int) -> Found:
        """Search the predictions of one job, which are a table by now, so that only the engine's own time counts."""
        return find_front(
            registry.find("search", cell["engine"]),
            Domain.of_nodes(self.data.counts),
            lambda settings: predicted[settings[:, 0].astype(np.int64) - 1],
            budget=cell["budget"],
            seed=1000 * cell["seed"] + job,
            batch=len(self.data.counts) if cell["engine"] == "exact" else 1,
        )

    def _latency(self, model: Surrogate) -> Row:
        """Return milliseconds of an advice: predictions at all counts, front, choice; the first call is cold.

        ``embed_ms`` is what a job costs more when it is seen first, where an embedding is then made and kept.
        """
        data = self.data
        first_ms: list[float] = []
        again_ms: list[float] = []
        for job in range(min(TIMED_CALLS, len(data.contexts))):
            context = data.contexts.iloc[[job]]
            for taken in (first_ms, again_ms):
                began_s = time.perf_counter()
                mean = model.predict(context, data.counts).mean[0]
                grading.named_counts(mean)
                select(_candidates(data.counts, mean))
                taken.append(1000 * (time.perf_counter() - began_s))
        p50, p99 = np.percentile(again_ms, [50, 99])
        embeds = getattr(model, "inputs", "raw") != "raw"
        embed_ms = float(np.median(np.array(first_ms) - np.array(again_ms))) if embeds else math.nan
        return {"advice_p50_ms": p50, "advice_p99_ms": p99, "first_advice_ms": first_ms[0], "embed_ms": embed_ms}

    def _self_graded(self, found: list[Found]) -> Row:
        """Return the paper's measures: raw units, predictions judging themselves."""
        if not found:
            return {}
        fronts = [one.values[one.on_front] for one in found]
        spreads = [pareto.gap_spread(front) for front in fronts]
        volumes = [
            pareto.hypervolume(front, reference) for front, reference in zip(fronts, self.data.references, strict=False)
        ]
        return {
            "hypervolume_s_w": float(np.mean(volumes)),
            "gap_mean_raw": float(np.mean([mean for mean, _ in spreads])),
            "gap_std_raw": float(np.mean([deviation for _, deviation in spreads])),
            "front_size": float(np.mean([len(front) for front in fronts])),
            "evaluations": float(np.mean([one.evaluations for one in found])),
            "repeats": float(np.mean([one.repeats for one in found])),
            "jobs": len(found),
        }

    def _truth_graded(self, found: list[Found]) -> Row:
        """Return what the truth says of the counts named and chosen; nothing where there is no truth."""
        data = self.data
        if data.truth is None or not found:
            return {"jobs": 0}
        rows = [
            _judged(one, data.truth[job], data.counts, int(data.tested["nodes"].iloc[job]))
            for job, one in enumerate(found)
        ]
        answer: Row = {"jobs": len(rows)}
        for name in ("hv_ratio", "igd_plus", "epsilon_plus", "deb_delta", "front_size"):
            answer[name] = _mean([row[name] for row in rows])
        for name in [key for key in rows[0] if key.endswith("_regret")]:
            values = np.array([row[name] for row in rows])
            answer[f"{name}_median"] = float(np.nanmedian(values)) if np.isfinite(values).any() else math.nan
            answer[f"{name}_p90"] = float(np.nanpercentile(values, 90)) if np.isfinite(values).any() else math.nan
        better = [row["edp_regret"] < row["user_edp_regret"] for row in rows]
        return answer | {"below_user_share": float(np.mean(better)), "advised_share": _mean(
            [float(math.isfinite(row["edp_regret"])) for row in rows])}  # fmt: skip

    def _accuracy(self, model: Surrogate) -> list[Row]:
        """Return errors at the counts that the test jobs had, by target and group."""
        data = self.data
        nodes = data.tested["nodes"].to_numpy(dtype=np.int64)
        own = np.full((3, len(nodes), 2), np.nan)
        for count in np.unique(nodes):
            mask = nodes == count
            found = model.predict(data.contexts[mask], np.array([count]))
            own[:, mask] = np.stack([found.mean, found.lower, found.upper])[:, :, 0]
        is_seen = np.isin(data.tested["app_id"], data.train["app_id"])
        rows: list[Row] = []
        for at, target in enumerate(TARGETS):
            true = data.tested[target].to_numpy()
            table = accuracy_by_group(true, *own[:, :, at], nodes=nodes, is_seen=is_seen)
            rows += [
                {"target": target} | {str(key): value for key, value in row.items()} for row in table.to_dict("records")
            ]
            rows[-len(table)]["calibration"] = _calibration(true, *own[:, :, at])
        return rows

    def _front(self, found: Found, predicted: Floats) -> Row:
        """Return the fronts of the first test job, to be drawn."""
        truth = None if self.data.truth is None else self.data.truth[0].tolist()
        return {
            "nodes": found.settings[found.on_front, 0].tolist(),
            "found": found.values[found.on_front].tolist(),
            "predicted": predicted.tolist(),
            "truth": truth,
        }


def _search_cost(found: list[Found], spent: Row) -> Row:
    jobs, evaluations = len(found), sum(one.evaluations for one in found)
    per_job = spent["search_cpu_s"] / jobs if jobs else math.nan
    cycle_ms = 1000 * spent["search_cpu_s"] / evaluations if evaluations else math.nan
    return {"search_cpu_s_a_job": per_job, "cycle_cpu_ms": cycle_ms, "searched_jobs": jobs}


def _trace(found: list[Found], mean: Floats) -> list[Row]:
    """Return the share of the exact *predicted* front's hypervolume after so many evaluations."""
    most = max((one.evaluations for one in found), default=0)
    rows = []
    for count in (*(at for at in TRACED_AT if at < most), most):
        shares = [_share(one.values[:count], mean[job]) for job, one in enumerate(found)]
        rows.append({"evaluations": count, "share_of_exact": _mean(shares), "by_job": shares})
    return rows


def _judged(found: Found, truth: Floats, counts: NDArray[np.int64], user_nodes: int) -> dict[str, float]:
    """Return grades and regrets of one job."""
    named = grading.named_counts(found.values)
    places = found.settings[named, 0].astype(np.int64) - 1
    grades = grading.front_grades(np.unique(places), truth)
    predicted = _candidates(found.settings[:, 0].astype(np.int64), found.values)
    return grades | dict(grading.regrets(predicted, _candidates(counts, truth), user_nodes))


def _candidates(counts: NDArray[np.int64], values: Floats) -> Candidates:
    return Candidates(counts, values[:, 0], values[:, 1])


def _share(values: Floats, exact: Floats) -> float:
    """Return the hypervolume ratio, NaN where the exact front is no front of positive values."""
    is_known = np.all(np.isfinite(exact) & (exact > 0), axis=1)
    return pareto.hypervolume_ratio(values, exact[is_known]) if is_known.any() else math.nan


def _calibration(true: Floats, mean: Floats, lower: Floats, upper: Floats) -> dict[str, float]:
    """Return, for parts of the interval about the prediction, the share of the truth that they hold."""
    with np.errstate(invalid="ignore"):
        log_true, log_mean, log_low, log_high = np.log([true, mean, lower, upper])
    answer = {}
    for level in (*LEVELS, 1.0):
        low, high = log_mean - level * (log_mean - log_low), log_mean + level * (log_high - log_mean)
        answer[f"{level:g}"] = _mean(((low <= log_true) & (log_true <= high)).astype(float))
    return answer


def _masks(model: Surrogate, tested: pd.DataFrame) -> dict[str, float]:
    """Return how much TabNet looks at each feature, shares of 1; nothing for other models."""
    tabnet = getattr(model, "tabnet", None)
    if tabnet is None:
        return {}
    importance = tabnet.explain(tested[list(FEATURES)].to_numpy())[0].mean(axis=0)
    shares = importance / max(float(importance.sum()), 1e-12)
    return dict(zip(FEATURES, shares.tolist(), strict=True))


def _mean(values: Any) -> float:
    known = np.asarray(values, dtype=np.float64)
    return float(np.nanmean(known)) if np.isfinite(known).any() else math.nan


def _clocks() -> tuple[float, float]:
    return time.perf_counter(), time.process_time()


def _spent(began: tuple[float, float], what: str) -> Row:
    wall_s, cpu_s = _clocks()
    return {f"{what}_wall_s": wall_s - began[0], f"{what}_cpu_s": cpu_s - began[1]}
