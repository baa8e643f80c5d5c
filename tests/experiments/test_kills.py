"""SIGKILL of workers and of the whole sweep at random moments: nothing that had finished is lost or changed."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from hpcsim.experiments.experiment import Experiment
from hpcsim.experiments.sweep import Sweep
from tests.experiments.conftest import lasting_bytes

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="worker processes are found in /proc"),
]

KILLS = 10
PATIENCE_S = 120


@pytest.fixture
def start(root: Path) -> Iterator[Callable[..., subprocess.Popen[str]]]:
    """Start `hpcsim sweep` as a process of its own; whatever is left of it is killed at the end."""
    started: list[subprocess.Popen[str]] = []

    def begin(*arguments: object) -> subprocess.Popen[str]:
        command = [sys.executable, "-m", "hpcsim.cli", "sweep", *map(str, arguments), "--workers", "2"]
        environment = os.environ | {"PYTHONPATH": str(root)}
        process = subprocess.Popen(
            command,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )
        started.append(process)
        return process

    yield begin
    for process in started:
        left = workers_of(process.pid)
        for pid in [*left, *([process.pid] if process.poll() is None else [])]:
            kill(pid)
        process.communicate()


def workers_of(parent: int) -> list[int]:
    """Return the pool's processes of a sweep: they are children of the server that it forks them from."""
    servers = children(parent)
    return [pid for server in servers for pid in children(server)]


def children(parent: int) -> list[int]:
    """Return the living children of *parent* that a server forked, or that are one."""
    found = []
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit():
            try:
                fields = (folder / "stat").read_text().rpartition(")")[2].split()
                command = (folder / "cmdline").read_bytes()
            except OSError:
                continue
            if fields[1] == str(parent) and fields[0] != "Z" and b"forkserver" in command:
                found.append(int(folder.name))
    return found


def kill(pid: int) -> None:
    try:
        os.kill(pid, signal.SIGKILL)
    except ProcessLookupError:
        return


def finished(folder: Path) -> int:
    """Return how many cells have a result, whole or not."""
    cells = folder / "cells"
    return sum(not entry.name.startswith(".") for entry in cells.iterdir()) if cells.is_dir() else 0


def wait_until(holds: Callable[[], object], process: subprocess.Popen[str]) -> None:
    end_s = time.monotonic() + PATIENCE_S
    while not holds() and process.poll() is None:
        assert time.monotonic() < end_s
        time.sleep(0.01)


@pytest.fixture
def undisturbed(slow_experiment: Path, tmp_path: Path, sweep_here: Callable[..., Sweep]) -> dict[str, bytes]:
    """Return what a sweep leaves that nobody disturbed, run in this process."""
    return lasting_bytes(sweep_here(Experiment.load(slow_experiment), tmp_path / "undisturbed").folder)


def test_parent_killed_ten_times(
    slow_experiment: Path, tmp_path: Path, start: Callable[..., subprocess.Popen[str]], undisturbed: dict[str, bytes]
) -> None:
    folder, chance = tmp_path / "sweep", random.Random(1)
    orphans: list[int] = []
    for count in range(KILLS):
        process = start(slow_experiment, "--out", folder, "--resume")
        wanted = min(finished(folder) + chance.randint(1, 3), 23)
        wait_until(lambda wanted=wanted: finished(folder) >= wanted, process)  # type: ignore[misc]
        time.sleep(chance.uniform(0, 0.2))
        assert process.poll() is None or count > 5, process.communicate()[0]
        orphans += workers_of(process.pid)
        before = {path.name for path in (folder / "cells").iterdir() if not path.name.startswith(".")}
        kill(process.pid)
        process.wait()
        sound = {key for key, _ in Sweep.load(folder).cells if Sweep.load(folder).status(key)[0] == "finished"}
        assert before <= sound, "a cell that had finished was lost, or was never whole"
    last = start(slow_experiment, "--out", folder, "--resume")
    said, _ = last.communicate(timeout=PATIENCE_S)
    assert last.returncode == 0, said
    assert lasting_bytes(folder) == undisturbed
    assert orphans
    end_s = time.monotonic() + PATIENCE_S
    while any(Path(f"/proc/{pid}").exists() for pid in orphans) and time.monotonic() < end_s:
        time.sleep(0.05)
    assert not [pid for pid in orphans if Path(f"/proc/{pid}").exists()], "workers outlived their sweep"


def test_workers_killed_ten_times(
    slow_experiment: Path, tmp_path: Path, start: Callable[..., subprocess.Popen[str]], undisturbed: dict[str, bytes]
) -> None:
    folder, chance = tmp_path / "sweep", random.Random(2)
    process = start(slow_experiment, "--out", folder)
    killed = 0
    while killed < KILLS and process.poll() is None:
        seen = finished(folder)
        wait_until(lambda: workers_of(process.pid) and finished(folder) > seen, process)  # noqa: B023 - called at once
        time.sleep(chance.uniform(0, 0.15))
        for pid in workers_of(process.pid)[:1]:
            kill(pid)
            killed += 1
    said, _ = process.communicate(timeout=PATIENCE_S)
    assert killed == KILLS, said
    if process.returncode:  # a cell whose worker was killed twice has failed, as it should
        assert "failed" in said
        last = start(slow_experiment, "--out", folder, "--resume")
        said, _ = last.communicate(timeout=PATIENCE_S)
        assert last.returncode == 0, said
    assert lasting_bytes(folder) == undisturbed


def test_cell_that_kills_its_worker_fails_alone(tmp_path: Path, start: Callable[..., subprocess.Popen[str]]) -> None:
    """It dies in workers only, for the sweep's own process makes each policy once beforehand."""
    (tmp_path / "dies.py").write_text(
        "import multiprocessing, os, signal\nfrom hpcsim.policies.backfill import EASY\n\nclass Dies(EASY):\n"
        "    def reset(self, cluster, rng):\n"
        "        if multiprocessing.parent_process(): os.kill(os.getpid(), signal.SIGKILL)\n"
        "        super().reset(cluster, rng)\n"
    )
    experiment = tmp_path / "e.toml"
    experiment.write_text(
        '[[policies]]\nname = "easy"\n[[policies]]\nname = "dies.py:Dies"\n[[policies]]\nname = "fcfs"\n'
        '[[workloads]]\nmodel = "poisson"\nparameters = { jobs = 30, nodes = 16 }\n'
    )
    process = start(experiment, "--out", tmp_path / "sweep")
    said, _ = process.communicate(timeout=PATIENCE_S)
    assert process.returncode == 2
    assert "1 of 3 cells failed" in said
    table = Sweep.load(tmp_path / "sweep").table()
    assert table["status"].tolist() == ["finished", "failed", "finished"]
    assert "killed, twice" in table["error"][1]
