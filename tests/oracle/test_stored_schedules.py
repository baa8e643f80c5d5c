"""Job for job the same start times as stored schedules: the reference's, and those of pyss (2007).

pyss makes a pass per event and we make one per instant, so its EASY and conservative schedules must
agree where no two events coincide: on the ``-tiefree`` workloads. Its conservative remakes promises
at every end.
"""

from __future__ import annotations

import csv
import gzip
from pathlib import Path
from types import SimpleNamespace

import pytest

from tests.oracle.cases import first_difference, our_starts

PROCESSORS = {"kth": 100, "sdscsp2": 128}

SCHEDULES = {
    "reference_fcfs_sdscsp2": "fcfs",
    "reference_fcfs_kth-tiefree": "fcfs",
    "reference_easy_sdscsp2": "easy",
    "reference_easy_kth-full": "easy",
    "reference_easy_kth-tiefree": "easy",
    "reference_easy_sdscsp2-tiefree": "easy",
    "reference_conservative_sdscsp2": "conservative-early",
    "reference_conservative_kth-tiefree": "conservative-early",
    "reference_conservative_compress-any_kth-tiefree": "conservative-any",
    "reference_conservative_compress-any_sdscsp2-tiefree": "conservative-any",
    "pyss_fcfs_sdscsp2": "fcfs",
    "pyss_easy_kth-tiefree": "easy",
    "pyss_easy_sdscsp2-tiefree": "easy",
    "pyss_conservative_kth-tiefree": "conservative-any",
    "pyss_conservative_sdscsp2-tiefree": "conservative-any",
}
"""Stored schedule -> the case that must reproduce it."""


def read_rows(path: Path) -> list[SimpleNamespace]:
    """Read a table of integers; one namespace a row, times in the table's own unit."""
    with gzip.open(path, "rt", newline="") as text:
        return [SimpleNamespace(**{key: int(value) for key, value in row.items()}) for row in csv.DictReader(text)]


@pytest.mark.parametrize("name", SCHEDULES)
def test_stored_schedule(shared: Path, name: str) -> None:
    """Every start time of the stored schedule is ours."""
    log = name.rpartition("_")[2]
    jobs = read_rows(shared / "oracle" / "schedules" / f"workload_{log}.csv.gz")
    for job in jobs:
        job.id = job.job_id
    stored = {row.job_id: row.start for row in read_rows(shared / "oracle" / "schedules" / f"{name}.csv.gz")}
    ours = our_starts(jobs, PROCESSORS[log.partition("-")[0]], SCHEDULES[name])
    assert len(stored) == len(jobs)
    assert first_difference(jobs, ours, [stored[job.id] for job in jobs]) == ""
