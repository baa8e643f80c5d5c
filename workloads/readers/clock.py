"""Local times of a log as epoch seconds, with the hour that repeats and the hour that is missing.

Schedulers print the wall clock without a zone. In the autumn an hour repeats: the earlier reading is
taken, and where a duration proves the other one, that. In the spring an hour is missing: a time in
it is read as if the clock had not been put forward yet.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import numpy as np
from numpy.typing import NDArray

from hpcsim.errors import WorkloadError

Seconds = NDArray[np.float64]
Mask = NDArray[np.bool_]

HOUR_S = 3600.0
_FAR_S = 2**33
"""Beyond the year 2240, and as far back: no zone has rules for it."""


@dataclass(frozen=True, slots=True)
class Instants:
    """Epoch seconds, NaN where not known; which of them stood in a repeated or a missing hour."""

    seconds: Seconds
    is_repeated: Mask
    is_missing: Mask


def check_zone(zone: str) -> str:
    """Return *zone* if it is the name of a time zone.

    Raises:
        WorkloadError: it is none.
    """
    try:
        ZoneInfo(zone)
    except (ZoneInfoNotFoundError, ValueError, OSError, TypeError) as error:
        cause = f"There is no time zone '{zone}'."
        raise WorkloadError(cause, "Give an Olson name, as Europe/Paris, or UTC.", field="zone") from error
    return zone


def instants(local_s: Seconds, zone: str) -> Instants:
    """Return epoch seconds of local times, which are given as seconds since 1970-01-01 00:00 of the same clock."""
    none = np.zeros(len(local_s), dtype=bool)
    if zone == "UTC":
        return Instants(local_s, none, none)
    import pandas as pd

    known = np.abs(local_s) < _FAR_S
    clock = pd.DatetimeIndex(local_s[known].astype("datetime64[s]"))
    forward: Any = pd.Timedelta(hours=1)
    early = clock.tz_localize(zone, ambiguous=np.ones(len(clock), dtype=bool), nonexistent=forward)
    late = clock.tz_localize(zone, ambiguous=np.zeros(len(clock), dtype=bool), nonexistent=forward)
    back = early.tz_localize(None)
    seconds = np.full(len(local_s), np.nan)
    seconds[known] = early.asi8
    is_repeated, is_missing = none.copy(), none.copy()
    is_repeated[known] = early.asi8 != late.asi8
    is_missing[known] = back != clock
    return Instants(seconds, is_repeated, is_missing)


def settle_repeated(submit: Instants, start: Instants, end: Instants, run_s: Seconds) -> Mask:
    """Move starts and ends in a repeated hour to its second pass where order or *run_s* prove it; in place.

    Returns the rows that were moved. *run_s* is NaN where the log does not say.
    """
    with np.errstate(invalid="ignore"):
        late_start = start.is_repeated & (
            (start.seconds < submit.seconds) | (np.abs(end.seconds - start.seconds - HOUR_S - run_s) <= 1)
        )
        start.seconds[late_start] += HOUR_S
        late_end = end.is_repeated & (
            (end.seconds < start.seconds) | (np.abs(end.seconds - start.seconds + HOUR_S - run_s) <= 1)
        )
        end.seconds[late_end] += HOUR_S
    return late_start | late_end
