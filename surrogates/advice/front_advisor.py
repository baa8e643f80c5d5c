"""Advice by a surrogate: it predicts run time and power at the job's node counts, and a rule chooses."""

from __future__ import annotations

import copy
import math
from dataclasses import field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from hpcsim import registry
from hpcsim.cluster import Cluster
from hpcsim.errors import HpcsimError, InvalidArgument
from hpcsim.job import Job, JobOutcome
from hpcsim.surrogate import Surrogate
from hpcsim.surrogates.advice.contexts import rows_or_frame
from hpcsim.surrogates.advice.experience import Experience
from hpcsim.surrogates.advice.forecast import Forecast
from hpcsim.surrogates.advice.rule_advisor import RuleAdvisor, check, is_number, is_whole
from hpcsim.surrogates.advice.searched import searched
from hpcsim.surrogates.features import contexts_table, outcomes_table
from hpcsim.surrogates.features.columns import OUTCOME_COLUMNS
from hpcsim.system import System
from hpcsim.workload import Workload

if TYPE_CHECKING:
    import pandas as pd

    from hpcsim.surrogates.advice.answer import Answer

EXACT = "exact"


class FrontAdvisor(RuleAdvisor):
    """Advise by what a surrogate predicts; until one is fitted every request stands.

    Args:
        surrogate: a `Surrogate`, the registry name of one, or the folder of a saved one.
        engine: how counts to choose among are found: ``exact`` predicts all of them in one call, any
            other engine of the registry's group ``search`` looks for the front of run time and power,
            ``mobo`` as published.
        budget: evaluations of such an engine.
        history: finished jobs before the run: the `Workload` of an earlier log, a table of `outcomes_table`,
            or a file of either. Contexts know them; a surrogate that is not fitted learns from them.
        refit_every_s: learn again from finished jobs so often; ``inf``: never.
        refit_jobs: the latest finished jobs to learn from, at most.
        least_jobs: finished jobs before a surrogate without history is fitted first.
    """

    surrogate: Surrogate | str = "semi-parametric"
    engine: str = EXACT
    budget: int = 32
    history: Any = field(default=None, repr=False)
    refit_every_s: float = math.inf
    refit_jobs: int = 20_000
    least_jobs: int = 200

    def __post_init__(self) -> None:
        super().__post_init__()
        check(self, "refit_every_s", lambda value: is_number(value) and value > 0, "seconds above 0, or inf")
        for name in ("budget", "refit_jobs", "least_jobs"):
            check(self, name, is_whole(1), "a whole number from 1")
        self._make_engine = None if self.engine == EXACT else registry.find("search", self.engine)
        self._first = surrogate_of(self.surrogate)
        self._before = _outcomes(self.history)
        self._is_first_fitted = is_fitted(self._first)
        self._begin()

    def reset(self, cluster: Cluster, rng: np.random.Generator) -> None:
        """Forget what was learned in the last run."""
        super().reset(cluster, rng)
        self._begin()

    def forecast(self, job: Job, counts: NDArray[np.int64], system: System) -> Forecast | None:
        """Return what the surrogate predicts for *job*; None while it has learned nothing."""
        if system.now_s >= self._next_fit_s:
            self._learn(system.now_s)
        if not self._is_fitted:
            return None
        context = self._experience.context(job, system.now_s)
        contexts = rows_or_frame(context, takes_rows=getattr(self._model, "takes_rows", False))
        if self._make_engine is not None:
            counts = searched(self._make_engine, self._model, contexts, counts, job.nodes, self.budget)
        found = self._model.predict(contexts, counts)
        return Forecast(
            counts,
            found.mean[0, :, 0],
            found.upper[0, :, 0],
            found.mean[0, :, 1],
            found.supported[0],
            int(np.flatnonzero(counts == job.nodes)[0]),
        )

    def on_end(self, job: Job, outcome: JobOutcome, system: System) -> None:
        """Remember how *job* went."""
        self._experience.note(job, outcome)

    @property
    def before(self) -> pd.DataFrame | None:
        """Outcomes of the jobs in `history`."""
        return self._before

    def learn(self) -> Self:
        """Fit the surrogate to the history now and not at the first question; return self, with `surrogate` fitted."""
        if not self._is_first_fitted:
            if self._before is None or not len(self._before):
                raise InvalidArgument(
                    "The advisor has no history to learn from.", "Give history=, or a fitted surrogate."
                )
            self._first.fit(self._before.tail(self.refit_jobs))
            self._is_first_fitted = True
        self.surrogate, self.history = self._first, self._before
        self._begin()
        return self

    def answer(self, job: dict[str, Any], cluster: Cluster) -> Answer:
        """Return what this advisor says of one job on an empty *cluster*, see `hpcsim.surrogates.advice.answer`.

        A job that does not say when it is submitted is submitted when all of the history has ended.

        Raises:
            InvalidArgument: the description of the job makes no sense, or the surrogate is not fitted.
        """
        from hpcsim.surrogates.advice.answer import answer
        from hpcsim.surrogates.advice.described_job import described_job

        has_history = self._before is not None and len(self._before) > 0
        after_s = math.floor(float(self._before["end_s"].max())) + 1 if has_history else 0  # type: ignore[index]
        return answer(self, described_job({"submit_s": after_s} | job, cluster), cluster)

    def _begin(self) -> None:
        self._experience = Experience(self._before)
        self._model, self._is_fitted = self._first, self._is_first_fitted
        self._next_fit_s = math.inf if self._is_fitted and math.isinf(self.refit_every_s) else -math.inf

    def _learn(self, now_s: float) -> None:
        """Fit a new model to the jobs that have ended by now; the old one serves where that fails."""
        if self._next_fit_s == -math.inf and self._is_fitted:
            self._next_fit_s = now_s + self.refit_every_s
            return
        known = len(self._experience) + (0 if self._before is None else len(self._before))
        if known < self.least_jobs:
            return
        self._next_fit_s = now_s + self.refit_every_s
        model = copy.deepcopy(self._first)
        model.fit(self._experience.outcomes(self.refit_jobs))
        self._model, self._is_fitted = model, True
        if self._before is not None and not len(self._experience):
            self._first, self._is_first_fitted = model, True  # what the earlier log taught outlasts a run


def surrogate_of(what: Surrogate | str) -> Surrogate:
    """Return the surrogate that *what* is, names, or whose folder it is.

    Raises:
        UnknownName: there is no such surrogate and no such folder.
        ResultError: the folder holds no sound model.
    """
    if isinstance(what, Surrogate):
        return what
    if not isinstance(what, str):
        raise InvalidArgument(
            f"{what!r} is no surrogate.", "Give a Surrogate, its registry name or a saved one's folder."
        )
    if Path(what).is_dir():
        from hpcsim.surrogates.model_files import load_any

        return load_any(what)
    model: Surrogate = registry.make("surrogates", what)
    return model


def is_fitted(model: Surrogate) -> bool:
    """Tell whether *model* predicts: one that is not fitted refuses."""
    known: bool | None = getattr(model, "_is_fitted", None)
    if known is not None:
        return known
    try:
        model.predict(contexts_table([Job(row=0, job_id=0, submit_s=0, nodes=1, limit_s=1)]), np.array([1]))
    except (HpcsimError, AttributeError, RuntimeError, ValueError):
        return False
    return True


def _outcomes(history: Any) -> pd.DataFrame | None:
    if isinstance(history, Workload):
        return outcomes_table(history)
    if not isinstance(history, str | Path):
        return _table_of(history)
    if not Path(history).exists():
        raise InvalidArgument(f"There is no history {history}.", "Give a job log, or a Parquet file of outcomes.")
    try:
        return _read_outcomes(Path(history))
    except (OSError, ValueError) as error:
        raise InvalidArgument(
            f"Cannot read the history {history}: {error}", "Give a job log, or a Parquet file of outcomes."
        ) from error


def _table_of(history: Any) -> pd.DataFrame | None:
    if history is not None and not set(OUTCOME_COLUMNS) <= set(getattr(history, "columns", ())):
        shown = repr(history) if isinstance(history, int | float) else f"a {type(history).__name__}"
        raise InvalidArgument(
            f"The history of the advisor is {shown}.",
            "Give a Workload, a table of outcomes_table, or a file.",
        )
    table: pd.DataFrame | None = history
    return table


def _read_outcomes(path: Path) -> pd.DataFrame:
    """Return the outcomes of a job log of any known format, or a table of them that was written as Parquet."""
    if path.suffix == ".parquet":
        import pandas as pd

        table = pd.read_parquet(path)
        if set(OUTCOME_COLUMNS) <= set(table.columns):
            return table
    return outcomes_table(registry.make("readers", "auto", path=path))
