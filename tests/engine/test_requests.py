"""Requests and watts that no ledger could book: refused before the run, by job, column and remedy."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from hpcsim.cluster import Cluster, NodeGroup, Partition
from hpcsim.errors import ClusterError, InvalidArgument, Unsupported, WorkloadError
from hpcsim.power import CapStep, NodePower, Tariff
from hpcsim.workload import Workload
from tests.schedules import run, simulation

MACHINE = Cluster(groups=(NodeGroup(nodes=2, cores=4, power=NodePower(idle_w=100, busy_w=300)),))


def one_job(**columns: Any) -> Workload:
    """Return one job of one node for 10 s."""
    return Workload.of(submit_s=[0], run_s=[10], nodes=[1], **{name: _column(value) for name, value in columns.items()})


def _column(value: Any) -> np.ndarray[Any, Any]:
    if isinstance(value, float | int | bool):
        return np.array([value])
    column = np.empty(1, dtype=object)
    column[0] = value
    return column


@pytest.mark.parametrize(
    ("columns", "words"),
    [
        ({"power_w": -5.0}, "Job 1 has power_w = -5.0. Give watts from 0"),
        ({"power_w": math.inf}, "power_w = inf"),
        ({"power_w": "x"}, "'power_w' holds no numbers"),
        ({"mean_power_w": math.inf}, "mean_power_w = inf"),
        ({"max_power_w": -7.0}, "max_power_w = -7.0"),
        ({"power_series_w": (100, math.nan)}, r"power_series_w = \(100, nan\). Give each job a tuple of watts"),
        ({"power_series_w": (math.inf,)}, r"power_series_w = \(inf,\)"),
        ({"power_series_w": (-5,)}, r"power_series_w = \(-5,\)"),
        ({"power_series_w": ("a",)}, r"power_series_w = \('a',\)"),
        ({"power_series_w": "text"}, "power_series_w = 'text'"),
        ({"power_series_w": (1, 2), "power_step_s": 0.0}, "power_step_s = 0.0. Give seconds above 0"),
        ({"power_series_w": (1, 2), "power_step_s": math.nan}, "power_step_s = nan"),
        (
            {"exclusive": False, "cores_per_node": 0},
            "cores_per_node = 0. A job that may share nodes needs cores above 0",
        ),
        ({"exclusive": False, "cores_per_node": -1}, "cores_per_node = -1"),
        ({"exclusive": False, "gpus_per_node": -1}, "gpus_per_node = -1"),
        ({"exclusive": False, "memory_bytes_per_node": -5}, "memory_bytes_per_node = -5"),
        ({"exclusive": math.nan}, "'exclusive' holds no booleans"),
        ({"partitions": "gpu"}, "partitions = 'gpu'. Give each job a tuple"),
        ({"features": "nvlink"}, "features = 'nvlink'. Give each job a frozenset"),
        ({"features": ["nvlink"]}, r"features = \['nvlink'\]"),
        ({"allowed_nodes": 5}, "allowed_nodes = 5. Give each job a tuple"),
    ],
)
def test_a_wrong_request_is_refused_by_name(columns: dict[str, Any], words: str) -> None:
    """The job, the column, the value, and what to give."""
    with pytest.raises(WorkloadError, match=words):
        simulation(one_job(**columns), MACHINE, "easy")


@pytest.mark.parametrize(
    "columns",
    [
        {"power_w": -1.0},
        {"power_w": math.nan},
        {"mean_power_w": math.nan},
        {"power_series_w": None},
        {"power_series_w": (), "power_step_s": 0.0},
        {"partitions": ()},
        {"exclusive": 1},
        {"cores_per_node": 0},
    ],
)
def test_what_is_not_known_is_no_fault(columns: dict[str, Any]) -> None:
    """-1, NaN, nothing: a whole node's busy watts, for 10 s."""
    log = run(one_job(**columns), MACHINE, "easy").energy
    assert log is not None
    assert list(log.job_w) == [300]


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: NodePower(busy_w=math.inf), "busy_w = inf. Give a number, 0 or more."),
        (lambda: NodePower(boot_s=math.inf), "boot_s = inf"),
        (lambda: CapStep(from_s="a", power_cap_w=1), "holds from 'a' s"),  # type: ignore[arg-type]
        (lambda: Tariff(price_per_kwh="abc"), "price_per_kwh = 'abc'. Give a tuple"),  # type: ignore[arg-type]
        (lambda: Tariff(price_per_kwh=5), "price_per_kwh = 5"),  # type: ignore[arg-type]
        (lambda: Tariff(start_s=math.nan), "start_s = nan"),
        (lambda: Cluster(groups=(5,)), "groups = 5. Give NodeGroup values"),  # type: ignore[arg-type]
        (lambda: Cluster(groups=MACHINE.groups, tariff=5), "tariff = 5. Give Tariff"),  # type: ignore[arg-type]
        (lambda: NodeGroup(nodes=1, power="x"), "power = 'x'. Give NodePower"),  # type: ignore[arg-type]
        (lambda: NodeGroup(nodes=1, features="gpu"), "features = 'gpu'. Give str values"),  # type: ignore[arg-type]
        (lambda: Partition(name="p", groups="a"), "groups = 'a'. Give str values"),  # type: ignore[arg-type]
    ],
)
def test_a_wrong_machine_is_refused_by_name(make: Any, words: str) -> None:
    """What has which field, and what to give; a node may have no time-out."""
    with pytest.raises(ClusterError, match=words):
        make()
    assert NodePower(idle_timeout_s=math.inf).idle_timeout_s == math.inf


@pytest.mark.parametrize("option", ["power_trace", "books"])
def test_a_wrong_choice_is_refused_by_name(option: str) -> None:
    """With the choices there are."""
    with pytest.raises(InvalidArgument, match=f"`{option}` is 'foo'. Give one of "):
        simulation(one_job(), MACHINE, "easy", **{option: "foo"})


def test_a_machine_of_too_many_nodes_to_follow_is_refused() -> None:
    """One by one, as power and sharing need; counted nodes may be many more."""
    many = 50_000_000
    powered = Cluster(groups=(NodeGroup(nodes=many, power=NodePower(idle_w=1, busy_w=2)),))
    with pytest.raises(Unsupported, match="has 50000000 nodes, too many to follow the power"):
        simulation(one_job(), powered, "easy")
    with pytest.raises(Unsupported, match="leave out power and sharing"):
        simulation(one_job(exclusive=False), Cluster.of_nodes(many), "easy")
    run(one_job(), Cluster.of_nodes(many), "easy")
