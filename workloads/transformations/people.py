"""Logs that can be shown: users, groups and applications under numbers that lead nowhere."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from hpcsim.workload import Workload
from hpcsim.workloads.models.arguments import check_whole
from hpcsim.workloads.transformations.record import call, changed

NUMBERED = ("user_id", "group_id", "app_id", "account", "qos")
DROPPED = ("name",)
HEADER_KEPT = ("Version", "MaxNodes", "MaxProcs", "MaxRuntime", "MaxJobs", "MaxRecords", "Preemption")
"""Keys of the header that name no person, place or date."""


def anonymise(workload: Workload, *, seed: int = 0) -> Workload:
    """Return the jobs with users, groups, applications, accounts and qualities of service under random numbers.

    Equal ones stay equal. Job names go, jobs are numbered from 1, submit times count from the first
    one, and of header and provenance nothing stays that may name a person, a place, a file or a
    date, notes included. The log's terms of use stay in force: look them up before you pass it on.

    Raises:
        WorkloadError: *seed* is below 0.
    """
    check_whole("seed", seed, least=0)
    rng = np.random.default_rng(seed)
    submit_s = workload.columns["submit_s"]
    columns = {
        "job_id": np.arange(1, len(workload) + 1),
        "submit_s": submit_s - submit_s.min() if len(submit_s) else submit_s,
    }
    columns |= {name: _numbers(workload, name, rng) for name in NUMBERED if name in workload.columns}
    result = changed(workload, columns, call("anonymise"))
    for name in ("preceding_job_id", "after", *DROPPED):
        result.columns.pop(name, None)
    result.header = {key: values for key, values in workload.header.items() if key in HEADER_KEPT}
    hidden = {"source", "sha256", "options"}
    result.provenance = {key: value for key, value in result.provenance.items() if key not in hidden}
    result.ledger = type(result.ledger)(source="anonymous", format=workload.ledger.format, rows=len(workload))
    return result


def _numbers(workload: Workload, name: str, rng: np.random.Generator) -> NDArray[np.int64]:
    """Return 1, 2, ... for the values of a column, in random order; -1 where they are not known."""
    known = [value is not None for value in workload.known(name)]
    values = [str(value) if is_known else "" for value, is_known in zip(workload.known(name), known, strict=True)]
    distinct, codes = np.unique(np.array(values, dtype=str), return_inverse=True)
    return np.where(known, rng.permutation(len(distinct))[codes] + 1, -1)
