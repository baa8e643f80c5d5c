"""Arguments of a wrong type: one sentence of hpcsim's own, where the call is."""

from __future__ import annotations

from typing import Any

import pytest

from hpcsim.cluster import Cluster
from hpcsim.engine.simulation import Simulation
from hpcsim.errors import HpcsimError, InvalidArgument, Unsupported, WorkloadError
from hpcsim.job import Job
from hpcsim.policies import FCFS
from hpcsim.recorder import Recorder
from hpcsim.results.run import simulate
from tests.schedules import jobs, simulation

GOOD: dict[str, Any] = {"workload": jobs("a 0 1 1 1"), "cluster": Cluster.of_nodes(2), "policy": "fcfs"}


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"workload": "one.swf"}, ["workload is 'one.swf'", "hpcsim.read(path)"]),
        ({"cluster": 2}, ["cluster is 2", "Cluster.of_nodes(128)"]),
        ({"cluster": Cluster}, ["cluster is the class Cluster"]),
        ({"policy": FCFS}, ["policy is the class FCFS", "Call it: FCFS(...)"]),
        ({"policy": 5}, ["policy is 5", "instance of a Policy"]),
        ({"seed": -1}, ["seed is -1", "0 or more"]),
        ({"seed": 1.5}, ["seed is 1.5", "whole number"]),
        ({"seed": "a"}, ["seed is 'a'"]),
        ({"until": "x"}, ["`until` is 'x'", "seconds"]),
        ({"grace_s": "x"}, ["grace period is 'x'", "seconds"]),
        ({"recorders": 5}, ["recorders are 5", "list of Recorders"]),
        ({"recorders": Recorder()}, ["recorders are", "list of Recorders"]),
        ({"recorders": [5]}, ["recorder is 5", "instances of Recorder"]),
        ({"recorders": [Recorder]}, ["recorder is the class Recorder", "Call it"]),
        ({"placement": "lowest"}, ["placement is 'lowest'", "Placement"]),
        ({"advisor": 5}, ["advisor is 5", "Advisor"]),
    ],
)
def test_simulate(change: dict[str, Any], words: list[str]) -> None:
    """The argument by name, what it is, what to give."""
    with pytest.raises(HpcsimError) as caught:
        simulate(**GOOD | change)
    assert all(word in str(caught.value) for word in words), str(caught.value)
    assert caught.value.remedy
    assert "\n" not in str(caught.value)


def test_numbers_of_any_library_are_numbers() -> None:
    """NumPy's own types serve as seed, grace and end."""
    import numpy as np

    result = simulate(**GOOD, seed=np.int64(3), until=np.float64(9), grace_s=np.int32(1))
    assert result.jobs["start_s"].tolist() == [0]


@pytest.fixture
def stepped() -> Simulation:
    """Return a simulation that a caller drives."""
    return simulation(GOOD["workload"], 2, None)


def test_submit(stepped: Simulation) -> None:
    """A job and seconds; the queue stays as it was."""
    with pytest.raises(InvalidArgument, match=r"run time is '5'\. Give seconds"):
        stepped.submit(Job(0, 9, 0, 1), "5")  # type: ignore[arg-type]
    with pytest.raises(InvalidArgument, match=r"job is 5\. Give a Job"):
        stepped.submit(5, 5)  # type: ignore[arg-type]
    assert not stepped.queue


def test_submit_what_is_not_served(stepped: Simulation) -> None:
    """A wish to share, where no job of the workload shares."""
    with pytest.raises(Unsupported, match="share nodes"):
        stepped.submit(Job(0, 9, 0, 1, exclusive=False), 5)


def test_submit_more_nodes_than_tables_can_count(stepped: Simulation) -> None:
    """As a workload refuses it."""
    with pytest.raises(WorkloadError, match="at least 1 whole node and at most 2147483647"):
        stepped.submit(Job(0, 9, 0, 2**31), 5)


def test_cancel(stepped: Simulation) -> None:
    """Nothing but a job can be cancelled."""
    with pytest.raises(InvalidArgument, match=r"job is None\. Give a Job"):
        stepped.cancel(None)  # type: ignore[arg-type]
