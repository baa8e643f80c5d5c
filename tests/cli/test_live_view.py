"""`hpcsim run --watch`: what stands on the screen while a run goes on."""

from __future__ import annotations

import io
from collections.abc import Callable
from pathlib import Path

from rich.console import Console
from typer.testing import Result

from hpcsim.commands.live_view import LiveView, live, node_map
from hpcsim.policies import FCFS
from hpcsim.results.run import simulate
from tests.schedules import jobs, simulation


def test_picture_shows_clock_queue_nodes_and_figures() -> None:
    """At 10 s a holds 3 of 4 nodes, b and c wait; a has waited 0 s; 30 of 40 node-seconds are used."""
    workload = jobs("a 0 100 100 3\nb 5 50 60 4\nc 10 20 20 1")
    pictures: list[str] = []

    def show(picture: object) -> None:
        console = Console(file=io.StringIO(), width=80)
        console.print(picture)
        pictures.append(console.file.getvalue())  # type: ignore[attr-defined]

    view = LiveView("fcfs [x]", 3, show, interval_s=0)
    sim = simulation(workload, 4, FCFS(), recorders=[view])
    sim.run(until=11)
    last = pictures[-1]
    for words in ("fcfs [x]", "clock 10 s", "1 of 3 jobs started", "1 running, 2 waiting", "mean wait so far 0 s",
                  "utilisation so far 75.0 %", "nodes: 3 of 4 held", "███ ", "b: 4 nodes, limit 1 min, waits 5 s",
                  "c: 1 node, limit 20 s, waits 0 s", "time left about"):  # fmt: skip
        assert words in last


def test_large_machines_are_summed_up_in_cells() -> None:
    """1,024 nodes in 256 cells of 4: nodes 0-4 fill the first and a quarter of the second."""
    sim = simulation(jobs("a 0 10 10 5"), 1024, FCFS())
    sim.run(until=1)
    head, first, *others = node_map(sim.system)
    assert head == "nodes: 5 of 1,024 held"
    assert first == "█░" + " " * 62
    assert len(others) == 3


def test_run_is_the_same_when_watched() -> None:
    workload = jobs("a 0 100 100 3\nb 5 50 60 4\nc 10 20 20 1")
    screen = io.StringIO()
    with live("fcfs", 3, Console(file=screen, force_terminal=True)) as recorders:
        watched = simulation(workload, 4, FCFS(), recorders=recorders)
        watched.run()
    plain = simulate(workload, watched.cluster, FCFS())
    assert list(watched.finish().attempt_start_s) == plain.attempts["start_s"].tolist()


def test_without_a_terminal_it_says_so_and_runs(cli: Callable[..., Result], trace: Path) -> None:
    done = cli("run", trace, "--watch", "--json")
    assert done.exit_code == 0
    assert "--watch draws on a terminal" in done.stderr
    assert '"jobs_started": 4' in done.stdout
