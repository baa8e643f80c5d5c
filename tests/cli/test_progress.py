"""Progress: only for people, seldom enough to cost nothing."""

from __future__ import annotations

import sys

import pytest

from hpcsim import Cluster, Workload, make_policy, simulate
from hpcsim.commands import progress

WORKLOAD = Workload.of(submit_s=range(50), run_s=[5] * 50, nodes=[1] * 49 + [9])


def test_counts_every_start_and_shows_seldom(monkeypatch: pytest.MonkeyPatch) -> None:
    """49 of 50 jobs fit. A clock that moves 0.01 s at each look: two updates, at 0.2 s and 0.4 s."""
    ticks = iter(range(1_000))
    monkeypatch.setattr(progress, "perf_counter", lambda: next(ticks) / 100)
    shown: list[int] = []
    counter = progress.StartCounter(shown.append)
    simulate(WORKLOAD, Cluster.of_nodes(4), make_policy("fcfs"), recorders=(counter,))
    assert counter.started == 49
    assert shown == [20, 40]


def test_nothing_without_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys.stderr, "isatty", lambda: False)
    with progress.watch("easy", 10) as recorders:
        assert recorders == ()


def test_bar_on_a_terminal_ends_with_count_and_rate(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    monkeypatch.setattr(progress, "INTERVAL_S", 0)
    with progress.watch("easy", 50) as recorders:
        simulate(WORKLOAD, Cluster.of_nodes(4), make_policy("easy"), recorders=recorders)
    captured = capsys.readouterr()
    assert captured.out == ""
    assert "easy: 49 jobs in " in captured.err.splitlines()[-1]
