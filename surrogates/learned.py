"""What all learned surrogates share: which rows they learn from, intervals from held-out jobs, saving."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Self, cast

import numpy as np
from numpy.typing import NDArray

from hpcsim.errors import InvalidArgument, ResultError
from hpcsim.surrogate import Prediction, Surrogate
from hpcsim.surrogates import model_files
from hpcsim.surrogates.conformal import WIDENING, Calibration, groups
from hpcsim.surrogates.features.columns import CONTEXT_COLUMNS, OUTCOME_COLUMNS
from hpcsim.surrogates.features.matrix import Matrix
from hpcsim.surrogates.sampling import Sample, Sampler, sampler_of, uniforms
from hpcsim.surrogates.support import distance, supported

if TYPE_CHECKING:
    import pandas as pd

Floats = NDArray[np.float64]

HELD_OUT_JOBS, HELD_OUT_APPS = 0.2, 0.15
"""Share of the latest jobs, and of the applications, that a first model is not shown, to learn its errors."""

MOST_SEED = 2**31 - 1
"""Every library behind the surrogates takes seeds up to this."""

LEAST_JOBS = 100
"""With fewer nothing is held out."""


@dataclass(kw_only=True, eq=False)
class Learned(Surrogate):
    """Base of the learned surrogates; a subclass learns logs of run time and power, and predicts them.

    Args:
        seed: of everything that is drawn.
        sampler: which rows to learn from: a `hpcsim.surrogates.sampling.Sampler`, text such as
            ``difficulty:rate=0.5``, or None for all.
    """

    takes_rows: ClassVar[bool] = True
    """Contexts may be `hpcsim.surrogates.features.rows.ContextRows`, which cost less than a data frame."""

    seed: int = 0
    sampler: Sampler | str | None = None

    def __post_init__(self) -> None:
        self._apps: Floats = np.zeros(0)
        self._calibration = Calibration.unknown()
        self._is_fitted = False
        self._facts: dict[str, Any] = {}
        self.sample: Sample | None = None
        is_whole = isinstance(self.seed, int | np.integer) and not isinstance(self.seed, bool)
        if not is_whole or not 0 <= self.seed <= MOST_SEED:
            raise InvalidArgument(f"The seed is {self.seed!r}.", f"Give a whole number from 0 to {MOST_SEED:,}.")
        sampler_of(self.sampler, self.seed)

    @abstractmethod
    def _learn(self, outcomes: Matrix, weight: Floats | None) -> None:
        """Learn from the rows of *outcomes*, all valid."""

    @abstractmethod
    def _log_mean(self, contexts: Matrix, nodes: Floats) -> Floats:
        """Return predicted log run time and log power, shape [J, N, 2]."""

    def explain(self) -> dict[str, Any]:
        """Return what predictions rest on, as plain data: ``importance``, target -> feature -> share of all.

        Raises:
            InvalidArgument: it is not fitted.
        """
        self._require_fitted()
        return {"importance": self._importance()}

    def _importance(self) -> dict[str, dict[str, float]]:
        """Return target -> feature -> share of what the features explain."""
        return {}

    @abstractmethod
    def _state(self) -> model_files.State:
        """Return what was learned."""

    @abstractmethod
    def _restore(self, state: model_files.State) -> None:
        """Take back what `_state` returned."""

    def _twin(self) -> Self:
        """Return an unfitted model of the same kind, to measure this one's errors by."""
        return type(self)(**self._parameters())

    def _widening(self, contexts: Matrix, nodes: Floats) -> Floats:
        """Return by how much bounds grow away from what is known, in log: shape [J, N, 2] or [J, N, 1]."""
        return (WIDENING * distance(contexts, nodes))[..., None]

    def fit(self, outcomes: pd.DataFrame) -> Self:
        """Learn from finished jobs, a table of `hpcsim.surrogates.features.outcomes_table`; return self.

        Raises:
            InvalidArgument: a column is missing, there is no job, or a run time is no number above 0.
            MissingExtra: a package that this surrogate needs is not installed.
        """
        everything = rows = valid(Matrix.of(outcomes, OUTCOME_COLUMNS, "outcomes"))
        sampler = sampler_of(self.sampler, self.seed)
        keep, weight = np.ones(len(rows), dtype=bool), None
        if sampler is not None:
            self.sample = sampler.sample(rows)
            keep, weight = self.sample.keep, self.sample.weight
            rows = everything.rows(keep)
            if not len(rows):
                raise InvalidArgument("The sampler kept no row.", "Raise its rate, or give more finished jobs.")
        self._apps = np.unique(rows["app_id"])
        self._learn(rows, _part(weight, keep))
        self._calibration = self._calibrated(everything, keep, weight)
        self._is_fitted = True
        submit_s = rows["submit_s"]
        self._facts = {
            "rows": len(rows),
            "with_power": int(np.isfinite(rows["power_w"]).sum()),
            "first_submit_s": float(submit_s.min()),
            "last_submit_s": float(submit_s.max()),
        }
        return self

    def predict(self, contexts: pd.DataFrame, nodes: NDArray[np.int64]) -> Prediction:
        """Predict J contexts, a table of `contexts_table`, at N node counts, 1 or more each.

        Bounds are those of 90 % of outcomes at counts like the log's, wider elsewhere. Power is NaN where none was
        learned from.

        Raises:
            InvalidArgument: the model is not fitted, a column is missing, or a count is not a whole number from 1.
        """
        self._require_fitted()
        rows, counts = Matrix.of(contexts, CONTEXT_COLUMNS, "contexts"), checked(nodes)
        log_mean = self._log_mean(rows, counts)
        group = groups(rows, self._has_seen(rows["app_id"]), counts)
        lower, upper = self._calibration.interval(group, log_mean, self._widening(rows, counts))
        return Prediction(np.exp(log_mean), lower, upper, supported(rows, counts))

    def _has_seen(self, app: Floats) -> NDArray[np.bool_]:
        """Tell of each application [J] whether it was learned from."""
        if not len(self._apps):
            return np.zeros(len(app), dtype=bool)
        place = np.minimum(np.searchsorted(self._apps, app), len(self._apps) - 1)
        return np.asarray(self._apps[place] == app)

    def save(self, folder: str | Path) -> None:
        """Write the model into *folder*: a card in JSON, and files that hold numbers or native model text.

        Raises:
            InvalidArgument: it is not fitted.
        """
        self._require_fitted()
        facts = {"train": self._facts, "intervals": self._calibration.card(), "apps": self._apps.tolist()}
        model_files.write(Path(folder), self, self._parameters(), facts, self._state())

    @classmethod
    def load(cls, folder: str | Path) -> Self:
        """Read a saved model; its schema and its files are checked.

        Raises:
            ResultError: it is missing, truncated, of another surrogate or for other features.
        """
        card, state = model_files.read(Path(folder), cls)
        with model_files.sound(Path(folder)):
            model = cls(**card["parameters"])
            model._apps = _apps_of(card)
            model._calibration = Calibration.from_card(card["intervals"])
            model._facts = dict(card["train"])
            model._restore(state)
        model._is_fitted = True
        return model

    def _parameters(self) -> dict[str, Any]:
        """Return the parameters in a form that JSON knows; the sampler is spent and left out."""
        return {field.name: getattr(self, field.name) for field in fields(cast("Any", self)) if field.name != "sampler"}

    def _require_fitted(self) -> None:
        if not self._is_fitted:
            raise InvalidArgument(
                "This surrogate has not learned anything yet.", "Call fit(outcomes) first, or load()."
            )

    def _calibrated(self, rows: Matrix, keep: NDArray[np.bool_], weight: Floats | None) -> Calibration:
        """Return bounds from the errors of a twin that is not shown the latest jobs and some applications.

        A sampler's choice, *keep* [rows], is what the twin learns from. Its errors are those of all jobs held out,
        kept or not: a sampler that likes hard jobs would make them look larger than those to come.
        """
        if keep.sum() < LEAST_JOBS:
            return Calibration.unknown()
        late, strange = held_out(rows, self.seed)
        shown = keep & ~late & ~strange
        if shown.sum() < LEAST_JOBS // 2:
            return Calibration.unknown()
        twin = self._twin()
        twin._learn(rows.rows(shown), _part(weight, shown))
        asked = rows.rows(late | strange)
        errors = np.log(asked.take(("run_s", "power_w"))) - twin._at_own_counts(asked)
        seen = np.isin(asked["app_id"], np.unique(rows["app_id"][shown]))
        return Calibration.of(_own_groups(asked, seen), errors)

    def at_own_counts(self, outcomes: pd.DataFrame) -> Floats:
        """Return predicted log run time and log power of each row at its own ``nodes``: shape [rows, 2]."""
        self._require_fitted()
        return self._at_own_counts(Matrix.of(outcomes, CONTEXT_COLUMNS, "outcomes"))

    def _at_own_counts(self, rows: Matrix) -> Floats:
        nodes = rows["nodes"]
        result = np.empty((len(rows), 2))
        for count in np.unique(nodes):
            mine = nodes == count
            result[mine] = self._log_mean(rows.rows(mine), np.array([count]))[:, 0]
        return result


def checked(nodes: NDArray[np.int64]) -> Floats:
    """Return node counts as floats, or refuse them.

    Raises:
        InvalidArgument: they are not whole numbers from 1, in one dimension.
    """
    counts = np.asarray(nodes)
    if counts.ndim != 1 or counts.dtype.kind not in "iu" or (len(counts) and counts.min() < 1):
        raise InvalidArgument("Node counts must be whole numbers from 1, in one dimension.", "Give np.arange(1, 65).")
    return counts.astype(np.float64)


def _part(weight: Floats | None, rows: NDArray[np.bool_]) -> Floats | None:
    return None if weight is None else weight[rows]


def _own_groups(rows: Matrix, seen: NDArray[np.bool_]) -> NDArray[np.int64]:
    nodes = rows["nodes"]
    result = np.empty(len(rows), dtype=np.int64)
    for count in np.unique(nodes):
        mine = nodes == count
        result[mine] = groups(rows.rows(mine), seen[mine], np.array([count]))[:, 0]
    return result


def held_out(rows: Matrix, seed: int) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Return which *rows* are among the latest to be submitted, and which belong to applications set aside."""
    submit_s = rows["submit_s"]
    late = submit_s > np.quantile(submit_s, 1 - HELD_OUT_JOBS)
    strange = uniforms(rows["app_id"].astype(np.int64), seed) < HELD_OUT_APPS
    return late, strange


def valid(outcomes: Matrix) -> Matrix:
    """Return *outcomes* in order of submission, run times of at least 1 s, power above 0 or NaN; or refuse them.

    Raises:
        InvalidArgument: there is no job, or a run time or power is no number.
    """
    if not len(outcomes):
        raise InvalidArgument("There is no finished job to learn from.", "Give a log with jobs that completed.")
    run_s, power_w = outcomes["run_s"], outcomes["power_w"]
    for name, is_wrong, values in (("run time", ~np.isfinite(run_s), run_s), ("power", np.isinf(power_w), power_w)):
        if is_wrong.any():
            place = int(np.flatnonzero(is_wrong)[0])
            raise InvalidArgument(
                f"The {name} of row {place} of the outcomes is {values[place]}.",
                "Leave out the job, or set its power to NaN.",
            )
    mended = outcomes.with_columns(run_s=np.maximum(run_s, 1.0), power_w=np.where(power_w > 0, power_w, np.nan))
    return mended.rows(np.argsort(outcomes["submit_s"], kind="stable"))


def _apps_of(card: dict[str, Any]) -> Floats:
    """Return the applications that a card lists. Raises `ResultError` where it was changed since."""
    apps = np.array(card["apps"], dtype=float)
    if apps.ndim != 1 or np.any(np.diff(apps) <= 0):
        raise ResultError("The card holds no ascending list of applications.", "Save the model again.")
    return apps
