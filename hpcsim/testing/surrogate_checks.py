"""Does my surrogate keep the rules? Each check is a rule, tried on finished jobs and new ones that you give."""

from __future__ import annotations

import copy
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Literal

import numpy as np
from numpy.typing import NDArray

from hpcsim.errors import HpcsimError, InvalidArgument, PolicyCheckFailed
from hpcsim.surrogate import Prediction, Surrogate
from hpcsim.testing.verdict import CheckOutcome, Status, Verdict

if TYPE_CHECKING:
    import pandas as pd

COUNTS = np.array([1, 2, 3, 8, 16], dtype=np.int64)
CLOSE = 1e-9
FEW = 5


@dataclass(frozen=True, slots=True, eq=False)
class Examinee:
    """A surrogate as given, what it learns from, new jobs, and a copy of it that has learned."""

    surrogate: Surrogate
    outcomes: pd.DataFrame
    contexts: pd.DataFrame
    fitted: Surrogate


def _shapes(its: Examinee) -> str:
    found = its.fitted.predict(its.contexts, COUNTS)
    wanted = (len(its.contexts), len(COUNTS), 2)
    for name in ("mean", "lower", "upper"):
        if getattr(found, name).shape != wanted:
            return f"{name} has shape {getattr(found, name).shape}, wanted is {wanted}."
    return "" if found.supported.shape == wanted[:2] else f"supported has shape {found.supported.shape}."


def _numbers(its: Examinee) -> str:
    found = its.fitted.predict(its.contexts, COUNTS)
    if not (np.isfinite(found.mean[..., 0]).all() and (found.mean[..., 0] > 0).all()):
        return "A predicted run time is no number above 0."
    power_w = found.mean[..., 1]
    if (power_w <= 0).any():
        return "A predicted power is 0 or less; NaN is for what is not known."
    with np.errstate(invalid="ignore"):
        wrong = (found.lower > found.mean * (1 + CLOSE)) | (found.mean > found.upper * (1 + CLOSE))
    return "A mean lies outside its bounds." if wrong.any() else ""


def _refuses_unfitted(its: Examinee) -> str:
    fresh = copy.deepcopy(its.surrogate)
    try:
        fresh.predict(its.contexts, COUNTS)
    except HpcsimError:
        return ""
    except Exception as error:  # noqa: BLE001 - somebody else's code may raise anything
        return f"Unfitted it raises {type(error).__name__}, not an HpcsimError that says what to do."
    return "Unfitted it predicts all the same."


def _repeats(its: Examinee) -> str:
    again = copy.deepcopy(its.surrogate).fit(its.outcomes)
    same = _agree(again.predict(its.contexts, COUNTS), its.fitted.predict(its.contexts, COUNTS))
    return "" if same else "A second fit to the same jobs predicts otherwise."


def _one_by_one(its: Examinee) -> str:
    whole = its.fitted.predict(its.contexts, COUNTS)
    for place in range(min(FEW, len(its.contexts))):
        alone = its.fitted.predict(its.contexts.iloc[[place]], COUNTS)
        if not np.allclose(alone.mean[0], whole.mean[place], rtol=1e-6, equal_nan=True):
            return f"Row {place} alone is predicted otherwise than among the others."
    few = its.fitted.predict(its.contexts, COUNTS[1:3])
    same = np.allclose(few.mean, whole.mean[:, 1:3], rtol=1e-6, equal_nan=True)
    return "" if same else "A count is predicted otherwise when others are asked about beside it."


def _saves(its: Examinee) -> str:
    with tempfile.TemporaryDirectory() as folder:
        its.fitted.save(Path(folder) / "model")
        loaded = type(its.fitted).load(Path(folder) / "model")
        pickles = [path.name for path in Path(folder).rglob("*") if path.suffix in {".pkl", ".pickle", ".joblib"}]
    if pickles:
        return f"It saves {pickles[0]}: a pickle runs whatever is in it."
    same = _agree(loaded.predict(its.contexts, COUNTS), its.fitted.predict(its.contexts, COUNTS))
    return "" if same else "Loaded again it predicts otherwise."


def _agree(one: Prediction, other: Prediction) -> bool:
    pairs: list[tuple[NDArray[np.float64], NDArray[np.float64]]] = [
        (getattr(one, name), getattr(other, name)) for name in ("mean", "lower", "upper")
    ]
    return all(np.allclose(a, b, rtol=1e-6, equal_nan=True) for a, b in pairs)


Finder = Callable[[Examinee], str]

SURROGATE_CHECKS: dict[str, tuple[str, Finder]] = {
    "shapes": ("predictions have the shapes of the contract", _shapes),
    "numbers": ("run times are above 0, means within their bounds", _numbers),
    "refuses-unfitted": ("unfitted it says so by an HpcsimError", _refuses_unfitted),
    "repeats": ("the same jobs give the same model", _repeats),
    "one-by-one": ("a prediction does not depend on what else is asked", _one_by_one),
    "saves": ("it is the same after save and load, without pickle", _saves),
}
"""Name -> the rule in a line, and what looks for a violation."""


def check_surrogate(
    surrogate: Surrogate,
    outcomes: pd.DataFrame,
    contexts: pd.DataFrame,
    *,
    on_fail: Literal["raise", "return"] = "raise",
) -> Verdict:
    """Check that *surrogate*, unfitted, keeps the rules of `SURROGATE_CHECKS`.

    Args:
        surrogate: it is copied and stays unfitted.
        outcomes: finished jobs to learn from, as `hpcsim.surrogates.features.outcomes_table` makes them.
        contexts: other jobs, as `contexts_table` makes them.
        on_fail: ``"raise"``, or ``"return"`` to get the verdict in any case.

    Raises:
        PolicyCheckFailed: a check failed, and *on_fail* is ``"raise"``.
        InvalidArgument: *surrogate* is none.
    """
    if not isinstance(surrogate, Surrogate):
        raise InvalidArgument(f"{surrogate!r} is no surrogate.", "Give an object of a class that inherits Surrogate.")
    its = Examinee(surrogate, outcomes, contexts, copy.deepcopy(surrogate).fit(outcomes))
    verdict = Verdict(repr(surrogate))
    for name, (rule, find) in SURROGATE_CHECKS.items():
        began_s = perf_counter()
        try:
            fault = find(its)
        except Exception as error:  # noqa: BLE001 - somebody else's code may raise anything
            fault = f"It raised {type(error).__name__}: {error}"
        status = Status.FAILED if fault else Status.PASSED
        verdict.outcomes.append(CheckOutcome(name, rule, status, fault, None, perf_counter() - began_s))
    if on_fail == "raise" and not verdict.holds:
        raise PolicyCheckFailed(
            f"{verdict.policy} breaks the rules of surrogates.\n" + "\n".join(verdict.explanations())
        )
    return verdict
