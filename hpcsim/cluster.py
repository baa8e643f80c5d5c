"""The machine: groups of like nodes, the partitions over them, and the cluster they make."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any, ClassVar, Literal, NamedTuple, Self

from hpcsim.errors import ClusterError, closest
from hpcsim.job import Job
from hpcsim.node_ids import MOST_NODES
from hpcsim.power import CapStep, NodePower, Tariff, check_amount


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeGroup:
    """A run of identical nodes with consecutive ids.

    Attributes:
        name: unique within the cluster.
        nodes: how many.
        cores, gpus, memory_bytes: of each node; memory 0 means not modelled.
        features: what jobs can ask for.
        allocation_sizes: node counts that the machine hands out; a request is rounded up to the
            next one (Blue Gene partitions). Empty means any.
        power: watts and transition times, or None.
    """

    __pydantic_config__: ClassVar[dict[str, str]] = {"extra": "forbid"}

    name: str = "nodes"
    nodes: int
    cores: int = 1
    gpus: int = 0
    memory_bytes: int = 0
    features: frozenset[str] = frozenset()
    allocation_sizes: tuple[int, ...] = ()
    power: NodePower | None = None

    def __post_init__(self) -> None:
        for name in ("nodes", "cores", "gpus", "memory_bytes"):
            _check_whole(f"Node group '{self.name}'", name, getattr(self, name))
        _check_each(f"Node group '{self.name}'", "allocation_sizes", self.allocation_sizes, int)
        _check_each(f"Node group '{self.name}'", "features", self.features, str)
        _check_each(f"Node group '{self.name}'", "power", () if self.power is None else (self.power,), NodePower)
        for size in self.allocation_sizes:
            _check_whole(f"Node group '{self.name}'", "allocation_sizes", size, least=1)
        if self.nodes < 1 or self.cores < 1 or self.gpus < 0 or self.memory_bytes < 0:
            raise ClusterError(
                f"Node group '{self.name}' has {self.nodes} nodes, {self.cores} cores, {self.gpus} GPUs, "
                f"{self.memory_bytes} bytes of memory.",
                "Give at least 1 node and 1 core, and nothing below 0.",
            )
        _refuse_too_many(f"Node group '{self.name}'", self.nodes)

    def handed_out(self, nodes: int) -> int | None:
        """Return how many nodes a request for *nodes* gets: the next allocation size; None if there is none."""
        sizes = self.allocation_sizes or (nodes,)
        return min((size for size in sizes if nodes <= size <= self.nodes), default=None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Partition:
    """A named set of node groups with limits of its own; partitions may overlap."""

    __pydantic_config__: ClassVar[dict[str, str]] = {"extra": "forbid"}

    name: str
    groups: tuple[str, ...]
    max_limit_s: float = math.inf
    max_nodes: int | None = None

    def __post_init__(self) -> None:
        what = f"Partition '{self.name}'"
        _check_each(what, "groups", self.groups, str)
        if not self.groups:
            raise ClusterError(f"{what} has no node group.", "Name at least one in its `groups`.")
        check_amount(what, "max_limit_s", self.max_limit_s, may_be_zero=False)
        if self.max_nodes is not None:
            _check_whole(what, "max_nodes", self.max_nodes, least=1)


class Way(NamedTuple):
    """One way to place a job: *nodes* nodes of *groups* (their places in `Cluster.groups`), within one partition."""

    partition: str
    groups: tuple[int, ...]
    nodes: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Cluster:
    """A whole machine. `Cluster.of_nodes(128)` is the short way to a plain one.

    Attributes:
        groups: node groups; ids are handed out in their order, from 0.
        partitions: empty means one partition over everything.
        name: shown in tables.
        counted: what a "node" stands for, ``"nodes"`` or ``"processors"``.
        power_cap_w: facility cap in watts; ``inf`` means none.
        power_cap_steps: announced changes of the cap, in order of time.
        tariff: price and carbon of energy, or None.
    """

    __pydantic_config__: ClassVar[dict[str, str]] = {"extra": "forbid"}

    groups: tuple[NodeGroup, ...]
    partitions: tuple[Partition, ...] = ()
    name: str = "cluster"
    counted: Literal["nodes", "processors"] = "nodes"
    power_cap_w: float = math.inf
    power_cap_steps: tuple[CapStep, ...] = ()
    tariff: Tariff | None = None

    def __post_init__(self) -> None:
        parts = {"groups": NodeGroup, "partitions": Partition, "power_cap_steps": CapStep}
        for name, kind in (*parts.items(), ("tariff", Tariff)):
            value = getattr(self, name)
            _check_each("The cluster", name, value if name in parts else () if value is None else (value,), kind)
        if not self.groups:
            raise ClusterError("The cluster has no node group.", "Add at least one, or use Cluster.of_nodes(N).")
        _refuse_too_many("The cluster", self.nodes)
        check_amount("The cluster", "power_cap_w", self.power_cap_w)
        times_s = [step.from_s for step in self.power_cap_steps]
        if times_s != sorted(set(times_s)):
            raise ClusterError("The steps of the power cap are out of order.", "Sort them by time, each time once.")
        names = [group.name for group in self.groups]
        _refuse_repeats("node group", names)
        _refuse_repeats("partition", [partition.name for partition in self.partitions])
        for partition in self.partitions:
            for name in partition.groups:
                if name not in names:
                    raise ClusterError(
                        f"Partition '{partition.name}' names the node group '{name}', which does not exist.",
                        f"Known groups: {', '.join(names)}.{closest(name, names)}",
                    )

    @classmethod
    def of_nodes(
        cls, nodes: int, *, cores: int = 1, gpus: int = 0, memory_bytes: int = 0, name: str = "cluster"
    ) -> Self:
        """Return a cluster of *nodes* identical nodes."""
        return cls(groups=(NodeGroup(nodes=nodes, cores=cores, gpus=gpus, memory_bytes=memory_bytes),), name=name)

    @classmethod
    def of_processors(cls, processors: int, *, name: str = "cluster") -> Self:
        """Return *processors* one-core nodes: the machine of a log that counts processors."""
        return cls(groups=(NodeGroup(name="processors", nodes=processors),), name=name, counted="processors")

    @property
    def nodes(self) -> int:
        """Number of nodes in all groups."""
        return sum(group.nodes for group in self.groups)

    @property
    def has_power(self) -> bool:
        """Whether anything of the machine's power is described."""
        has_cap = self.power_cap_w < math.inf or bool(self.power_cap_steps)
        return has_cap or self.tariff is not None or any(group.power for group in self.groups)

    def never_runs(self, job: Job) -> str:
        """Return why *job* can never run on this machine, or the empty string if it can."""
        partitions = self.partitions_of(job)
        if not partitions:
            return f"no such partition: {', '.join(job.partitions)}"
        reasons = [self._refusal(job, partition) for partition in partitions]
        return "" if "" in reasons else "; ".join(dict.fromkeys(reasons))

    def partitions_of(self, job: Job) -> tuple[Partition, ...]:
        """Return the partitions that *job* may use; the whole machine where none are defined."""
        every = self.partitions or (Partition(name="all", groups=tuple(g.name for g in self.groups)),)
        if not job.partitions or not self.partitions:
            return every
        return tuple(partition for partition in every if partition.name in job.partitions)

    def ways(self, job: Job) -> tuple[Way, ...]:
        """Return all ways to place *job*, the preferred one first; none if it can never run.

        A job runs within one partition. Groups with allocation sizes of their own hand out their
        nodes apart from the others, and not together.
        """
        allowed = [part for part in self.partitions_of(job) if not self._refusal(job, part)]
        return tuple(way for partition in allowed for way in self._ways_within(job, partition))

    def _ways_within(self, job: Job, partition: Partition) -> list[Way]:
        serving = self._serving(job, partition)
        plain = tuple(at for at in serving if not self.groups[at].allocation_sizes)
        ways = [Way(partition.name, plain, job.nodes)] if self._size_of(plain) >= job.nodes else []
        for at in serving:
            nodes = self.groups[at].handed_out(job.nodes) if at not in plain else None
            if nodes is not None:
                ways.append(Way(partition.name, (at,), nodes))
        return ways

    def _serving(self, job: Job, partition: Partition) -> list[int]:
        """Return the groups of *partition* whose nodes have what *job* wants of a node."""
        return [at for at, g in enumerate(self.groups) if g.name in partition.groups and _node_serves(g, job)]

    def _size_of(self, groups: Iterable[int]) -> int:
        return sum(self.groups[at].nodes for at in groups)

    def _most(self, groups: Iterable[int]) -> int:
        """Return the widest job that fits into these groups when nothing else runs."""
        apart = [at for at in groups if self.groups[at].allocation_sizes]
        sizes = [size for at in apart for size in self.groups[at].allocation_sizes if size <= self.groups[at].nodes]
        return max([self._size_of(set(groups) - set(apart)), *sizes])

    def _refusal(self, job: Job, partition: Partition) -> str:
        fitting = self._serving(job, partition)
        if not fitting:
            return f"no node of partition {partition.name} has the cores, GPUs, memory or features it asks for"
        if job.nodes > self._most(fitting):
            return f"wants {job.nodes} {self.counted}, the most it can ever have is {self._most(fitting)}"
        if partition.max_nodes is not None and job.nodes > partition.max_nodes:
            return f"wants {job.nodes} {self.counted}, partition {partition.name} allows {partition.max_nodes}"
        if job.limit_s > partition.max_limit_s:
            return f"limit {job.limit_s} s exceeds the {partition.max_limit_s} s of partition {partition.name}"
        return ""

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """Read a cluster from a TOML file.

        Raises:
            ClusterError: the file is missing, is no TOML, or describes no cluster.
        """
        try:
            text = Path(path).read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise ClusterError(f"Cannot read the cluster file {path}: {error}.", "Check the path.") from error
        return cls.from_toml(text, source=str(path))

    @classmethod
    def from_toml(cls, text: str, *, source: str = "cluster description") -> Self:
        """Read a cluster from TOML text. Raises `ClusterError` as `load` does."""
        import tomllib

        import pydantic

        try:
            table = tomllib.loads(text)
            _refuse_other_types(source, table)
            return pydantic.TypeAdapter(cls).validate_python(table)
        except tomllib.TOMLDecodeError as error:
            raise ClusterError(f"{source} is not TOML: {error}.", "Mend that line.") from error
        except pydantic.ValidationError as error:
            raise _validation_error(source, error.errors()) from error

    def save(self, path: str | Path) -> None:
        """Write the cluster to a TOML file that `load` reads back as an equal one."""
        Path(path).write_text(self.to_toml(), encoding="utf-8")

    def to_toml(self) -> str:
        """Write the cluster as TOML."""
        from hpcsim.toml_text import to_toml

        return to_toml(asdict(self))


def _node_serves(group: NodeGroup, job: Job) -> bool:
    """Tell whether each node of *group* has what *job* wants of a node."""
    return (
        job.cores_per_node <= group.cores
        and job.gpus_per_node <= group.gpus
        and (job.memory_bytes_per_node <= group.memory_bytes or not group.memory_bytes)
        and job.features <= group.features
    )


def _refuse_too_many(what: str, nodes: int) -> None:
    if nodes > MOST_NODES:
        raise ClusterError(f"{what} has {nodes} nodes.", f"Give at most {MOST_NODES} nodes.")


def _check_whole(what: str, name: str, value: Any, least: int | None = None) -> None:
    if isinstance(value, bool) or not hasattr(value, "__index__"):
        raise ClusterError(f"{what} has {name} = {value!r}.", "Give a whole number.")
    if least is not None and value < least:
        raise ClusterError(f"{what} has {name} = {value!r}.", f"Give at least {least}.")


def _check_each(what: str, name: str, values: Any, kind: type) -> None:
    """Refuse what is no collection of *kind*; a text is one value, not a collection of letters."""
    is_collection = isinstance(values, tuple | list | frozenset | set)
    wrong = [value for value in values if not isinstance(value, kind)] if is_collection else [values]
    if wrong:
        raise ClusterError(f"{what} has {name} = {wrong[0]!r}.", f"Give {kind.__name__} values, in a tuple if several.")


def _refuse_repeats(what: str, names: list[str]) -> None:
    repeated = sorted({name for name in names if names.count(name) > 1})
    if repeated:
        raise ClusterError(f"Two of the cluster's {what}s are called '{repeated[0]}'.", "Give each its own name.")


def _refuse_other_types(source: str, value: Any, path: tuple[str, ...] = ()) -> None:
    """Refuse booleans anywhere and texts for numbers, which pydantic would take for numbers."""
    if isinstance(value, dict):
        for key, below in value.items():
            _refuse_other_types(source, below, (*path, key))
    elif isinstance(value, list):
        for place, below in enumerate(value):
            _refuse_other_types(source, below, (*path, str(place)))
    elif isinstance(value, bool) or (isinstance(value, str) and path[-1] in _NUMBERS):
        kind = "a boolean" if isinstance(value, bool) else f"the text {value!r}"
        raise ClusterError(f"{source}: '{'.'.join(path)}' is {kind}.", "Mend the value.")


def _validation_error(source: str, faults: list[Any]) -> ClusterError:
    """Turn pydantic's complaints into one sentence that names a key: an unknown one first, it explains the others."""
    fault = min(faults, key=lambda fault: fault["type"] != "unexpected_keyword_argument")
    where = ".".join(str(part) for part in fault["loc"])
    if fault["type"] == "value_error":
        return ClusterError(f"{source}: {fault['ctx']['error']}")
    if fault["type"] == "unexpected_keyword_argument":
        key = str(fault["loc"][-1])
        known = [field.name for kind in _KINDS for field in fields(kind)]
        if key in known:
            remedy = "A cluster file is a list of [[groups]], each with nodes = NUMBER."
            return ClusterError(f"{source}: the key '{where}' has no place here.", remedy)
        return ClusterError(f"{source}: unknown key '{where}'.{closest(key, known)}", "Mend the key.")
    return ClusterError(f"{source}: '{where}': {fault['msg']}.", "Mend the value.")


_KINDS = (Cluster, NodeGroup, Partition, NodePower, CapStep, Tariff)

_NUMBERS = frozenset(
    field.name for kind in _KINDS for field in fields(kind) if str(field.type).startswith(("int", "float"))
)
"""Keys of a cluster file that hold one number."""
