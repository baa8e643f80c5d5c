"""From an experiment to its cells: each one run, described by plain data and addressed by its content.

A cell's key is a hash of everything that its result follows from: jobs, part, load, machine, policy
(with the text of the file, where it comes from one), advisor, options, seed, version of hpcsim. Names
and labels are not in it, so that a sweep that grows or is renamed keeps its finished cells.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import product
from pathlib import Path
from typing import Any

from hpcsim.cluster import Cluster
from hpcsim.errors import ExperimentError, closest
from hpcsim.experiments.experiment import AdvisorEntry, ClusterEntry, Experiment, PolicyEntry, WorkloadEntry
from hpcsim.experiments.plug_ins import fingerprint
from hpcsim.experiments.workload_store import StoredWorkload
from hpcsim.results.storage import plain

KEY_LENGTH = 20
NO_ADVISOR = "none"
"""Name of an ``[[advisors]]`` entry for runs without advice."""

FACTORS = ("policy", "advisor", "cluster", "power_cap_w")
"""Columns that a baseline can fix."""


@dataclass(frozen=True, slots=True)
class Source:
    """A workload that has to be read or generated once: *file* by a reader, or else a model."""

    key: str
    name: str
    parameters: dict[str, Any]
    file: str | None = None
    seed: int | None = None


@dataclass(frozen=True, slots=True)
class Cell:
    """One run. All of it is plain data, which any executor can ship anywhere.

    Attributes:
        key: address of its result.
        policy: name and parameters.
        workload: path of the stored workload, and the window and load to run it at.
        machine: its description in TOML.
        advisor: name and parameters, or None.
        options: of `hpcsim.simulate`.
        labels: column -> value, what tables say of it.
    """

    key: str
    policy: tuple[str, dict[str, Any]]
    workload: str
    jobs: int
    window: dict[str, Any] | None
    load: float | None
    machine: str
    advisor: tuple[str, dict[str, Any]] | None
    options: dict[str, Any]
    seed: int
    labels: dict[str, Any] = field(default_factory=dict)


Labels = dict[str, Any]
Variant = tuple[Labels, dict[str, Any]]


def sources(experiment: Experiment) -> list[Source]:
    """Return the distinct workloads of *experiment*, in its order.

    Raises:
        ExperimentError: a log cannot be read.
    """
    found = {source.key: source for entry in experiment.workloads for _, source in _sources_of(experiment, entry)}
    return list(found.values())


def cells(experiment: Experiment, stored: Mapping[str, StoredWorkload]) -> list[Cell]:
    """Return the cells of *experiment*, in its order; *stored* holds its workloads by `Source.key`.

    Raises:
        ExperimentError: two entries share a label, the baseline names none, or a machine is not known.
        ClusterError: a machine's file is faulty.
    """
    arms = list(_arms(experiment))
    machines = list(_machines(experiment.clusters))
    options = experiment.run.model_dump()
    found = []
    for labels, source_key, window, load, seed in _loads(experiment):
        given = stored[source_key]
        for (machine_labels, machine), (arm_labels, policy, advisor) in product(machines, arms):
            draft = Cell(
                key="",
                policy=policy,
                workload=given.path,
                jobs=_jobs_in(given.jobs, window),
                window=window,
                load=load,
                machine=machine or _own_machine(given, labels["workload"]),
                advisor=advisor,
                options=options,
                seed=seed,
                labels=arm_labels | labels | machine_labels,
            )
            found.append(replace(draft, key=_key(draft, given.sha256)))
    _check_baseline(experiment, found)
    return found


def baseline_of(experiment: Experiment, every: Iterable[Cell]) -> dict[str, Any]:
    """Return what the comparison fixes, column -> value: the baseline, else the first policy."""
    given = experiment.baseline
    if isinstance(given, str):
        return {"policy": given}
    if given is None:
        return {"policy": next(iter(every)).labels["policy"]}
    return {key: value for key, value in given.model_dump().items() if value is not None}


def _sources_of(experiment: Experiment, entry: WorkloadEntry) -> Iterator[tuple[Labels, Source]]:
    """Yield labels (with the seed) and source of each workload that *entry* makes."""
    seeds = entry.seeds or (experiment.seeds if entry.model else experiment.seeds[:1])
    for labels, parameters in _variants("workload", entry, entry.source):
        for seed in seeds:
            if entry.model is not None:
                identity = {"model": fingerprint(entry.model), "parameters": parameters, "seed": seed}
                source = Source(_hash(identity), entry.model, parameters, seed=seed)
            else:
                log = str(entry.file)
                identity = {"log": _hash_file(log), "reader": fingerprint(entry.format), "parameters": parameters}
                source = Source(_hash(identity), entry.format, parameters, file=log)
            yield labels | {"seed": seed}, source


def _loads(experiment: Experiment) -> Iterator[tuple[Labels, str, dict[str, Any] | None, float | None, int]]:
    """Yield labels, key of the source, window, load and seed of everything that is to be run."""
    for entry in experiment.workloads:
        for labels, source in _sources_of(experiment, entry):
            for window, load in product(entry.windows or (None,), entry.loads or (None,)):
                more: Labels = {} if window is None else {"window": window.label}
                more |= {} if load is None else {"load": load}
                part = None if window is None else window.model_dump()
                yield labels | more, source.key, part, load, labels["seed"]


def _arms(experiment: Experiment) -> Iterator[tuple[Labels, Any, Any]]:
    """Yield labels, policy and advisor of each way to run a workload on a machine."""
    policies = [
        (labels, (entry.name, parameters))
        for entry in experiment.policies
        for labels, parameters in _variants("policy", entry, _short(entry.name))
    ]
    advisors: list[tuple[Labels, Any]] = [
        (labels, None if entry.name == NO_ADVISOR else (entry.name, parameters))
        for entry in experiment.advisors
        for labels, parameters in _variants("advisor", entry, _short(entry.name))
    ]
    for what, choices in (("policies", policies), ("advisors", advisors)):
        _refuse_repeats(what, [labels[column] for labels, _ in choices for column in labels if "." not in column])
    for (policy_labels, policy), (advisor_labels, advisor) in product(policies, advisors or [({}, None)]):
        yield policy_labels | advisor_labels, policy, advisor


def _machines(entries: Iterable[ClusterEntry]) -> Iterator[tuple[Labels, str | None]]:
    """Yield labels and description of each machine; None stands for the workload's own."""
    entries = list(entries)
    if not entries:
        yield {}, None
    _refuse_repeats("clusters", [entry.name for entry in entries])
    for entry in entries:
        cluster = entry.describe()
        if not entry.power_caps_w:
            yield {"cluster": entry.name}, cluster.to_toml()
        for cap_w in entry.power_caps_w:
            capped = replace(cluster, power_cap_w=cap_w)
            yield {"cluster": entry.name, "power_cap_w": cap_w}, capped.to_toml()


def _own_machine(given: StoredWorkload, label: str) -> str:
    if given.machine_nodes is None:
        raise ExperimentError(
            f"Workload '{label}' does not say how large its machine is.", "Add [[clusters]] with nodes or processors."
        )
    size = given.machine_nodes
    cluster = Cluster.of_processors(size) if given.counted == "processors" else Cluster.of_nodes(size)
    return cluster.to_toml()


def _variants(what: str, entry: PolicyEntry | AdvisorEntry | WorkloadEntry, name: str) -> Iterator[Variant]:
    """Yield labels and parameters of every point of an entry's grid."""
    for values in product(*entry.grid.values()):
        point = dict(zip(entry.grid, values, strict=True))
        label = " ".join([entry.label or name, *(f"{key}={_text(value)}" for key, value in point.items())])
        columns = {f"{what}.{key}": value if _is_scalar(value) else _text(value) for key, value in point.items()}
        yield {what: label} | columns, entry.parameters | point


def _check_baseline(experiment: Experiment, every: list[Cell]) -> None:
    for column, value in baseline_of(experiment, every).items():
        known = list(dict.fromkeys(cell.labels[column] for cell in every if column in cell.labels))
        if value not in known:
            texts = [_text(item) for item in known]
            raise ExperimentError(
                f"The baseline names the {column} '{value}', which the experiment has not.{closest(str(value), texts)}",
                f"Known: {', '.join(texts) or 'none'}.",
            )


def _refuse_repeats(what: str, labels: list[Any]) -> None:
    repeated = [label for label in labels if labels.count(label) > 1]
    if repeated:
        raise ExperimentError(f"Two of the {what} are called '{repeated[0]}'.", "Give one of them a label.")


def _jobs_in(jobs: int, window: dict[str, Any] | None) -> int:
    """Return how many jobs a window has at most."""
    if window is None or window["from_s"] is not None or window["until_s"] is not None:
        return jobs
    left = max(0, jobs - int(window["skip"]))
    return left if window["jobs"] is None else min(left, int(window["jobs"]))


def _key(cell: Cell, workload_sha256: str) -> str:
    policy, parameters = cell.policy
    advisor = None if cell.advisor is None else [fingerprint(cell.advisor[0]), cell.advisor[1]]
    return _hash(
        {
            "workload": workload_sha256,
            "window": cell.window,
            "load": cell.load,
            "machine": cell.machine,
            "policy": [fingerprint(policy), parameters],
            "advisor": advisor,
            "options": cell.options,
            "seed": cell.seed,
        }
    )


def _hash(identity: Mapping[str, Any]) -> str:
    from hpcsim import __version__

    text = json.dumps(plain({**identity, "hpcsim": __version__}), sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:KEY_LENGTH]


def _hash_file(path: str) -> str:
    try:
        with Path(path).open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise ExperimentError(f"Cannot read the log {path}: {error.strerror}.", "Check the path.") from error


def _short(name: str) -> str:
    return name.rpartition(":")[2]


def _is_scalar(value: Any) -> bool:
    return isinstance(value, str | int | float | bool)


def _text(value: Any) -> str:
    if isinstance(value, Mapping):
        return " ".join(str(item) if key == "name" else f"{key}={_text(item)}" for key, item in value.items())
    if isinstance(value, bool):
        return str(value).lower()
    return f"{value:g}" if isinstance(value, float) else str(value)
