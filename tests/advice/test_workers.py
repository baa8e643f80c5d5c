"""Online refits give the same bytes wherever cells run."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from hpcsim.experiments.batch import run
from hpcsim.experiments.experiment import Experiment


def described() -> Experiment:
    model: dict[str, Any] = {"jobs": 60, "nodes": 32, "load": 1.0, "preset": "habit-driven"}
    online = {"surrogate": "scaling-law", "refit_every_s": 21_600.0, "least_jobs": 10}
    return Experiment.model_validate(
        {
            "name": "refits",
            "seeds": [1, 2],
            "policies": [{"name": "easy"}],
            "advisors": [{"name": "none"}, {"name": "advisor", "parameters": online}],
            "workloads": [{"model": "synth-pm100", "parameters": model}],
            "clusters": [{"nodes": 32}],
        }
    )


@pytest.mark.nightly
def test_one_worker_and_four_give_the_same_bytes(tmp_path: Path) -> None:
    folders = [tmp_path / str(workers) for workers in (1, 4)]
    for folder, workers in zip(folders, (1, 4), strict=True):
        run(described(), folder, workers=workers)
    one, four = (sorted(folder.rglob("jobs.parquet")) for folder in folders)
    assert [path.relative_to(folders[0]) for path in one] == [path.relative_to(folders[1]) for path in four]
    assert len(one) == 4
    assert [path.read_bytes() for path in one] == [path.read_bytes() for path in four]
    assert (folders[0] / "table.csv").read_bytes() == (folders[1] / "table.csv").read_bytes()
