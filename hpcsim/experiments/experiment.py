"""Experiment files: policies x workloads x machines x seeds, written down in TOML.

A list of tables says what is run side by side: ``[[policies]]``, ``[[workloads]]``, ``[[clusters]]``,
``[[advisors]]``. In each, ``parameters`` are fixed and ``grid`` lists values to try, every one with
every other. Paths are relative to the experiment file. `Experiment.json_schema` describes all keys.
"""

from __future__ import annotations

import math
import tomllib
from pathlib import Path
from typing import Any, Self, get_args

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from hpcsim.cluster import Cluster
from hpcsim.errors import ExperimentError, closest
from hpcsim.experiments.metrics import METRICS

HEADLINES = ["mean_wait_s", "mean_bounded_slowdown", "utilisation"]
"""Metrics of an experiment that names none."""

Grid = dict[str, list[Any]]


class Table(BaseModel):
    """One table of the file: no key but those named, no value of another type."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class _Choice(Table):
    """Something with parameters, fixed ones and a grid."""

    label: str | None = Field(None, min_length=1, description="Name in tables; default: made of name and parameters.")
    parameters: dict[str, Any] = Field({}, description="Parameters that stay the same.")
    grid: Grid = Field({}, description="Parameter -> values to try, every one with every other.")

    @model_validator(mode="after")
    def _check_grid(self) -> Self:
        for key, values in self.grid.items():
            if not values:
                raise ValueError(f"grid.{key} lists no value")
            if key in self.parameters:
                raise ValueError(f"'{key}' is in both parameters and grid")
        return self


class PolicyEntry(_Choice):
    """``[[policies]]``: a policy by registry name, ``module:Class`` or ``file.py:Class``."""

    name: str = Field(min_length=1, description="Registry name, module:Class or file.py:Class.")


class AdvisorEntry(_Choice):
    """``[[advisors]]``: who advises on node counts; ``none`` is the run without advice."""

    name: str = Field(min_length=1, description="Registry name, module:Class, file.py:Class, or none.")


class Window(Table):
    """Part of a log: *jobs* of them after the first *skip*, by order of arrival; or those of a span of time."""

    skip: int = Field(0, ge=0, description="Jobs to leave out at the beginning.")
    jobs: int | None = Field(None, ge=1, description="Jobs to keep; default: all that follow.")
    from_s: float | None = Field(None, allow_inf_nan=False, description="Submit time of the earliest, in s.")
    until_s: float | None = Field(None, allow_inf_nan=False, description="Submit time before which all are, in s.")

    @property
    def label(self) -> str:
        """How tables name it."""
        if self.from_s is None and self.until_s is None:
            return f"jobs {self.skip + 1}-{'' if self.jobs is None else self.skip + self.jobs}"
        return f"{_plain(self.from_s)}-{_plain(self.until_s)} s"

    @model_validator(mode="after")
    def _check_kind(self) -> Self:
        is_span = self.from_s is not None or self.until_s is not None
        if is_span and (self.skip or self.jobs is not None):
            raise ValueError("a window is given by skip and jobs, or by from_s and until_s, not by both")
        if self.from_s is not None and self.until_s is not None and self.from_s >= self.until_s:
            raise ValueError("a window ends after it begins: from_s < until_s")
        return self


class WorkloadEntry(_Choice):
    """``[[workloads]]``: a log (``file``) or a generator (``model``), in parts, at several loads."""

    file: str | None = Field(None, min_length=1, description="Job log; parameters are the reader's options.")
    format: str = Field("auto", description="Registry name of the log's reader; default: told by its content.")
    model: str | None = Field(None, min_length=1, description="Registry name of a workload model.")
    windows: list[Window] = Field([], description="Parts of it, each run by itself; default: the whole.")
    loads: list[float] = Field([], description="Offered loads: submit times are stretched to meet each.")
    seeds: list[int] = Field([], description="Default: the experiment's for a model, the first of them for a log.")

    @model_validator(mode="after")
    def _check_source(self) -> Self:
        if (self.file is None) == (self.model is None):
            raise ValueError("a workload is either a file or a model; give one of the two")
        for load in self.loads:
            if not (load > 0 and math.isfinite(load)):
                raise ValueError(f"a load of {load} makes no sense; give one above 0, such as 0.8")
        check_seeds(self.seeds)
        return self

    @property
    def source(self) -> str:
        """How tables name it where it has no label: the model, or the log without folder and endings."""
        if self.model:
            return self.model
        name = Path(str(self.file)).name.removesuffix(".gz")
        return name.removesuffix(".swf") if self.format == "auto" else name.removesuffix(f".{self.format}")


class ClusterEntry(Table):
    """``[[clusters]]``: a machine by its size or its file; without any, the workload's own."""

    label: str | None = Field(None, min_length=1, description="Name in tables; default: its size or its file.")
    nodes: int | None = Field(None, ge=1, description="Machine of so many nodes.")
    processors: int | None = Field(None, ge=1, description="Machine of so many processors.")
    file: str | None = Field(None, min_length=1, description="Machine described in a TOML file.")
    power_caps_w: list[float] = Field([], description="Facility caps in watts, each run by itself; inf is none.")

    @model_validator(mode="after")
    def _check_kind(self) -> Self:
        if sum(value is not None for value in (self.nodes, self.processors, self.file)) != 1:
            raise ValueError("give one of nodes, processors and file")
        for cap_w in self.power_caps_w:
            if not cap_w >= 0:
                raise ValueError(f"a power cap of {cap_w} W makes no sense")
        return self

    @property
    def name(self) -> str:
        """How tables name it."""
        if self.label is not None:
            return self.label
        if self.file is not None:
            return Path(self.file).stem
        return f"{self.nodes} nodes" if self.nodes else f"{self.processors} processors"

    def describe(self) -> Cluster:
        """Return the machine, without a cap of the experiment's."""
        if self.file is not None:
            return Cluster.load(self.file)
        return Cluster.of_nodes(self.nodes) if self.nodes else Cluster.of_processors(int(self.processors or 0))


class RunOptions(Table):
    """``[run]``: options of `hpcsim.simulate` that every run shares."""

    until: float | None = Field(None, allow_inf_nan=False, description="Cut each run at this instant of its clock, s.")
    grace_s: float = Field(0, ge=0, allow_inf_nan=False, description="Seconds that a job may outlive its limit.")
    kill_at_limit: bool = Field(True, description="False lets jobs outlive their limits.")
    feedback: bool = Field(False, description="Honour the log's dependencies and think times.")
    check: bool = Field(False, description="Watch the simulator's invariants.")


class Baseline(Table):
    """What the others are compared with. Only what is named here varies within a comparison."""

    policy: str | None = None
    advisor: str | None = None
    cluster: str | None = None
    power_cap_w: float | None = None


class Experiment(Table):
    """A whole experiment file."""

    name: str = Field("experiment", min_length=1, description="Title of tables.")
    seeds: list[int] = Field([0], min_length=1, description="Roots of all randomness; each is a replicate.")
    metrics: list[str] = Field(HEADLINES, min_length=1, description="Figures of Result.summary to compare by.")
    baseline: Baseline | str | None = Field(None, description="Label of a policy, or a table; default: the first.")
    policies: list[PolicyEntry] = Field(min_length=1)
    workloads: list[WorkloadEntry] = Field(min_length=1)
    clusters: list[ClusterEntry] = []
    advisors: list[AdvisorEntry] = []
    run: RunOptions = Field(default_factory=lambda: RunOptions.model_validate({}))

    @model_validator(mode="after")
    def _check_lists(self) -> Self:
        check_seeds(self.seeds)
        for metric in self.metrics:
            if metric not in METRICS:
                raise ValueError(f"there is no metric '{metric}'.{closest(metric, METRICS)}")
        return self

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """Read an experiment file; its relative paths are taken from its own folder.

        Raises:
            ExperimentError: the file is missing, is no TOML, or describes no experiment.
        """
        path = Path(path)
        try:
            text = path.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise ExperimentError(f"Cannot read the experiment file {path}: {error}.", "Check the path.") from error
        return cls.from_toml(text, folder=path.resolve().parent, source=str(path))

    @classmethod
    def from_toml(cls, text: str, *, folder: Path | None = None, source: str = "experiment") -> Self:
        """Read TOML text; relative paths are taken from *folder*. Raises `ExperimentError` as `load` does."""
        try:
            table = tomllib.loads(text)
        except tomllib.TOMLDecodeError as error:
            raise ExperimentError(f"{source} is not TOML: {error}.", "Mend that line.") from error
        return cls.of(table, folder=folder, source=source)

    @classmethod
    def of(cls, table: dict[str, Any], *, folder: Path | None = None, source: str = "experiment") -> Self:
        """Read plain data, as TOML would give it. Raises `ExperimentError` as `load` does."""
        try:
            experiment = cls.model_validate(table)
        except ValidationError as error:
            raise explain(source, error.errors(), cls) from error
        if folder is None:
            return experiment
        keys = {"policies": "name", "advisors": "name", "workloads": "file", "clusters": "file"}
        moved = {
            part: [anchored(entry, key, folder) for entry in getattr(experiment, part)] for part, key in keys.items()
        }
        return experiment.model_copy(update=moved)

    @classmethod
    def json_schema(cls) -> dict[str, Any]:
        """Return the JSON schema of experiment files, for editors that check as one types."""
        return cls.model_json_schema() | {"$schema": "https://json-schema.org/draft/2020-12/schema"}


def anchored(entry: Any, key: str, folder: Path) -> Any:
    """Return *entry* with the path under *key* taken from *folder*; a ``name`` is one only as ``file.py:Class``."""
    text = getattr(entry, key)
    where, _, member = (text or "").rpartition(":")
    if key == "name":
        return entry.model_copy(update={key: f"{folder / where}:{member}"}) if where.endswith(".py") else entry
    return entry.model_copy(update={key: text and str(folder / text)})


def explain(source: str, faults: list[Any], root: type[BaseModel]) -> ExperimentError:
    """Turn pydantic's complaints into one sentence: an unknown key first, for it explains the others."""
    fault = min(faults, key=lambda fault: fault["type"] != "extra_forbidden")
    where = ".".join(str(part) for part in fault["loc"])
    if fault["type"] == "extra_forbidden":
        key, known = str(fault["loc"][-1]), _keys_at(root, fault["loc"][:-1])
        remedy = f"Known here: {', '.join(known)}." if known else "Leave it out."
        return ExperimentError(f"{source}: unknown key '{where}'.{closest(key, known)}", remedy)
    if fault["type"] == "missing":
        return ExperimentError(f"{source}: '{where}' is missing.", "Give it.")
    said = str(fault["ctx"]["error"]) if fault["type"] == "value_error" else f"{fault['msg']}, not {fault['input']!r}"
    return ExperimentError(f"{source}: {f'{where}: ' if where else ''}{said.rstrip('.')}.", "Mend the value.")


def _keys_at(root: type[BaseModel], path: tuple[Any, ...]) -> list[str]:
    """Return the keys of the table at *path* below *root*."""
    table = root
    for part in path:
        if part in table.model_fields:
            below = [kind for kind in _kinds(table.model_fields[part].annotation) if issubclass(kind, BaseModel)]
            table = below[0] if below else table
    return list(table.model_fields)


def _kinds(annotation: Any) -> list[type]:
    """Return the classes that an annotation is made of."""
    inner = get_args(annotation)
    return (
        [kind for part in inner for kind in _kinds(part)]
        if inner
        else [annotation]
        if isinstance(annotation, type)
        else []
    )


def check_seeds(seeds: list[int]) -> None:
    """Refuse negative seeds and repeated ones, by a ValueError as pydantic wants it."""
    if any(seed < 0 for seed in seeds):
        raise ValueError("seeds are whole numbers from 0")
    if len(set(seeds)) < len(seeds):
        raise ValueError("a seed is listed twice, which would count one run as two replicates")


def _plain(seconds: float | None) -> str:
    return "" if seconds is None else f"{seconds:g}"
