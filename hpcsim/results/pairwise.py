"""Each policy against the first: the figures, and the verdict in one sentence."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from hpcsim.results.quantities import count, duration, percentage
from hpcsim.results.result import Result
from hpcsim.results.statistics.classes import winners_and_losers
from hpcsim.results.statistics.differences import differences
from hpcsim.results.statistics.interval import Verdict
from hpcsim.results.statistics.windows import FEWEST

if TYPE_CHECKING:
    import pandas as pd

STRONG = 0.5
"""Correlation of consecutive windows above which intervals are known to come out too narrow."""


ALPHA = 0.05


@dataclass(frozen=True, slots=True, eq=False)
class Pairwise:
    """One policy (*new*) against another (*old*), by their labels.

    *measures* is what `hpcsim.results.statistics.differences` returned, *classes* what
    `winners_and_losers` did.
    """

    old: str
    new: str
    measures: pd.DataFrame
    classes: pd.DataFrame

    def to_dict(self) -> dict[str, Any]:
        """Return plain data, for JSON."""
        classes = self.classes.reset_index().to_dict("records")
        return {"policy": self.old, "measures": self.measures.to_dict("index"), "classes": classes}

    def _wait(self) -> dict[Any, Any]:
        row: dict[Any, Any] = self.measures.to_dict("index")["mean_wait_s"]
        return row

    def headline(self) -> str:
        """Return the verdict on the mean wait, as one sentence."""
        wait = self._wait()
        name = f"{self.new} against {self.old}"
        if math.isnan(wait["difference"]):
            return f"{name}: no job started in both runs."
        change = _change(wait["difference"])
        verdict = Verdict(wait["verdict"])
        if verdict is Verdict.SAME:
            return f"{name}: the same mean wait."
        if verdict is Verdict.NO_INTERVAL:
            return f"{name}: jobs wait {change} on average."
        low, high = _change(wait["low"]), _change(wait["high"])
        interval = f"95 % interval: {low} to {high}"
        if verdict is Verdict.NONE_SHOWN:
            return f"{name}: no difference shown in the mean wait; {change} on average ({interval})."
        return f"{name}: {verdict}. Jobs wait {change} on average ({interval})."

    def basis(self) -> str:
        """Return what the intervals rest on, as one sentence."""
        wait = self._wait()
        windows = count(int(wait["windows"]), str(wait["window"]))
        paired = f"{count(int(wait['jobs']), 'job')} paired"
        if Verdict(wait["verdict"]) is Verdict.NO_INTERVAL:
            return f"No intervals: the submits span {windows}, and {FEWEST} are needed; {paired}."
        length = count(int(wait["block"]), str(wait["window"]))
        return f"95 % intervals over {windows} in blocks of {length}; {paired}."

    def caution(self) -> str:
        """Return what weakens the intervals, or the empty text."""
        wait = self._wait()
        if not wait["correlation"] > STRONG:
            return ""
        return (
            f"Consecutive {wait['window']}s are alike (correlation {wait['correlation']:.2f}): "
            "the intervals may be too narrow."
        )

    def winners_and_losers(self) -> str:
        """Return which classes gain and which lose, the largest change first, in a few words.

        A class is named where its p-value, corrected by Holm for the number of classes, is below
        `ALPHA`: of a dozen classes one in two tables would else be named by chance.
        """
        everyone = self.classes.iloc[0]
        shares = (
            f"{percentage(everyone['better'])} of the jobs wait less, {percentage(everyone['worse'])} longer. "
            if len(self.classes) and everyone["jobs"]
            else ""
        )
        winners, losers = (self._named(sign) or "none shown" for sign in (-1, 1))
        return f"{shares}Winners: {winners}. Losers: {losers}."

    def _named(self, sign: int, most: int = 3) -> str:
        is_shown = (self.classes["p_holm"] < ALPHA) & (np.sign(self.classes["difference"]) == sign)
        is_class = self.classes.index.get_level_values("by") != "all"
        classes = self.classes[is_shown & is_class].sort_values("difference", key=abs, ascending=False, kind="stable")
        told = zip(classes.index, classes["difference"].head(most), strict=False)
        named = [f"{class_name(*key)} ({_change(difference)})" for key, difference in told]
        more = len(classes) - len(named)
        return ", ".join(named) + (f" and {more} more" if more > 0 else "")


def against_first(results: Mapping[str, Result], **options: Any) -> list[Pairwise]:
    """Compare each result with the first, under the names given.

    *options* are those of `hpcsim.results.statistics.differences`, as are the errors.
    """
    (first, old), *others = results.items()
    return [
        Pairwise(first, name, differences(old, new, **options), winners_and_losers(old, new, **options))
        for name, new in others
    ]


def class_name(by: str, name: str) -> str:
    """Return the name of a class as it reads in a sentence or a line of its own."""
    prefix = {"size": "size ", "length": "run "}.get(by, "")
    return f"{prefix}{name}"


def _change(seconds: float) -> str:
    if round(seconds, 2) == 0:
        return "0 s longer"
    return f"{duration(abs(seconds))} {'less' if seconds < 0 else 'longer'}"
