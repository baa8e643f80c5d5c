"""Mean waits of queues with a known answer: FCFS with jobs of one node, by formula and by simulation.

30 independent replications each; the formula must lie in the 99 % interval of Student's t over
their means. A replication starts empty, so its first jobs are left out.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from hpcsim.cluster import Cluster
from hpcsim.engine.simulation import Simulation
from hpcsim.policies import FCFS
from hpcsim.workload import Workload

REPLICATIONS, JOBS, WARM_UP = 30, 2_500, 500
T_99 = 2.7564
"""0.995 quantile of Student's t with 29 degrees of freedom, as tables print it."""

MEAN_RUN_S = 1.0
Draw = Callable[[np.random.Generator, int], Any]


def exponential(rng: np.random.Generator, count: int) -> Any:
    return rng.exponential(MEAN_RUN_S, count)


def uniform(rng: np.random.Generator, count: int) -> Any:
    return rng.uniform(0, 2 * MEAN_RUN_S, count)


def erlang_c(servers: int, load: float) -> float:
    """Return the probability that an arrival waits in M/M/c; *load* is per server."""
    offered = servers * load
    last = offered**servers / math.factorial(servers) / (1 - load)
    return last / (sum(offered**k / math.factorial(k) for k in range(servers)) + last)


def mean_wait_s(rng: np.random.Generator, servers: int, load: float, draw: Draw, books: Any) -> float:
    submit_s = np.cumsum(rng.exponential(MEAN_RUN_S / (servers * load), JOBS))
    workload = Workload.of(submit_s=submit_s, run_s=draw(rng, JOBS), nodes=np.ones(JOBS, dtype=int))
    sim = Simulation(workload, Cluster.of_nodes(servers), FCFS(), books=books)
    sim.run()
    columns = sim.finish()
    waits_s = np.array(columns.attempt_start_s)[columns.attempt_of()] - submit_s
    return float(waits_s[WARM_UP:].mean())


@pytest.mark.slow
@pytest.mark.parametrize(
    ("servers", "load", "draw", "expected_s", "books"),
    [
        pytest.param(1, 0.5, exponential, 0.5 / (1 - 0.5), "counting", id="M/M/1"),
        pytest.param(4, 0.7, exponential, erlang_c(4, 0.7) / (4 * (1 - 0.7)), "counting", id="M/M/4"),
        pytest.param(4, 0.7, exponential, erlang_c(4, 0.7) / (4 * (1 - 0.7)), "nodes", id="M/M/4 named nodes"),
        # Pollaczek-Khinchine: load (1 + squared coefficient of variation) / (2 (1 - load)); uniform: 1/3
        pytest.param(1, 0.6, uniform, 0.6 * (1 + 1 / 3) / (2 * (1 - 0.6)), "counting", id="M/G/1"),
    ],
)
def test_the_formula_lies_in_the_interval(servers: int, load: float, draw: Draw, expected_s: float, books: Any) -> None:
    seeds = np.random.SeedSequence(20).spawn(REPLICATIONS)
    means_s = np.array([mean_wait_s(np.random.default_rng(seed), servers, load, draw, books) for seed in seeds])
    half_s = T_99 * means_s.std(ddof=1) / math.sqrt(REPLICATIONS)
    assert abs(means_s.mean() - expected_s) <= half_s
    assert half_s < 0.25 * expected_s, "the interval would hold anything"


def test_erlang_c_of_two_servers() -> None:
    """For c = 2 it is 2 load^2 / (1 + load)."""
    assert erlang_c(2, 0.6) == pytest.approx(2 * 0.36 / 1.6)
