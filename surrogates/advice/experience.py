"""The jobs that have ended, as an advisor remembers them: history for contexts, outcomes for the next fit."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from hpcsim.job import Job, JobOutcome, JobState
from hpcsim.surrogates.advice.contexts import Floats, context_of, who
from hpcsim.surrogates.advice.running_history import Ended, RunningHistory, ended_of, history_of
from hpcsim.surrogates.features.columns import OUTCOME_COLUMNS
from hpcsim.surrogates.features.submissions import TOTALS
from hpcsim.surrogates.features.tables import HISTORY_COLUMNS, contexts_table

if TYPE_CHECKING:
    import pandas as pd

ENDED_COLUMNS = HISTORY_COLUMNS
"""The columns of outcomes that make an `Ended`, in its order."""


class Experience:
    """Jobs of an earlier log, and those that end in the run.

    Args:
        before: outcomes of the earlier log, a table of `outcomes_table`; None: there was none.
    """

    def __init__(self, before: pd.DataFrame | None = None) -> None:
        self._before = before
        known = [] if before is None else ended_of(before[list(ENDED_COLUMNS)].to_numpy(dtype=float))
        self._history: RunningHistory = history_of(known)
        self._jobs: list[Job] = []
        self._ends: list[tuple[float, float, float, float, float]] = []

    def __len__(self) -> int:
        """How many jobs of the run have been learned from."""
        return len(self._jobs)

    def context(self, job: Job, now_s: float) -> Floats:
        """Return what is known of *job* now, one row in the order of `CONTEXT_COLUMNS`."""
        return context_of(job, self._history, now_s)

    def note(self, job: Job, outcome: JobOutcome) -> None:
        """Remember a job that ended well; others say little about the work."""
        if outcome.state is not JobState.COMPLETED:
            return
        asked = job.requested or job
        run_s = outcome.run_s
        power_w = outcome.energy_j / max(run_s, 1.0)
        self._history.add(Ended(*who(asked), outcome.end_s, run_s, float(outcome.nodes), power_w))
        self._jobs.append(asked)
        self._ends.append((float(outcome.nodes), run_s, power_w, outcome.end_s, outcome.wait_s))

    def outcomes(self, most: int) -> pd.DataFrame:
        """Return the last *most* finished jobs with what was known of each when it was submitted."""
        import pandas as pd

        if not self._jobs:
            return pd.DataFrame(columns=list(OUTCOME_COLUMNS)) if self._before is None else self._before.tail(most)
        ran = dict(zip(("nodes", "run_s", "power_w", "end_s", "wait_s"), np.array(self._ends).T, strict=True))
        own = contexts_table(self._jobs[-most:], self._all_ended(ran))
        ran = {name: values[-most:] for name, values in ran.items()}
        for feature, total in TOTALS.items():
            own[total] = own[feature] * ran["nodes"]
        own = own.assign(**ran, energy_j=ran["power_w"] * ran["run_s"], max_power_w=np.nan)[list(OUTCOME_COLUMNS)]
        if self._before is None or len(own) >= most:
            return own
        return pd.concat([self._before.tail(most - len(own)), own], ignore_index=True)

    def _all_ended(self, ran: dict[str, Floats]) -> pd.DataFrame:
        """Return everything that contexts may have seen: all that has ended, however few jobs are learned from."""
        import pandas as pd

        people = np.array([who(job) for job in self._jobs])
        ended = pd.DataFrame({"user_id": people[:, 0], "app_id": people[:, 1]} | ran)[list(ENDED_COLUMNS)]
        if self._before is None:
            return ended
        return pd.concat([self._before[list(ENDED_COLUMNS)], ended], ignore_index=True)
