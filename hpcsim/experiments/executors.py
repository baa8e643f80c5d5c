"""Where cells run: processes of this machine, or the workers of a Dask cluster.

Anything with the interface of `concurrent.futures.Executor` will do. `Processes` adds what a pool of
processes lacks: another one when a worker was killed, and workers that end when their parent is killed.
"""

from __future__ import annotations

import importlib
import multiprocessing
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Executor, Future, ProcessPoolExecutor
from contextlib import AbstractContextManager, contextmanager
from multiprocessing.connection import wait
from types import TracebackType
from typing import Any, Self, TypeVar

from hpcsim.errors import ExperimentError, MissingExtra

Answer = TypeVar("Answer")

_NEEDED = ("hpcsim.experiments.cell_run", "pandas", "pyarrow.parquet", "pydantic")
"""Modules that every worker needs and that take long to import: once for all of them."""

_MAIN = ("rich", "hpcsim.cli")
"""Modules that the main program may have, which a worker imports again."""

CONNECT_S = 10
"""Seconds to wait for a Dask scheduler to answer."""

PREFETCH = 2
"""Tasks in flight for each worker: one that runs, one that waits at its door."""


class Processes(AbstractContextManager["Processes"]):
    """A pool of *workers* processes that can be had anew after one was killed.

    They are forked from a server that has imported what they need and started no thread: the child
    of a process with threads, as Arrow starts them, can hang.
    """

    def __init__(self, workers: int) -> None:
        self.workers = workers
        self._pool: ProcessPoolExecutor | None = None

    def submit(self, function: Callable[..., Answer], *arguments: Any) -> Future[Answer]:
        """Run *function* in a worker."""
        if self._pool is None:
            context = multiprocessing.get_context("forkserver")
            context.set_forkserver_preload([*_NEEDED, *(name for name in _MAIN if name in sys.modules)])
            self._pool = ProcessPoolExecutor(self.workers, mp_context=context, initializer=_begin)
        return self._pool.submit(function, *arguments)

    def renew(self) -> None:
        """Let go of a broken pool; the next task starts another."""
        if self._pool is not None:
            self._pool.shutdown(wait=True, cancel_futures=True)
            self._pool = None

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.renew()


class Given:
    """An executor that is somebody else's: used, neither renewed nor shut down."""

    def __init__(self, executor: Executor) -> None:
        self._executor = executor

    def submit(self, function: Callable[..., Answer], *arguments: Any) -> Future[Answer]:
        """Run *function* wherever the executor does."""
        return self._executor.submit(function, *arguments)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        """Leave the executor to its owner."""


def _begin() -> None:
    """Prepare a worker: one thread for Arrow, a quiet end on Ctrl-C, none that outlives its parent."""
    import pyarrow as pa

    pa.set_cpu_count(1)
    signal.signal(signal.SIGINT, lambda *_: os._exit(130))
    parent = multiprocessing.parent_process()
    if parent is not None:
        threading.Thread(target=_end_with, args=(parent.sentinel,), daemon=True).start()


def _end_with(sentinel: int) -> None:
    """End this process as soon as its parent has ended; a pool alone would leave it waiting for ever."""
    wait([sentinel])
    os._exit(1)


@contextmanager
def dask_executor(address: str, *, workers: int) -> Iterator[Executor]:
    """Give the executor of the Dask scheduler at *address*; ``local`` starts *workers* processes here.

    Raises:
        MissingExtra: Dask is not installed.
        ExperimentError: nobody answers at the address.
    """
    distributed = _distributed()
    if address == "local":
        # No dashboard: it would want a port, and bokeh.
        with (
            distributed.LocalCluster(n_workers=workers, threads_per_worker=1, dashboard_address=None) as cluster,
            distributed.Client(cluster) as client,
        ):
            yield client.get_executor()
        return
    try:
        client = distributed.Client(address, timeout=CONNECT_S)
    except (OSError, TimeoutError, ValueError) as error:
        raise ExperimentError(
            f"No Dask scheduler answers at {address}: {error}.",
            "Start one with `dask scheduler`, or check the address.",
        ) from error
    with client:
        yield client.get_executor()


@contextmanager
def queue_executor(kind: str, options: Mapping[str, Any], *, workers: int) -> Iterator[Executor]:
    """Give the executor of *workers* Dask workers that run as jobs of a batch system.

    Raises as `queue_cluster`.
    """
    with queue_cluster(kind, options) as cluster, _distributed().Client(cluster) as client:
        cluster.scale(workers)
        yield client.get_executor()


def queue_cluster(kind: str, options: Mapping[str, Any]) -> Any:
    """Return dask-jobqueue's cluster of a batch system; it has no worker yet.

    Args:
        kind: ``slurm`` or ``pbs``.
        options: of SLURMCluster or PBSCluster, such as cores, memory, queue, walltime.

    Raises:
        MissingExtra: Dask or dask-jobqueue is not installed.
        ExperimentError: the options are refused.
    """
    _distributed()
    factories = {"slurm": "SLURMCluster", "pbs": "PBSCluster"}
    factory = getattr(_optional("dask_jobqueue", "dask-jobqueue"), factories[kind])
    defaults = {"cores": 1, "processes": 1, "memory": "4GB"}
    try:
        return factory(**defaults | dict(options))
    except (TypeError, ValueError, RuntimeError, OSError) as error:
        raise ExperimentError(
            f"dask-jobqueue refuses the options of --{kind}: {error}.", "See its documentation for what there is."
        ) from error


def _distributed() -> Any:
    return _optional("distributed", "distributed")


def _optional(module: str, package: str) -> Any:
    """Import a module of the extra ``cluster``."""
    try:
        return importlib.import_module(module)
    except ImportError as error:
        raise MissingExtra(
            f"Running on a Dask cluster needs the package '{package}', which is not installed.",
            "Type: pip install 'hpcsim-des[cluster]'.",
        ) from error
