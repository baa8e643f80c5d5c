"""What was known of one job when it was submitted: `submissions` of that job alone, at a fraction of its cost."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from hpcsim.job import Job
from hpcsim.surrogates.features.submissions import DAY_S, OWN_NAMES, TOTALS, number, numbers, stem

NAN = math.nan


def submission(job: Job) -> dict[str, float]:
    """Return one number an attribute, those that `submissions` gives for a list of *job* alone."""
    asked = job.requested or job
    submit_s, nodes = float(asked.submit_s), float(asked.nodes)
    result = {"row": float(asked.row), "submit_s": submit_s, "nodes": nodes, "limit_s": float(asked.limit_s)}
    result["submit_hour"] = submit_s % DAY_S / 3600
    result["submit_weekday"] = submit_s // DAY_S % 7
    for feature in TOTALS:
        value = getattr(asked, OWN_NAMES.get(feature, feature), NAN)
        result[feature] = NAN if value is None else float(value)
    result["user_id"], result["group_id"] = _identity(asked.user_id), _identity(asked.group_id)
    result["app_id"] = _app(asked, result)
    counts = asked.allowed_nodes
    result["least_nodes"], result["most_nodes"] = (float(min(counts)), float(max(counts))) if counts else (nodes, nodes)
    return result


def _identity(value: Any) -> float:
    if type(value) is int:
        return float(value)
    return -1.0 if value is None else float(numbers([value])[0])


def _app(asked: Job, known: dict[str, float]) -> float:
    own = number(asked.app_id)
    if own >= 0:
        return own
    name = stem(asked.name)
    if name is not None:
        return number(name)
    request = tuple(float(np.nan_to_num(known[feature], nan=-1.0)) for feature in ("user_id", *TOTALS))
    return number(repr(request))
