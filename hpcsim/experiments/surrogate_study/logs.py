"""The log that a study runs on: a model's name, or a file of jobs with their power."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from pathlib import Path

from hpcsim import registry
from hpcsim.errors import ExperimentError, closest
from hpcsim.workload import Workload

ByLog = Callable[[int], Workload]
"""From a seed to the log; the same for every seed where it is a file."""


def log_of(data: str, jobs: int | None, reader: str = "auto") -> tuple[str, ByLog]:
    """Return an identity of *data*, and the log by seed.

    Args:
        data: a file (PM100, Adastra, or any format that `hpcsim.read` tells by its content), or the name of
            a workload model such as ``synth-pm100``.
        jobs: how many a model generates; None for as many as the log that it imitates.
        reader: registry name of the file's reader; ``pm100`` and ``adastra`` have to be told apart by it.

    Raises:
        ExperimentError: there is neither such a file nor such a model.
        WorkloadError: the file cannot be read.
    """
    path = Path(data)
    if path.is_file():
        digest = hashlib.sha256(path.read_bytes()).hexdigest()
        workload = registry.make("readers", reader, path=path)
        return f"{reader}:{digest}", lambda _: workload
    models = registry.names("models")
    if data not in models:
        raise ExperimentError(
            f"There is no file and no workload model '{data}'.{closest(data, models)}",
            f"Give a file, or one of {', '.join(models)}.",
        )
    parameters = {} if jobs is None else {"jobs": jobs}

    def generated(seed: int) -> Workload:
        workload: Workload = registry.make("models", data, seed=seed, **parameters)
        return workload

    return f"{data}:{jobs}", generated
