"""Small experiments, run in this process, and what of a sweep's folder has to be the same bytes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from hpcsim.experiments.batch import run
from hpcsim.experiments.experiment import Experiment
from hpcsim.experiments.sweep import Sweep

SMALL: dict[str, Any] = {
    "seeds": [1, 2],
    "policies": [{"name": "fcfs"}, {"name": "easy"}],
    "workloads": [{"model": "poisson", "parameters": {"jobs": 60, "nodes": 16, "load": 0.9}}],
}

SLOW_POLICY = """
import time
from hpcsim.policies.backfill import EASY

class Slow(EASY):
    def reset(self, cluster, rng):
        time.sleep(0.15)
        super().reset(cluster, rng)
"""


@pytest.fixture
def small() -> Experiment:
    """Two policies on two seeds of 60 jobs."""
    return Experiment.of(SMALL)


@pytest.fixture
def sweep_here(tmp_path: Path) -> Iterator[Callable[..., Sweep]]:
    """Run an experiment in a thread of this process, by default into ``sweep``."""
    with ThreadPoolExecutor(1) as executor:

        def call(experiment: Experiment, folder: Path | None = None, **options: Any) -> Sweep:
            return run(experiment, folder or tmp_path / "sweep", executor=executor, **options)

        yield call


@pytest.fixture
def slow_experiment(tmp_path: Path) -> Path:
    """Write an experiment file of 24 runs that each take a sixth of a second at least, most of it asleep."""
    (tmp_path / "slow.py").write_text(SLOW_POLICY)
    path = tmp_path / "slow.toml"
    path.write_text(
        'seeds = [1, 2, 3, 4, 5, 6, 7, 8]\n[[policies]]\nname = "slow.py:Slow"\ngrid = { reservations = [0, 1, 3] }\n'
        '[[workloads]]\nmodel = "poisson"\nparameters = { jobs = 100, nodes = 16, load = 0.9 }\n'
    )
    return path


def lasting_bytes(folder: Path) -> dict[str, bytes]:
    """Return the table and every file of a finished cell, but for wall-clock times."""
    kept = [folder / "table.csv", *sorted((folder / "cells").rglob("*.*"))]
    return {str(p.relative_to(folder)): p.read_bytes() for p in kept if p.is_file() and p.name != "timings.json"}
