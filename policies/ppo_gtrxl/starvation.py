"""The wait cap: a job that has waited for too long comes next, whatever the network would say."""

from __future__ import annotations

from hpcsim.policies.learning.features import JOB_FEATURES
from hpcsim.policies.learning.observation import Observation

_AGE = [name for name, _ in JOB_FEATURES].index("rank_by_age")


def starving_slot(observation: Observation, now_s: float, must_start_after_s: float | None) -> int | None:
    """Return the slot of the job that waits longest if that is more than *must_start_after_s*, else None."""
    if must_start_after_s is None or not observation.mask.any():
        return None
    assert observation.queue is not None
    slot = int((observation.jobs[:, _AGE] + (observation.mask == 0) * 2).argmin())
    job = observation.queue[slot]
    assert job is not None
    return slot if now_s - job.submit_s > must_start_after_s else None
