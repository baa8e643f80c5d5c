"""More or less load: gaps stretched, users taken out."""

from __future__ import annotations

import numpy as np

from hpcsim.errors import WorkloadError
from hpcsim.workload import Workload
from hpcsim.workloads.models.arguments import check_number, check_whole
from hpcsim.workloads.transformations.record import call, changed, machine_size, needs


def scale_load(workload: Workload, *, load: float, nodes: int | None = None) -> Workload:
    """Return the jobs with all gaps between submits multiplied alike, so that they offer *load* to *nodes*.

    Jobs stay as they are. Hours of the day are stretched with the gaps: `resample_sessions` keeps them.
    Submit times that are whole stay whole.

    Args:
        workload: the log.
        load: offered, above 0.
        nodes: of the machine; default the log's own.

    Raises:
        WorkloadError: the size of the machine is not known, or all jobs are submitted at once.
    """
    check_number("load", load, above=0)
    size = machine_size(workload, nodes)
    present = workload.offered_load(size)
    if not (np.isfinite(present) and present > 0):
        raise WorkloadError("This workload offers no load that could be scaled.", "It needs two submit times.")
    submit_s = workload.columns["submit_s"]
    first = submit_s.min() if len(submit_s) else 0
    scaled = first + (submit_s - first) * (present / load)
    if submit_s.dtype.kind in "iu":
        scaled = np.rint(scaled).astype(np.int64)
    return changed(workload, {"submit_s": scaled}, call("scale_load", load=load, nodes=size))


def thin_by_user(workload: Workload, *, share: float, seed: int = 0) -> Workload:
    """Return the jobs of a random *share* of the users, whole: sessions and habits stay intact.

    Args:
        workload: the log; jobs of unknown users count as one user's.
        share: of the users, above 0 and at most 1; at least one user stays.
        seed: of the choice.

    Raises:
        WorkloadError: the log names no users, or *share* is out of range.
    """
    check_number("share", share, above=0, most=1)
    check_whole("seed", seed, least=0)
    user = needs(workload, "user_id", "says whose jobs they are")
    users = np.unique(user)
    kept = np.random.default_rng(seed).permutation(users)[: max(1, round(share * len(users)))]
    return workload.select(np.isin(user, kept), call("thin_by_user", share=share, seed=seed))
