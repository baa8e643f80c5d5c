"""Other limits for the same jobs: perfect ones, a factor too long, or as users give them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from hpcsim.workload import Workload
from hpcsim.workloads.models.arguments import check_choice, check_number, check_whole
from hpcsim.workloads.models.tsafrir import estimates_of
from hpcsim.workloads.transformations.record import call, changed

KINDS = ("run-times", "factor", "tsafrir")


def replace_estimates(workload: Workload, *, kind: str, factor: float = 2.0, seed: int = 0) -> Workload:
    """Return the jobs with other limits, none below the run time.

    Args:
        workload: the log.
        kind: ``run-times``: perfect estimates; ``factor``: run time times a number that is uniform
            over 1 to *factor* (the f-model); ``tsafrir``: few round values, drawn by the model of
            user estimates.
        factor: of ``factor``, 1 or more.
        seed: of the draws.

    Raises:
        WorkloadError: no such kind, or *factor* is below 1.
    """
    check_choice("kind of estimate", kind, KINDS)
    check_number("factor", factor, least=1)
    check_whole("seed", seed, least=0)
    limit_s = _limits_s(workload.columns["run_s"], kind, factor, np.random.default_rng(seed))
    result = changed(workload, {"limit_s": limit_s}, call("replace_estimates", kind=kind, factor=factor, seed=seed))
    result.columns.pop("limit_is_run_time", None)
    result.limits_are_run_times = kind == "run-times"
    return result


def _limits_s(run_s: NDArray[np.int64], kind: str, factor: float, rng: np.random.Generator) -> NDArray[np.int64]:
    if kind == "run-times":
        return run_s.copy()
    if kind == "factor":
        return np.ceil(run_s * rng.uniform(1, factor, len(run_s))).astype(np.int64)
    return estimates_of(np.ceil(run_s).astype(np.int64), rng=rng, may_lengthen=True)
