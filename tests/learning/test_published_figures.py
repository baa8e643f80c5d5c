"""RLScheduler's published figures, by rules that act through the environment as an agent would."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import numpy as np
import pytest

from hpcsim.cluster import Cluster
from hpcsim.workload import Workload
from hpcsim.workloads.readers.swf import read_swf
from tests.oracle.test_published_figures import JOBS, LOGS, SLOWDOWNS, STARTS

pytest.importorskip("gymnasium")

from hpcsim.policies.learning.environment import SchedulingEnv
from hpcsim.policies.learning.rule_agents import RuleAgent, play

BACKFILL = {"no backfilling": "rlscheduler-none", "backfilling": "rlscheduler"}

QUICK = [
    ("backfilling", "lublin-1", "fcfs"),
    ("backfilling", "lublin-1", "saf"),
    ("backfilling", "lublin-2", "sjf"),
    ("backfilling", "hpc2n", "sjf"),
    ("no backfilling", "lublin-1", "sjf"),
]
ALL = [
    (mode, log, rule) for mode in BACKFILL for log in LOGS for rule in ("fcfs", "sjf", "f1", "saf", "wfp3", "unicep")
]


@cache
def log_of(path: Path) -> Workload:
    return read_swf(path, profile="rlscheduler")


def check(shared: Path, mode: str, log: str, rule: str) -> None:
    name, processors = LOGS[log]
    env = SchedulingEnv(
        log_of(shared / "traces" / f"{name}.swf.gz"),
        Cluster.of_processors(processors),
        backfill=BACKFILL[mode],
        length=JOBS,
        window=32 if rule in {"fcfs", "sjf", "saf"} else JOBS,  # others' first job may be in no view
        kill_at_limit=False,
    )
    agent = RuleAgent(rule)
    slowdowns = []
    for start in STARTS:
        total, info = play(env, agent.act, options={"start": start})
        slowdowns.append(info["metrics"]["mean_bounded_slowdown"])
        # Summed rewards leave out that a slowdown is never below 1: it matters to jobs shorter than 10 s alone.
        assert -total / JOBS == pytest.approx(slowdowns[-1] - 1, abs=0.5)
    assert f"{np.mean(slowdowns):.2f}" == f"{SLOWDOWNS[mode][log][rule]:.2f}"


@pytest.mark.parametrize(("mode", "log", "rule"), QUICK)
def test_published_figure(shared: Path, mode: str, log: str, rule: str) -> None:
    check(shared, mode, log, rule)


@pytest.mark.nightly
@pytest.mark.parametrize(("mode", "log", "rule"), [case for case in ALL if case not in QUICK])
def test_every_published_figure(shared: Path, mode: str, log: str, rule: str) -> None:
    if rule not in SLOWDOWNS[mode][log]:
        pytest.skip("not printed")
    check(shared, mode, log, rule)
