"""Small logs with a known truth, split by time."""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

import pandas as pd
import pytest

from hpcsim import registry
from hpcsim.surrogates.features import outcomes_table
from hpcsim.workload import Workload


class Log(NamedTuple):
    """A workload, its finished jobs, those that had ended at 70 % of it, those submitted in its last 15 %."""

    workload: Workload
    outcomes: pd.DataFrame
    train: pd.DataFrame
    test: pd.DataFrame


@cache
def make_log(family: str, seed: int = 0, jobs: int = 4000) -> Log:
    workload = registry.make("models", "synth-pm100", jobs=jobs, nodes=128, family=family, seed=seed)
    outcomes = outcomes_table(workload)
    submit_s = workload.columns["submit_s"]
    train = outcomes[outcomes["end_s"] < submit_s[int(0.7 * jobs)]]
    test = outcomes[outcomes["submit_s"] >= submit_s[int(0.85 * jobs)]]
    return Log(workload, outcomes, train, test)


@pytest.fixture(scope="session")
def log() -> Log:
    """Applications that follow Amdahl's law with communication."""
    return make_log("amdahl")
