"""What a worker does: store a workload, run a cell. Plain data in, plain data out, results on disk."""

from __future__ import annotations

import errno
import json
import secrets
import traceback
import warnings
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from time import perf_counter

from hpcsim import registry
from hpcsim.cluster import Cluster
from hpcsim.errors import DiskFull, HpcsimError, HpcsimWarning, MissingExtra
from hpcsim.experiments import workload_store
from hpcsim.experiments.cells import Cell, Source
from hpcsim.experiments.parts import cut
from hpcsim.experiments.plug_ins import make, make_policy
from hpcsim.results.result import Result
from hpcsim.results.run import simulate
from hpcsim.workload import Workload

CELLS, FAILED, PARTIAL, WORKLOADS = "cells", "failed", "partial", "workloads"
"""Folders of a sweep: finished results, errors, results up to an error, stored workloads."""

RESUME_LATER = "Free some space, then repeat the command with --resume; nothing is lost."
NO_SPACE = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


@dataclass(frozen=True, slots=True)
class Report:
    """How a cell ended: *error* is empty where it finished; *wall_s* is all of its time, *simulate_s* a part."""

    key: str
    error: str = ""
    wall_s: float = 0.0
    simulate_s: float = 0.0


def share(source: Source, folder: str) -> workload_store.StoredWorkload:
    """Read or generate a workload and store it for all cells, unless that has been done.

    Raises:
        WorkloadError, UnknownName: it cannot be read or generated.
        DiskFull: there is no space for it.
    """
    path = Path(folder) / WORKLOADS / f"{source.key}.arrow"
    if path.exists():
        return workload_store.stored(path)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", HpcsimWarning)
        workload = _obtain(source)
    messages = dict.fromkeys(str(w.message) for w in caught if issubclass(w.category, HpcsimWarning))
    try:
        return workload_store.store(workload, path, tuple(messages))
    except OSError as error:
        raise _stop(error, path) from error


def run_cell(cell: Cell, folder: str) -> Report:
    """Run *cell* and save its result, or its error, under *folder*.

    An error of the cell is reported, never raised: the others go on.

    Raises:
        DiskFull: there is no space for the result.
    """
    began = perf_counter()
    target = Path(folder) / CELLS / cell.key
    if target.exists():
        return Report(cell.key)
    try:
        result = simulate_cell(cell)
        simulate_s = float(result.timings["simulate_s"])
        result.save(target)
    except Exception as error:  # noqa: BLE001 - a policy may raise anything, and the others have to go on
        _stop_if_full(error, target)
        _keep_partial(error, Path(folder) / PARTIAL / cell.key)
        write_failure(cell, error, folder)
        return Report(cell.key, _message(error), perf_counter() - began)
    return Report(cell.key, "", perf_counter() - began, simulate_s)


def simulate_cell(cell: Cell) -> Result:
    """Return the result of *cell*; its provenance names the cell. Raises what `hpcsim.simulate` does."""
    policy = make_policy(*cell.policy)
    advisor = None if cell.advisor is None else make("advisors", *cell.advisor)
    cluster = _machine(cell.machine)
    workload = part_of(cell, cluster)
    result = simulate(workload, cluster, policy, seed=cell.seed, advisor=advisor, **cell.options)
    result.provenance["cell"] = cell.key
    return result


def part_of(cell: Cell, cluster: Cluster) -> Workload:
    """Return the jobs of *cell*: its workload, cut and stretched as it says."""
    workload = _mapped(cell.workload)
    if cell.window is not None:
        workload = cut(workload, cell.window)
    if cell.load is not None:
        scaled = registry.find("transformations", "scale-load")
        workload = scaled(workload, load=cell.load, nodes=cluster.nodes)
    return workload


def write_failure(cell: Cell, error: BaseException, folder: str) -> None:
    """Keep an error beside the results, whole or not at all.

    Raises:
        DiskFull: there is no space for it.
    """
    path = Path(folder) / FAILED / f"{cell.key}.json"
    lines = traceback.format_exception(error)
    record = {"kind": type(error).__name__, "message": _message(error), "traceback": "".join(lines), "cell": cell.key}
    draft = path.with_name(f".{path.name}.{secrets.token_hex(4)}.draft")
    try:
        draft.write_text(json.dumps(record, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
        draft.replace(path)
    except OSError as fault:
        draft.unlink(missing_ok=True)
        raise _stop(fault, path) from fault


def _obtain(source: Source) -> Workload:
    if source.file is not None:
        workload: Workload = registry.find("readers", source.name)(source.file, **source.parameters)
        return workload
    return registry.make("models", source.name, **source.parameters, seed=source.seed)  # type: ignore[no-any-return]


@lru_cache(maxsize=64)
def _machine(toml: str) -> Cluster:
    return Cluster.from_toml(toml)


@lru_cache(maxsize=4)
def _mapped(path: str) -> Workload:
    return workload_store.load(Path(path))


def _keep_partial(error: BaseException, folder: Path) -> None:
    partial = getattr(error, "partial", None)
    if isinstance(partial, Result):
        try:
            partial.save(folder)
        except HpcsimError as fault:
            _stop_if_full(fault, folder)


def _stop_if_full(error: BaseException, path: Path) -> None:
    """Raise `DiskFull` if that is what *error*, or what it came from, is about."""
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, DiskFull):
            raise cause
        if isinstance(cause, OSError) and cause.errno in NO_SPACE and not isinstance(cause, MissingExtra):
            raise _stop(cause, path) from error
        cause = cause.__cause__


def _stop(error: OSError, path: Path) -> DiskFull:
    reason = error.strerror or str(error)
    return DiskFull(f"Cannot write {path}: {reason}.", RESUME_LATER)


def _message(error: BaseException) -> str:
    """Return one line: our errors speak for themselves, others by their class."""
    text = " ".join(str(error).split())
    return text if isinstance(error, HpcsimError) else f"{type(error).__name__}: {text}"
