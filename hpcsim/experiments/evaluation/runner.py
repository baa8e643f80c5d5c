"""Every contender on every sequence, on this process or several; what came of each is one row."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from collections.abc import Sequence as Many
from contextlib import nullcontext
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from hpcsim.cluster import Cluster
from hpcsim.engine.simulation import Simulation
from hpcsim.errors import HpcsimError
from hpcsim.experiments.evaluation.contenders import Contender, Mode
from hpcsim.experiments.evaluation.decision_timer import DecisionTimes, decisions_timed
from hpcsim.experiments.evaluation.sequences import Sequence
from hpcsim.experiments.evaluation.suites import Protocol, find_suite
from hpcsim.experiments.executors import Processes
from hpcsim.policy import Policy

AT_ONCE = 15
"""Sequences that one task simulates."""

SHORT_S = 10
"""The tau of bounded slowdown."""


class Score(NamedTuple):
    """What came of one sequence; times in seconds.

    Attributes:
        utilisation: node-seconds over those there were, from the first submit to the last end; by the
            published protocol to the last start.
        cpu_s: of the whole simulation.
        decision_us: CPU time of the policy alone, over its passes, divided by the jobs, in microseconds.
        decision_p99_us: 99th percentile of its CPU time from being asked to an answer, in microseconds.
    """

    mean_bounded_slowdown: float
    mean_wait_s: float
    max_wait_s: float
    utilisation: float
    cpu_s: float
    decision_us: float = float("nan")
    decision_p99_us: float = float("nan")


Progress = Callable[[int, int], None]
"""Called with how many sequences are done, and how many there are."""


def evaluate(
    contenders: Many[Contender],
    suite: str,
    mode: Mode,
    *,
    data: str | None = None,
    sequences: int | None = None,
    workers: int = 1,
    progress: Progress | None = None,
) -> dict[str, list[Score]]:
    """Return label -> a score a sequence, in the order of the suite.

    Args:
        contenders: who is tested, each on the same sequences.
        suite: name of one of `hpcsim.experiments.evaluation.suites.SUITES`.
        mode: whether jobs are backfilled beside a head.
        data: folder with the suite's logs, looked in first.
        sequences: only so many, evenly spread; default all.
        workers: processes.
        progress: see `Progress`.

    Raises:
        UnknownName: there is no such suite.
        WorkloadError: a log is missing.
        HpcsimError: a contender cannot be made, or misbehaves.
    """
    for contender in contenders:
        contender.policy(find_suite(suite).protocol, mode)  # a typo should not wait for its turn
    places = chosen(len(sequences_of(suite, data)), sequences)
    tasks = [(each, suite, mode, data, part) for each in contenders for part in _parts(places)]
    scores: dict[str, list[Score]] = {contender.label: [] for contender in contenders}
    done = 0
    with nullcontext() if workers == 1 else Processes(workers) as pool:
        for (contender, *_), found in zip(tasks, _run(pool, tasks), strict=True):
            scores[contender.label] += found
            done += len(found)
            if progress is not None:
                progress(done, len(places) * len(contenders))
    return scores


def _run(pool: Processes | None, tasks: Iterable[tuple[Any, ...]]) -> Iterator[list[Score]]:
    if pool is None:
        yield from (score_part(*task) for task in tasks)
        return
    for answer in [pool.submit(score_part, *task) for task in tasks]:
        yield answer.result()


def chosen(there: int, wanted: int | None) -> list[int]:
    """Return which of *there* sequences are taken: all, or *wanted*, evenly spread."""
    if wanted is None or wanted >= there:
        return list(range(there))
    return [int(place) for place in np.linspace(0, there - 1, wanted).round()]


def _parts(places: list[int]) -> list[tuple[int, ...]]:
    return [tuple(places[first : first + AT_ONCE]) for first in range(0, len(places), AT_ONCE)]


@cache
def sequences_of(suite: str, data: str | None) -> list[Sequence]:
    """Return the sequences of a suite; made once a process."""
    return find_suite(suite).sequences(data)


def score_part(contender: Contender, suite: str, mode: Mode, data: str | None, places: tuple[int, ...]) -> list[Score]:
    """Return the scores of some sequences of a suite."""
    protocol = find_suite(suite).protocol
    there = sequences_of(suite, data)
    policy = contender.policy(protocol, mode)  # each run resets it
    return [score(policy, there[place], protocol) for place in places]


def score(policy: Policy, sequence: Sequence, protocol: Protocol) -> Score:
    """Simulate one sequence on an empty machine; jobs run as long as they did, whatever their limit."""
    began_s = time.process_time()
    simulation = Simulation(sequence.workload, Cluster.of_processors(sequence.nodes), policy, kill_at_limit=False)
    with decisions_timed(policy) as times:
        simulation.run()
    columns = simulation.finish()
    attempts = np.asarray(columns.attempt_of())
    if (attempts < 0).any():
        raise HpcsimError(
            f"{type(policy).__name__} started {(attempts >= 0).sum():,} of {len(attempts):,} jobs of {sequence.label}, "
            "and means over some of the jobs compare with no other's.",
            "Test policies that reject none.",
        )
    start_s = np.asarray(columns.attempt_start_s, dtype=float)[attempts]
    return _score(sequence, start_s, protocol, times, time.process_time() - began_s)


def _score(
    sequence: Sequence, start_s: np.ndarray[Any, Any], protocol: Protocol, times: DecisionTimes, cpu_s: float
) -> Score:
    jobs = sequence.workload
    run_s = jobs.columns["run_s"].astype(float)
    wait_s = start_s - jobs.columns["submit_s"]
    slowdown = np.maximum(1.0, (wait_s + run_s) / np.maximum(run_s, SHORT_S))
    last_s = start_s.max() if protocol == "published" else (start_s + run_s).max()
    there = (last_s - jobs.columns["submit_s"].min()) * sequence.nodes
    used = float((run_s * jobs.columns["nodes"]).sum())
    return Score(
        mean_bounded_slowdown=float(slowdown.mean()),
        mean_wait_s=float(wait_s.mean()),
        max_wait_s=float(wait_s.max()),
        utilisation=used / there if there > 0 else float("nan"),
        cpu_s=cpu_s,
        decision_us=times.mean_us(len(jobs)),
        decision_p99_us=times.p99_us(),
    )
