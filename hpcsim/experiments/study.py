"""Study files: which parameters of a policy and a machine to search, for which objectives."""

from __future__ import annotations

import math
import tomllib
from pathlib import Path
from typing import Any, Self

from pydantic import Field, ValidationError, model_validator

from hpcsim.errors import ExperimentError, closest
from hpcsim.experiments.experiment import (
    ClusterEntry,
    PolicyEntry,
    RunOptions,
    Table,
    WorkloadEntry,
    anchored,
    check_seeds,
    explain,
)
from hpcsim.experiments.metrics import METRICS

MACHINE = ("nodes", "processors", "power_cap_w")
"""What of a cluster can be searched; each can be an objective as well: the less the better."""


class Range(Table):
    """Values from *low* to *high*, both included; whole ones if both are written without a point."""

    low: float | int = Field(description="Least value.")
    high: float | int = Field(description="Greatest value.")
    scale: str = Field("linear", pattern="^(linear|log)$", description="linear, or log for values over magnitudes.")

    @model_validator(mode="after")
    def _check_ends(self) -> Self:
        if not (math.isfinite(self.low) and math.isfinite(self.high) and self.low < self.high):
            raise ValueError("a range needs low < high, both finite")
        if self.scale == "log" and self.low <= 0:
            raise ValueError("a logarithmic range begins above 0")
        return self


Choices = Range | list[Any]


class Space(Table):
    """``[space]``: parameter -> range or list; ``order.weight`` is a parameter of the policy's ``order``."""

    policy: dict[str, Choices] = Field({}, description="Parameter of the policy -> values.")
    cluster: dict[str, Choices] = Field({}, description="nodes, processors or power_cap_w -> values.")


class SearchOptions(Table):
    """``[search]``: how to look."""

    engine: str = Field("random", description="Registry name of a search engine.")
    budget: int = Field(40, ge=1, description="How many settings to try.")
    batch: int = Field(2, ge=1, description="How many to try at a time, before the engine hears of them.")
    seed: int = Field(0, ge=0, description="Root of the engine's randomness.")


class Study(Table):
    """A whole study file."""

    name: str = Field("study", min_length=1, description="Title of tables.")
    objectives: list[str] = Field(
        min_length=1, max_length=3, description="Figures of Result.summary, or what is searched of the cluster."
    )
    seeds: list[int] = Field([0], min_length=1, description="Replicates of every setting.")
    policy: PolicyEntry
    workload: WorkloadEntry
    cluster: ClusterEntry | None = None
    space: Space
    search: SearchOptions = Field(default_factory=lambda: SearchOptions.model_validate({}))
    run: RunOptions = Field(default_factory=lambda: RunOptions.model_validate({}))

    @model_validator(mode="after")
    def _check_parts(self) -> Self:
        check_seeds(self.seeds)
        if not (self.space.policy or self.space.cluster):
            raise ValueError("space names nothing to search")
        for key in self.space.cluster:
            if key not in MACHINE:
                raise ValueError(f"space.cluster.{key} cannot be searched.{closest(key, MACHINE)}")
        for objective in self.objectives:
            known = [*METRICS, *self.space.cluster]
            if objective not in known:
                raise ValueError(f"there is no objective '{objective}'.{closest(objective, known)}")
        if self.policy.grid or self.workload.grid or len(self.workload.loads) > 1:
            raise ValueError("a study has one policy and one workload at one load: what varies stands in space")
        for entry in (*self.space.policy.values(), *self.space.cluster.values()):
            if isinstance(entry, list) and not entry:
                raise ValueError("space has an empty list")
        return self

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """Read a study file; relative paths are taken from its own folder.

        Raises:
            ExperimentError: the file is missing, is no TOML, or describes no study.
        """
        path = Path(path)
        try:
            table = tomllib.loads(path.read_text(encoding="utf-8"))
        except (OSError, UnicodeDecodeError) as error:
            raise ExperimentError(f"Cannot read the study file {path}: {error}.", "Check the path.") from error
        except tomllib.TOMLDecodeError as error:
            raise ExperimentError(f"{path} is not TOML: {error}.", "Mend that line.") from error
        return cls.of(table, folder=path.resolve().parent, source=str(path))

    @classmethod
    def of(cls, table: dict[str, Any], *, folder: Path | None = None, source: str = "study") -> Self:
        """Read plain data, as TOML would give it. Raises `ExperimentError` as `load` does."""
        try:
            study = cls.model_validate(table)
        except ValidationError as error:
            raise explain(source, error.errors(), cls) from error
        if folder is None:
            return study
        moved = {
            "policy": anchored(study.policy, "name", folder),
            "workload": anchored(study.workload, "file", folder),
            "cluster": None if study.cluster is None else anchored(study.cluster, "file", folder),
        }
        return study.model_copy(update=moved)
