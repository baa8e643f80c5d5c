"""Advice in results: what each job asked for and why it runs as it does, and how many jobs have each reason."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from hpcsim.advisor import REASONS
from hpcsim.engine.advice_log import NOT_ASKED, AdviceLog

if TYPE_CHECKING:
    import pandas as pd

Column = NDArray[Any]

JOB_ADVICE_COLUMNS = ("requested_nodes", "requested_limit_s", "advice", "advice_propensity")
"""Further columns of the table of jobs, where the run has an advisor; ``nodes`` and ``limit_s`` are those advised.
The propensity is the probability of the answer: below 1 where the advisor explores."""

ADVICE_KEYS = {
    "advice_changed": "jobs that run on another node count than they asked for",
    "advice_requeued": "jobs that were killed by advice and queued again as asked for",
    **{
        "advice_" + reason.replace("-", "_"): text
        for reason, text in {
            "advised": "jobs that the advisor advised",
            "kept-no-gain": "jobs that kept their request, as nothing else is better",
            "kept-no-support": "jobs that kept it, as too little is known of their like",
            "kept-rigid": "jobs that kept it, as they run at one count only",
            "kept-deadline": "jobs that kept it, as no other count keeps the deadline",
            "kept-declined": "jobs whose users take no advice",
            "kept-error": "jobs that kept it, as the advisor raised an error or answered nonsense",
        }.items()
    },
}
"""Further keys of `Result.summary`, where the run has an advisor."""


def advised_columns(log: AdviceLog, asked_nodes: Column, asked_limit_s: Column, rows: Column) -> dict[str, Any]:
    """Return the columns of `JOB_ADVICE_COLUMNS` for *rows*; the others have an entry for every row."""
    import pandas as pd

    codes = np.frombuffer(log.codes, dtype=np.uint8)[rows]
    signed = np.where(codes == NOT_ASKED, -1, codes.astype(np.int16)).astype(np.int8)
    propensity = np.ones(len(asked_nodes))
    propensity[list(log.propensity)] = list(log.propensity.values())
    return {
        "requested_nodes": asked_nodes[rows],
        "requested_limit_s": asked_limit_s[rows],
        "advice": pd.Categorical.from_codes(signed, categories=pd.Index(list(REASONS))),
        "advice_propensity": propensity[rows],
    }


def advice_figures(jobs: pd.DataFrame) -> dict[str, int]:
    """Return the figures of `ADVICE_KEYS` from the table of jobs."""
    counts = jobs["advice"].astype(str).value_counts()
    changed = int((jobs["nodes"].to_numpy() != jobs["requested_nodes"].to_numpy()).sum())
    by_reason = {"advice_" + reason.replace("-", "_"): int(counts.get(reason, 0)) for reason in REASONS}
    requeued = int((jobs["attempts"] > 1).sum())
    return {"advice_changed": changed, "advice_requeued": requeued, **by_reason}
