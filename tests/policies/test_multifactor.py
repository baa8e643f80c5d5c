"""Slurm's multifactor priority by hand."""

from __future__ import annotations

import math
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from hpcsim.cluster import Cluster
from hpcsim.errors import HpcsimError
from hpcsim.job import Job
from hpcsim.policies import Multifactor
from hpcsim.policies.decayed_usage import DecayedUsage
from hpcsim.workload import Workload
from tests.schedules import jobs, starts

QUIET: dict[str, float] = {"weight_age": 0, "weight_fair_share": 0}


def priority(job: Job, now_s: float, **options: Any) -> float:
    order = Multifactor(**(QUIET | options))
    order.reset(Cluster.of_nodes(100), np.random.default_rng(0))
    return order.priority(job, SimpleNamespace(now_s=now_s))  # type: ignore[arg-type]


JOB = Job(row=0, job_id=1, submit_s=1000, nodes=25, limit_s=60, partitions=("long",), qos="high")


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({"weight_age": 1000, "max_age_s": 4000}, 250),  # 1,000 s of 4,000
        ({"weight_age": 1000, "max_age_s": 500}, 1000),  # no more than 1
        ({"weight_job_size": 400}, 100),  # 25 of 100 nodes
        ({"weight_job_size": 400, "favor_small": True}, 300),
        ({"weight_partition": 90, "partition_priorities": {"long": 1, "short": 3}}, 30),
        ({"weight_qos": 90, "qos_priorities": {"high": 10, "low": 1}}, 90),
        ({"weight_qos": 90, "qos_priorities": {"low": 1}}, 0),
        ({"weight_job_size": 400, "weight_age": 1000, "max_age_s": 4000}, 350),
    ],
)
def test_factors(options: dict[str, Any], expected: float) -> None:
    assert priority(JOB, 2000, **options) == expected


def test_usage_halves_every_half_life() -> None:
    """4 nodes for ever tend to 4 h / ln 2; 8 nodes for 10 s long ago are 80 node-seconds halved twice."""
    usage = DecayedUsage(half_life_s=1000)
    usage.change("a", 4, 0)
    assert usage.node_s("a", 1e6) == pytest.approx(4 * 1000 / math.log(2))
    steady = DecayedUsage(half_life_s=0)
    steady.change("b", 8, 0)
    steady.change("b", -8, 10)
    assert (steady.node_s("b", 1e9), steady.node_s("nobody", 1e9)) == (80, 0)
    usage.change("b", 8, 0)
    usage.change("b", -8, 10)
    assert usage.node_s("b", 2010) == pytest.approx(usage.node_s("b", 10) / 4)
    assert usage.node_s("b", 10) == pytest.approx(
        sum(8 * 0.5 ** ((10 - t) / 1000) for t in np.arange(0.005, 10, 0.01)) / 100
    )


def test_fair_share_lets_who_used_less_come_first() -> None:
    """User 1 has used all until 10, so 2's job, submitted last, comes before 1's."""
    table = jobs("z 0 10 10 4\n a 1 5 5 4\n b 2 5 5 4")
    workload = Workload(table.columns | {"user_id": np.array([1, 1, 2])})
    assert starts(workload, 4, Multifactor(weight_age=0)) == {"z": 0, "b": 10, "a": 15}
    assert starts(workload, 4, Multifactor(weight_age=0, weight_fair_share=0)) == {"z": 0, "a": 10, "b": 15}


def test_fair_share_is_a_half_where_usage_is_just_the_share() -> None:
    """Two users of equal shares, of whom one has used everything: 2^-2 and 2^0; with 3 of 4 shares 2^(-4/3)."""
    for shares, expected in (({}, 0.25), ({"1": 3}, 2 ** (-4 / 3))):
        order = Multifactor(shares=shares)
        order.reset(Cluster.of_nodes(4), np.random.default_rng(0))
        system: Any = SimpleNamespace(now_s=0)
        for user in (1, 2):
            order.on_submit(Job(row=user, job_id=user, submit_s=0, nodes=1, user_id=user), system)
        assert order.fair_share(1, 0) == 1
        order.on_start(Job(row=1, job_id=1, submit_s=0, nodes=1, user_id=1), "0", system)
        assert order.fair_share(1, 100) == pytest.approx(expected)
        assert order.fair_share(2, 100) == 1


@pytest.mark.parametrize(
    "options",
    [
        {"weight_age": -1},
        {"weight_age": math.inf},
        {"half_life_s": -1},
        {"max_age_s": 0},
        {"shares": 3},
        {"qos_priorities": {"a": -1}},
    ],
)
def test_impossible_values_are_refused_by_name(options: dict[str, Any]) -> None:
    with pytest.raises(HpcsimError, match=next(iter(options))):
        Multifactor(**options)


@pytest.mark.parametrize(
    ("settings", "name"),
    [({"shares": {"a": "x"}}, "shares"), ({"weight_age": "abc"}, "weight_age"), ({"half_life_s": None}, "half_life_s")],
)
def test_what_is_no_number_is_named(settings: dict[str, Any], name: str) -> None:
    with pytest.raises(HpcsimError, match=rf"^{name} is .*Give"):
        Multifactor(**settings)


def test_of_several_partitions_the_highest_counts() -> None:
    job = replace(JOB, partitions=("none", "long", "short"))
    assert priority(job, 2000, weight_partition=90, partition_priorities={"long": 1, "short": 3}) == 90
    assert priority(replace(JOB, partitions=()), 2000, weight_partition=90, partition_priorities={"long": 1}) == 0
