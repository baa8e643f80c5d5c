"""One, two and four processes, Dask: the same bytes. A killed Dask worker costs nothing."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from hpcsim.errors import ExperimentError, MissingExtra
from hpcsim.experiments import executors
from hpcsim.experiments.batch import run
from hpcsim.experiments.experiment import Experiment
from hpcsim.experiments.sweep import Sweep
from tests.experiments.conftest import lasting_bytes

RunHere = Callable[..., Sweep]


@pytest.fixture
def distributed() -> Any:
    """Return Dask's scheduler package; under CI its absence is a failure."""
    if os.environ.get("CI"):
        import distributed  # the pipeline installs it

        return distributed
    return pytest.importorskip("distributed", reason="Dask is not installed: pip install 'hpcsim-des[cluster]'")


@pytest.fixture
def cluster(distributed: Any, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """Two Dask worker processes."""
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).resolve().parents[2]))
    with distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as started:
        yield started


@pytest.mark.parametrize("workers", [1, 2, 4])
def test_any_number_of_processes_gives_the_same_bytes(
    workers: int, small: Experiment, tmp_path: Path, sweep_here: RunHere
) -> None:
    whole = lasting_bytes(sweep_here(small, tmp_path / "here").folder)
    assert lasting_bytes(run(small, tmp_path / "sweep", workers=workers).folder) == whole


@pytest.mark.slow
@pytest.mark.filterwarnings("default::ResourceWarning", "default::pytest.PytestUnraisableExceptionWarning")
def test_dask_worker_killed_in_mid_sweep(
    cluster: Any, distributed: Any, slow_experiment: Path, tmp_path: Path, sweep_here: RunHere
) -> None:
    experiment = Experiment.load(slow_experiment)
    whole = lasting_bytes(sweep_here(experiment, tmp_path / "here").folder)
    killed: list[int] = []

    def kill_one(progress: Any) -> None:
        if progress.done == 4:
            worker = next(iter(cluster.workers.values()))
            killed.append(worker.pid)
            os.kill(worker.pid, signal.SIGKILL)

    with distributed.Client(cluster) as client:
        sweep = run(experiment, tmp_path / "sweep", executor=client.get_executor(), progress=kill_one)
    assert killed
    assert lasting_bytes(sweep.folder) == whole


def test_address_where_nobody_answers(distributed: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(executors, "CONNECT_S", 1)
    context = executors.dask_executor("tcp://127.0.0.1:9", workers=1)
    with pytest.raises(ExperimentError, match=r"No Dask scheduler answers at tcp://127.0.0.1:9"):
        context.__enter__()


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")  # dask's, of the cluster it refused
def test_batch_system_is_asked_for_workers(distributed: Any) -> None:
    """The job script that Slurm would be handed; no batch system is needed to write it."""
    jobqueue = pytest.importorskip("dask_jobqueue")
    options = {"cores": 4, "processes": 4, "memory": "8GB", "queue": "short", "walltime": "01:00:00"}
    with executors.queue_cluster("slurm", options) as cluster:
        assert isinstance(cluster, jobqueue.SLURMCluster)
        script = cluster.job_script()
    assert "#SBATCH -p short" in script
    assert "#SBATCH --cpus-per-task=4" in script
    assert "--nworkers 4" in script
    with pytest.raises(ExperimentError, match="dask-jobqueue refuses the options of --pbs"):
        executors.queue_cluster("pbs", {"cores": "many"}).__enter__()


def test_without_dask_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    context = executors.dask_executor("local", workers=1)
    with pytest.raises(MissingExtra, match=r"pip install 'hpcsim-des\[cluster\]'"):
        context.__enter__()
