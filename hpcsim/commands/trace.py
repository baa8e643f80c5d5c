"""The job log and the machine that a command works on, from its options."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from hpcsim import registry
from hpcsim.cluster import Cluster
from hpcsim.commands.options import ReadMode
from hpcsim.commands.out_folder import check_file
from hpcsim.commands.output import say
from hpcsim.commands.policy_specs import parse_setting
from hpcsim.commands.progress import busy
from hpcsim.errors import ClusterError, WorkloadError
from hpcsim.partition_limits import with_partition_limits
from hpcsim.results.quantities import count, percentage
from hpcsim.workload import Workload

ENOUGH_JOBS, LOW_LOAD, HIGH_LOAD = 100, 0.02, 1.3
"""From this many jobs on, a load outside these bounds is worth a word."""


def read_trace(
    path: str,
    file_format: str = "auto",
    settings: Sequence[str] | None = None,
    *,
    mode: ReadMode | None = None,
    quarantine: Path | None = None,
    limit: int | None = None,
) -> Workload:
    """Read a job log, or its first *limit* rows; refused rows go to the file *quarantine*, if given.

    *settings* are ``key=value`` texts for the format's reader.

    Raises:
        UnknownName: there is no such format, or its reader has no such option.
        WorkloadError: *mode* and *quarantine* contradict each other, or the log cannot be read.
        ResultError: *quarantine* cannot be written.
    """
    options: dict[str, Any] = dict(parse_setting(text, "--read") for text in settings or ())
    options["mode"] = str(_mode(mode, quarantine))
    if quarantine is not None:
        _check_quarantine(Path(path), quarantine)
        options["quarantine_path"] = quarantine
    if limit is not None:
        options["limit_rows"] = limit
    with warnings.catch_warnings(record=True) as caught, busy(f"Reading {Path(path).name}"):
        workload: Workload = registry.make("readers", file_format, path=path, **options)
    for warning in caught:  # now that the spinner is off the line
        warnings.showwarning(warning.message, warning.category, warning.filename, warning.lineno)
    if workload.limits_are_run_times:
        say("The log has no limits, so the run times stand in for them: policies plan with perfect estimates.")
    return workload


def _mode(mode: ReadMode | None, quarantine: Path | None) -> ReadMode:
    """Return the mode to read in: a file for refused rows implies the mode that writes it."""
    if quarantine is None:
        if mode is ReadMode.QUARANTINE:
            raise WorkloadError("--mode quarantine needs a file for the refused rows.", "Add --quarantine FILE.")
        return mode or ReadMode.REPAIR
    if mode not in (None, ReadMode.QUARANTINE):
        raise WorkloadError(
            f"--mode {mode} writes no quarantine file.", "Give either --quarantine FILE or --mode, not both."
        )
    return ReadMode.QUARANTINE


def _check_quarantine(log: Path, quarantine: Path) -> None:
    """Refuse a file that could not be written, or that is the log itself."""
    check_file(quarantine)
    if quarantine.exists() and log.exists() and quarantine.samefile(log):
        raise WorkloadError("--quarantine names the log itself, which would be overwritten.", "Give another file.")


def choose_machine(
    workload: Workload, *, nodes: int | None, processors: int | None, cluster_file: Path | None
) -> Cluster:
    """Return the machine asked for, else the log's own; say so where that is not what was typed.

    Raises:
        ClusterError: more than one was asked for, none is known, or it counts otherwise than the log.
    """
    if sum(option is not None for option in (nodes, processors, cluster_file)) > 1:
        raise ClusterError("The machine is given more than once.", "Give one of --nodes, --processors and --cluster.")
    if cluster_file is not None:
        cluster = _from_file(workload, cluster_file)
        _tell_unlikely_load(workload, cluster.nodes)
        return cluster
    if processors is not None and workload.counted == "nodes":
        raise ClusterError(
            "This log counts nodes, not processors.", f"Give --nodes N instead of --processors {processors}."
        )
    if nodes is not None and workload.counted == "processors":
        say(f"This log counts processors: --nodes {nodes} means {count(nodes, 'processor')}.")
    size = nodes or processors or _by_the_log(workload)
    _tell_unlikely_load(workload, size)
    return Cluster.of_processors(size) if workload.counted == "processors" else _of_nodes(workload, size)


def limit_by_partitions(workload: Workload, cluster: Cluster) -> Workload:
    """Return *workload* with the limits of *cluster*'s partitions for jobs that have none; say how many those are."""
    limited, given = with_partition_limits(workload, cluster)
    if given:
        say(f"{count(given, 'job')} without a limit: the largest of the partition holds.")
    return limited


def describe(trace: str, cluster: Cluster) -> str:
    """Return the trace's and the machine's part of a table's title."""
    name = "" if cluster.name == "cluster" else f"{cluster.name}, "
    return f"{Path(trace).name} on {name}{count(cluster.nodes, cluster.counted.removesuffix('s'))}"


def _tell_unlikely_load(workload: Workload, size: int) -> None:
    """Say so where the jobs' load shows that the machine is hardly the one that they ran on."""
    load = workload.offered_load(size)
    if size == workload.machine_nodes or len(workload) < ENOUGH_JOBS or not (load < LOW_LOAD or load > HIGH_LOAD):
        return
    widest = count(int(workload.columns["nodes"].max()), workload.counted.removesuffix("s"))
    machine = count(size, workload.counted.removesuffix("s"))
    say(f"Warning: as logged, the jobs offer a load of {percentage(load)} to {machine}; the widest takes {widest}.")
    say("Check the machine's size, and whether jobs shared nodes (then try --read count=processors).")


def _of_nodes(workload: Workload, size: int) -> Cluster:
    """Return *size* nodes, each with what the log's jobs ask of one at most; say so where that is more than a core."""
    cores, gpus = (
        int(workload.columns[name].max(initial=0)) if name in workload.columns else 0
        for name in ("cores_per_node", "gpus_per_node")
    )
    if cores > 1 or gpus:
        parts = count(max(cores, 1), "core") + (f" and {count(gpus, 'GPU')}" if gpus else "")
        say(f"Each node is taken to have {parts}, the most that a job asks of one.")
    return Cluster.of_nodes(size, cores=max(cores, 1), gpus=gpus)


def _by_the_log(workload: Workload) -> int:
    """Return the size of the log's own machine. A size that the reader only guessed is not good enough to simulate."""
    size, guess = workload.machine_nodes, ""
    if workload.ledger.machine_is_guessed:
        size, guess = None, f" (its widest job takes {size:,})"
    if size is None:
        raise ClusterError(
            f"The log does not say how large its machine is{guess}.",
            f"Give --{workload.counted} N or --cluster FILE.",
        )
    say(f"Machine: {count(size, workload.counted.removesuffix('s'))}, as the log's header says.")
    return size


def _from_file(workload: Workload, path: Path) -> Cluster:
    cluster = Cluster.load(path)
    if cluster.counted != workload.counted:
        say(f"This log counts {workload.counted}: each of them is taken for one of the {cluster.counted} in {path}.")
    return cluster
