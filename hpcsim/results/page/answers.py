"""What the explain panel can answer: for many jobs the seconds of each cause, for some the whole story."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from hpcsim.results.explain import CAUSE_COLUMNS, explain, explain_all, totals
from hpcsim.results.page.winners import changes
from hpcsim.results.quantities import duration, percentage
from hpcsim.results.result import Result
from hpcsim.results.schedule import Schedule
from hpcsim.results.waiting_causes import CAUSES, MEANINGS, pairs

MOST_ROWS = 30_000
"""Jobs, over all runs, whose seconds by cause are in the page; those that waited longest come first."""

MOST_PAIRS = 4e7
"""Above this cost (see `hpcsim.results.waiting_causes.pairs`) only the jobs told in full are explained."""

DEEP = "Queues were too deep here to explain every wait in a page; hpcsim explain RUN --all does it."

STORIES = 6
"""Jobs of a run, the longest waits, that are told in full; of winners and of losers as many."""

CELLS = 120
"""Parts of the strip that shows a wait over time."""


def answers(results: Mapping[str, Result]) -> dict[str, Any]:
    """Return the data of the panel: the causes in words, and for each run its jobs, stories and totals."""
    rows = MOST_ROWS // len(results)
    told = _told(results)
    return {
        "causes": [{"name": str(cause), "text": MEANINGS[cause]} for cause in CAUSES],
        "runs": {name: _run(result, rows, told[name]) for name, result in results.items()},
    }


def _run(result: Result, most: int, told: list[int]) -> dict[str, Any]:
    is_deep = result.waits is None and pairs(Schedule.of(result)) > MOST_PAIRS
    table = explain_all(result, told if is_deep else None)
    order = np.argsort(-table["waited_s"].to_numpy(), kind="stable")[:most]
    chosen = table.iloc[order]
    every = totals(table, "all")
    total_s = float(every["waited_s"].sum())
    return {
        "ids": chosen["job_id"].astype(str).tolist(),
        "nodes": chosen["nodes"].tolist(),
        "waited": np.rint(chosen["waited_s"]).astype(np.int64).tolist(),
        "parts": [np.rint(chosen[column]).astype(np.int64).tolist() for column in CAUSE_COLUMNS.values()],
        "total": [
            float(every[column].sum()) / total_s if total_s and not is_deep else 0.0
            for column in CAUSE_COLUMNS.values()
        ],
        "words": DEEP if is_deep else _in_words(every, total_s),
        "stories": {str(result.jobs["job_id"].iloc[at]): _story(result, at) for at in told},
        "complete": len(order) == len(result.jobs),
    }


def _in_words(every: Any, total_s: float) -> str:
    """Return of what all waiting was made up, in one sentence."""
    if not total_s:
        return "No job waited."
    shares = {cause: float(every[column].sum()) / total_s for cause, column in CAUSE_COLUMNS.items()}
    known = sorted((cause for cause in CAUSES if shares[cause] > 0), key=lambda cause: -shares[cause])
    return "Of all waiting: " + "; ".join(f"{percentage(shares[c])} {MEANINGS[c]}" for c in known) + "."


def _story(result: Result, at: int) -> dict[str, Any]:
    told = explain(result, int(result.jobs["row"].iloc[at]), is_row=True)
    return {
        "reasons": told.reasons(),
        "strip": [CAUSES.index(cause) for cause in told.strip(CELLS)],
        "waited": duration(told.waited_s),
    }


def _told(results: Mapping[str, Result]) -> dict[str, list[int]]:
    """Return the positions of the jobs of each run that are told in full."""
    first, *others = results.values()
    rows: list[int] = []
    if others:
        both = changes(first, others[-1])
        rows = [*both["row"].head(STORIES), *both["row"].tail(STORIES)]
    told = {}
    for name, result in results.items():
        longest = result.jobs.nlargest(STORIES, "wait_s")["row"]
        told[name] = np.flatnonzero(result.jobs["row"].isin([*longest, *rows])).tolist()
    return told
