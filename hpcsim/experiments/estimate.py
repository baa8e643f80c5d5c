"""How long will it take, and how much space? Short pilot runs, scaled by the number of jobs."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from time import perf_counter

from hpcsim.experiments.batch import check
from hpcsim.experiments.cell_run import WORKLOADS, share, simulate_cell
from hpcsim.experiments.cells import Cell, cells, sources
from hpcsim.experiments.experiment import Experiment

PILOT_JOBS = 1_000
"""Jobs of a pilot run at most."""

PILOTS = 8
"""Pilot runs at most."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """What a sweep would cost.

    Attributes:
        cells: runs, each counted once.
        workloads: distinct ones, each read or generated once.
        jobs: simulated in all.
        serial_s: seconds of one worker, by pilots of up to `PILOT_JOBS` jobs each.
        disk_bytes: of the results and the stored workloads.
    """

    cells: int
    workloads: int
    jobs: int
    serial_s: float
    disk_bytes: int


def estimate(experiment: Experiment) -> Estimate:
    """Read or generate every workload, run a few short pilots, and scale.

    Queues that are deeper than a pilot's take longer than is said; nothing is written but to a
    temporary folder.

    Raises:
        HpcsimError: as a run of the sweep would before its first cell.
    """
    with tempfile.TemporaryDirectory(prefix="hpcsim-") as name:
        folder = Path(name)
        (folder / WORKLOADS).mkdir()
        wanted = sources(experiment)
        began = perf_counter()
        stored = {source.key: share(source, name) for source in wanted}
        sharing_s = perf_counter() - began
        every = list({cell.key: cell for cell in cells(experiment, stored)}.values())
        check(experiment, every)
        second_s, byte_rate = _pilots(every, folder)
        jobs = sum(cell.jobs for cell in every)
        shared_bytes = sum(path.stat().st_size for path in (folder / WORKLOADS).iterdir())
        return Estimate(
            len(every), len(wanted), jobs, sharing_s + second_s * jobs, shared_bytes + round(byte_rate * jobs)
        )


def _pilots(every: Sequence[Cell], folder: Path) -> tuple[float, float]:
    """Return seconds and bytes a job, as the mean over pilots of evenly spaced cells."""
    chosen = every[:: max(1, len(every) // PILOTS)][:PILOTS]
    seconds, size, jobs = 0.0, 0, 0
    for place, cell in enumerate(chosen):
        window = cell.window or {"skip": 0, "from_s": None, "until_s": None}
        if window["from_s"] is None and window["until_s"] is None:
            window = window | {"jobs": min(cell.jobs, PILOT_JOBS)}
        began = perf_counter()
        result = simulate_cell(replace(cell, window=window))
        target = folder / f"pilot-{place}"
        result.save(target)
        seconds += perf_counter() - began
        size += sum(path.stat().st_size for path in target.iterdir())
        jobs += max(1, len(result.jobs))
    return seconds / jobs, size / jobs
