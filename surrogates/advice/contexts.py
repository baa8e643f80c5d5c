"""What is known of one job at its submission, as surrogates want it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from hpcsim.job import Job
from hpcsim.surrogates.advice.running_history import HISTORY_ORDER, RunningHistory
from hpcsim.surrogates.features.columns import CONTEXT_COLUMNS
from hpcsim.surrogates.features.rows import ContextRows
from hpcsim.surrogates.features.submission import submission
from hpcsim.surrogates.features.submissions import TOTALS

if TYPE_CHECKING:
    import pandas as pd

Floats = NDArray[np.float64]

OWN = tuple(name for name in CONTEXT_COLUMNS if name not in HISTORY_ORDER)
_ORDER = np.array([(OWN + HISTORY_ORDER).index(name) for name in CONTEXT_COLUMNS])
LEAST_LIMIT_S, MOST_LIMIT_S = 1.0, 1e9


def who(job: Job) -> tuple[float, float]:
    """Return the numbers of the user and the application of *job*."""
    asked = submission(job)
    return asked["user_id"], asked["app_id"]


def context_of(job: Job, history: RunningHistory, now_s: float) -> Floats:
    """Return what is known of *job* now, shape [1, columns] in the order of `CONTEXT_COLUMNS`."""
    asked = submission(job)
    seen = history.seen(asked["user_id"], asked["app_id"], now_s)
    asked["asked_nodes"] = asked["nodes"]
    asked["log_limit_s"] = float(np.log(min(max(asked["limit_s"], LEAST_LIMIT_S), MOST_LIMIT_S)))
    for feature, total in TOTALS.items():
        asked[total] = asked[feature] * asked["nodes"]
    row = np.array([[asked[name] for name in OWN] + seen])
    return np.asarray(row[:, _ORDER])


def rows_or_frame(values: Floats, *, takes_rows: bool) -> pd.DataFrame:
    """Return *values* as a data frame, or as `ContextRows` for a surrogate that takes them."""
    if takes_rows:
        return ContextRows(values)  # type: ignore[return-value]
    import pandas as pd

    return pd.DataFrame(values, columns=list(CONTEXT_COLUMNS))
