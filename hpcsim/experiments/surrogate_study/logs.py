"""The log that a study runs on: a model's name, or a file of jobs with their power."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hpcsim import registry
from hpcsim.errors import ExperimentError, closest
from hpcsim.workload import Workload

Options = Mapping[str, Any]
LogBySeed = Callable[[int], Workload]


@dataclass(frozen=True, slots=True)
class Log:
    """What a study runs on.

    Attributes:
        identity: text that two logs share only if they are the same.
        by_seed: from a seed to the log.
        is_one: whether it is the same for every seed, as a file is.
        has_bursts: whether it says more of a job's power than its mean.
    """

    identity: str
    by_seed: LogBySeed
    is_one: bool = False
    has_bursts: bool = False


def log_of(data: str, jobs: int | None, reader: str = "auto", options: Options | None = None) -> Log:
    """Return the log that *data* names.

    Args:
        data: a file (PM100, Adastra, or any format that `hpcsim.read` tells by its content), or the name of
            a workload model such as ``synth-pm100``.
        jobs: how many a model generates; None for as many as the log that it imitates.
        reader: registry name of the file's reader; ``pm100`` and ``adastra`` have to be told apart by it.
        options: of that reader.

    Raises:
        ExperimentError: there is neither such a file nor such a model.
        WorkloadError: the file cannot be read.
    """
    path = Path(data)
    if path.is_file():
        digest = hashlib.sha256(path.read_bytes()).hexdigest()
        workload: Workload = registry.make("readers", reader, path=path, **(options or {}))
        has_bursts = "power_series_w" in workload.columns or "max_power_w" in workload.columns
        told = "".join(f",{name}={value}" for name, value in sorted((options or {}).items()))
        return Log(f"{reader}:{digest}{told}", lambda _: workload, is_one=True, has_bursts=has_bursts)
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

    return Log(f"{data}:{jobs}", generated)
