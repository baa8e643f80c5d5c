"""What a trial learns from and is judged on: a log split by time, test jobs, and their truth if it is known."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from hpcsim.errors import InvalidArgument
from hpcsim.scaling import RIGID, has_truth, true_power_w, true_run_s
from hpcsim.surrogates.features import contexts_table, outcomes_table, with_bursts
from hpcsim.workload import Workload

if TYPE_CHECKING:
    import pandas as pd

Floats = NDArray[np.float64]

TRAINED_ON = 0.85
"""Share of the finished jobs, the first by submission, after which those to be judged begin. Surrogates learn from
the jobs of that part that had ended by then (calibration included)."""


@dataclass(frozen=True, slots=True, eq=False)
class TrialData:
    """One log, ready for trials.

    Attributes:
        train: outcomes of jobs that had ended before the first of the later ones was submitted.
        tested: outcomes of the test jobs, all later than *train*.
        contexts: what was known of the test jobs, history only from *train*; and, for the reproduction alone, what
            only their runs told (`hpcsim.surrogates.features.BURSTS`), which surrogates read if asked to.
        counts: node counts that are considered, shape [N].
        truth: run time in s and power in W of the test jobs at *counts*, shape [J, N, 2]; None where unknown.
        funnel: what -> how many jobs were left after each step of the choice.
    """

    train: pd.DataFrame
    tested: pd.DataFrame
    contexts: pd.DataFrame
    counts: NDArray[np.int64]
    truth: Floats | None
    funnel: dict[str, int]

    @property
    def references(self) -> Floats:
        """The reference point of each test job in s and W, shape [J, 2]: from its own outcome, whatever the model.

        A tenth beyond the run time on one node and the power on all of them, were scaling ideal.
        """
        asked = self.tested["nodes"].to_numpy()
        run_s, power_w = self.tested["run_s"].to_numpy() * asked, self.tested["power_w"].to_numpy() / asked
        return 1.1 * np.stack([run_s, power_w * self.counts[-1]], axis=1)


def prepared(workload: Workload, *, test_jobs: int, most_nodes: int) -> TrialData:
    """Return *workload* split by time, with at most *test_jobs* of the later jobs to be judged.

    Jobs are judged that have a power, ask for at most *most_nodes* nodes and, where the truth is known,
    are not rigid: evenly spread over the later part.

    Raises:
        InvalidArgument: there are too few such jobs.
    """
    outcomes = (
        with_bursts(outcomes_table(workload), workload).sort_values("submit_s", kind="stable").reset_index(drop=True)
    )
    split = int(TRAINED_ON * len(outcomes))
    earlier, later = outcomes.iloc[:split], outcomes.iloc[split:]
    train = earlier[earlier["end_s"] < later["submit_s"].min()]  # what still ran then, nobody could have learned from
    can_judge = (later["power_w"] > 0) & (later["nodes"] <= most_nodes)
    if has_truth(workload):
        can_judge &= workload.columns["scaling_law"][later["row"].to_numpy(dtype=np.int64)] != RIGID
    fit = later[can_judge]
    if len(train) < 20 or not len(fit):
        raise InvalidArgument(
            f"Of {len(workload):,} jobs {len(outcomes):,} completed, and {len(fit):,} of the later ones can be judged.",
            "Give a log with more finished jobs whose power is known.",
        )
    places = np.unique(np.linspace(0, len(fit) - 1, min(test_jobs, len(fit))).round().astype(np.int64))
    tested = fit.iloc[places].reset_index(drop=True)
    rows = tested["row"].to_numpy(dtype=np.int64)
    counts = np.arange(1, most_nodes + 1)
    truth = None
    if has_truth(workload):
        functions = (true_run_s, true_power_w)
        truth = np.stack([function(workload, rows, counts[None, :]) for function in functions], axis=2)
    funnel = {"in the log": len(workload), "completed": len(outcomes), "submitted earlier": split}
    funnel |= {
        "of these ended before the later ones came, and learned from": len(train),
        "later": len(later),
        "can be judged": len(fit),
        "judged": len(tested),
    }
    contexts = with_bursts(contexts_table(workload, history=train, rows=rows), workload)
    return TrialData(train.reset_index(drop=True), tested, contexts, counts, truth, funnel)
