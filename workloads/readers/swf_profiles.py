"""Profiles of the SWF reader: what another simulator makes of a log, so that its figures can be compared.

``"rlscheduler"``: a negative run time becomes 10 s, a job of run time 0 is dropped, and a job's
processors are the larger of the requested and the allocated ones. Submit times stay the log's own.

Source: Zhang, Dai, He, Bao and Xie, "RLScheduler", SC 2020, and its published reader.
"""

from __future__ import annotations

from typing import Literal, get_args

import numpy as np

from hpcsim.errors import WorkloadError, closest
from hpcsim.workloads.readers.findings import Rule
from hpcsim.workloads.readers.narrowing import narrow
from hpcsim.workloads.readers.swf_rules import Change
from hpcsim.workloads.readers.swf_table import SwfTable
from hpcsim.workloads.swf_fields import title

Profile = Literal["archive", "rlscheduler"]

STAND_IN_RUN_S = 10
"""Seconds that RLScheduler lets a job run whose run time the log does not know."""

_RUN, _REQUESTED = title("run_s"), title("requested")
RUN_ZERO_DROPPED = Rule("run-time-zero-dropped", "refused", _RUN, "profile rlscheduler: a job that ran is wanted")
RUN_STANDS_IN = Rule("negative-run-time-replaced", "changed", _RUN, f"profile rlscheduler: {STAND_IN_RUN_S} s")
MORE_OF_BOTH = Rule(
    "processors-larger-of-both", "changed", _REQUESTED, "profile rlscheduler: more were allocated than requested"
)


def apply_profile(table: SwfTable, profile: str) -> list[Change]:
    """Change *table* as *profile* wants it; return what was done, for the ledger.

    Raises:
        WorkloadError: there is no such profile.
    """
    known = get_args(Profile)
    if profile not in known:
        raise WorkloadError(f"There is no profile '{profile}'.{closest(profile, known)}", f"Known: {', '.join(known)}.")
    if profile == "archive":
        return []
    columns = table.columns
    run, requested, allocated = columns["run_s"], columns["requested"], columns["allocated"]
    columns["run_s"] = narrow(np.where(run < 0, STAND_IN_RUN_S, run))
    columns["requested"] = narrow(np.maximum(requested, allocated))
    return [
        (RUN_ZERO_DROPPED, run == 0, run, "no job"),
        (RUN_STANDS_IN, run < 0, run, columns["run_s"]),
        (MORE_OF_BOTH, allocated > requested, requested, columns["requested"]),
    ]
