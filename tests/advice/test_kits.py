"""Advisors and surrogates that break one rule each, and the check that must catch them."""

from __future__ import annotations

import json
import sys
from functools import cache
from pathlib import Path
from typing import Any, Self

import numpy as np
import pandas as pd
import pytest

from hpcsim import Advice, Advisor
from hpcsim.errors import InvalidArgument, PolicyCheckFailed
from hpcsim.job import Job
from hpcsim.surrogate import Prediction, Surrogate
from hpcsim.surrogates.features import contexts_table, outcomes_table
from hpcsim.surrogates.global_law import GlobalLaw
from hpcsim.testing import check_advisor, check_surrogate
from hpcsim.testing.advisor_checks import ADVISOR_CHECKS
from hpcsim.testing.surrogate_checks import SURROGATE_CHECKS
from hpcsim.testing.verdict import Status, Verdict
from tests.advice.test_front_advisor import BEFORE, JOBS


@cache
def outcomes() -> pd.DataFrame:
    return outcomes_table(BEFORE)


@cache
def contexts() -> pd.DataFrame:
    return contexts_table(JOBS, outcomes()).head(12)


class WrongShape(GlobalLaw):
    """Breaks shapes."""

    def predict(self, contexts: Any, nodes: Any) -> Prediction:
        found = super().predict(contexts, nodes)
        return Prediction(found.mean[:, :, :1], found.lower, found.upper, found.supported)


class NegativePower(GlobalLaw):
    """Breaks numbers."""

    def predict(self, contexts: Any, nodes: Any) -> Prediction:
        found = super().predict(contexts, nodes)
        return Prediction(found.mean * [1, -1], found.lower, found.upper, found.supported)


class CrossedBounds(GlobalLaw):
    """Breaks numbers."""

    def predict(self, contexts: Any, nodes: Any) -> Prediction:
        found = super().predict(contexts, nodes)
        return Prediction(found.mean, found.upper, found.lower, found.supported)


class PredictsUnfitted(GlobalLaw):
    """Breaks refuses-unfitted."""

    def predict(self, contexts: Any, nodes: Any) -> Prediction:
        if self._is_fitted:
            return super().predict(contexts, nodes)
        shape = (len(contexts), len(nodes))
        ones = np.ones((*shape, 2))
        return Prediction(ones, ones, ones, np.ones(shape, dtype=bool))


class DrawsAnew(GlobalLaw):
    """Breaks repeats: it draws from a generator that nobody seeds."""

    def fit(self, outcomes: pd.DataFrame) -> Self:
        return super().fit(outcomes.sample(frac=0.3, random_state=np.random.default_rng()))


class RanksJobs(GlobalLaw):
    """Breaks one-by-one: a prediction depends on the other jobs asked about."""

    def predict(self, contexts: Any, nodes: Any) -> Prediction:
        found = super().predict(contexts, nodes)
        parts = (found.mean, found.lower, found.upper)
        grown = (part * (1 + np.arange(len(contexts)))[:, None, None] for part in parts)
        return Prediction(*grown, found.supported)


class ForgetsWhenSaved(GlobalLaw):
    """Breaks saves: what is loaded is another model."""

    def save(self, folder: str | Path) -> None:
        super().save(folder)
        card = json.loads((Path(folder) / "card.json").read_text(encoding="utf-8"))
        bounds = np.array(card["intervals"]["bounds_log"]) * 2
        card["intervals"]["bounds_log"] = bounds.tolist()
        (Path(folder) / "card.json").write_text(json.dumps(card), encoding="utf-8")


class Pickles(GlobalLaw):
    """Breaks saves: a pickle lies beside the model."""

    def save(self, folder: str | Path) -> None:
        super().save(folder)
        (Path(folder) / "extra.pkl").write_bytes(b"")


class Raises(GlobalLaw):
    """Breaks shapes, and all others: it predicts nothing."""

    def predict(self, contexts: Any, nodes: Any) -> Prediction:
        raise ZeroDivisionError("no")


def failed(verdict: Verdict) -> set[str]:
    """Return the names of the checks that failed."""
    return {outcome.check for outcome in verdict.outcomes if outcome.status is Status.FAILED}


BROKEN: dict[type[Surrogate], str] = {
    WrongShape: "shapes",
    NegativePower: "numbers",
    CrossedBounds: "numbers",
    PredictsUnfitted: "refuses-unfitted",
    DrawsAnew: "repeats",
    RanksJobs: "one-by-one",
    ForgetsWhenSaved: "saves",
    Pickles: "saves",
    Raises: "shapes",
}


def test_a_sound_surrogate_passes_and_stays_unfitted() -> None:
    model = GlobalLaw()
    assert check_surrogate(model, outcomes(), contexts()).holds
    assert not model._is_fitted


@pytest.mark.parametrize("kind", BROKEN, ids=lambda kind: kind.__name__)
def test_broken_surrogates_are_caught_by_the_check_of_that_rule(kind: type[Surrogate]) -> None:
    verdict = check_surrogate(kind(), outcomes(), contexts(), on_fail="return")
    assert BROKEN[kind] in failed(verdict)
    with pytest.raises(PolicyCheckFailed, match="breaks the rules of surrogates"):
        check_surrogate(kind(), outcomes(), contexts())


def test_every_rule_of_surrogates_has_one_that_breaks_it() -> None:
    assert set(BROKEN.values()) == set(SURROGATE_CHECKS)
    with pytest.raises(InvalidArgument, match="no surrogate"):
        check_surrogate("scaling-law", outcomes(), contexts())  # type: ignore[arg-type]


class Halves(Advisor):
    """Keeps the rules: half of the nodes, twice the limit."""

    def advise(self, job: Job, system: Any) -> Advice:
        half = job.nodes // 2
        if half not in job.allowed_nodes or 2 * job.limit_s > 86_400:
            return Advice(nodes=job.nodes, limit_s=job.limit_s, reason="kept-no-gain")
        return Advice(nodes=half, limit_s=2 * job.limit_s, reason="advised")


class Shortens(Halves):
    """Breaks keeps-limits."""

    def advise(self, job: Job, system: Any) -> Advice:
        advice = super().advise(job, system)
        limit_s = job.limit_s / 2 if advice.reason == "advised" else job.limit_s
        return Advice(nodes=advice.nodes, limit_s=limit_s, reason=advice.reason)


class Peeks(Halves):
    """Breaks sees-no-future: it knows the run times, and does not say so."""

    def advise(self, job: Job, system: Any) -> Advice:
        desk = sys._getframe(1).f_locals["self"]  # the engine's, which holds the workload
        run_s = desk._scalings._workload.columns["run_s"][job.row]
        if int(run_s) % 2:
            return Advice(nodes=job.nodes, limit_s=job.limit_s, reason="kept-no-gain")
        return super().advise(job, system)


class Rolls(Halves):
    """Breaks repeats: it draws from a generator of its own."""

    def advise(self, job: Job, system: Any) -> Advice:
        if np.random.default_rng().random() < 0.5:
            return Advice(nodes=job.nodes, limit_s=job.limit_s, reason="kept-no-gain")
        return super().advise(job, system)


class Remembers(Halves):
    """Breaks forgets: the second run is advised otherwise."""

    seen: int = 0

    def advise(self, job: Job, system: Any) -> Advice:
        self.seen += 1
        if self.seen > 60:
            return Advice(nodes=job.nodes, limit_s=job.limit_s, reason="kept-no-gain")
        return super().advise(job, system)


class SaysNothing(Halves):
    """Breaks answers."""

    def advise(self, job: Job, system: Any) -> Any:
        return None


BROKEN_ADVISORS: dict[type[Advisor], str] = {
    SaysNothing: "answers",
    Shortens: "keeps-limits",
    Peeks: "sees-no-future",
    Rolls: "repeats",
    Remembers: "forgets",
}


def test_a_sound_advisor_passes() -> None:
    assert check_advisor(Halves(), jobs=60).holds


@pytest.mark.parametrize("kind", BROKEN_ADVISORS, ids=lambda kind: kind.__name__)
def test_broken_advisors_are_caught_by_the_check_of_that_rule(kind: type[Advisor]) -> None:
    verdict = check_advisor(kind(), jobs=60, on_fail="return")
    assert BROKEN_ADVISORS[kind] in failed(verdict)


def test_every_rule_of_advisors_has_one_that_breaks_it() -> None:
    """Nobody but the engine can break the last: it says that what results is possible."""
    assert {*BROKEN_ADVISORS.values(), "possible"} == set(ADVISOR_CHECKS)
