"""`hpcsim run --watch`: the machine while it is simulated, in the terminal."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import pairwise
from time import perf_counter
from typing import TYPE_CHECKING, Any

from hpcsim.commands.output import say
from hpcsim.commands.progress import INTERVAL_S
from hpcsim.job import Job
from hpcsim.node_ids import parse_intervals
from hpcsim.recorder import Recorder
from hpcsim.results.quantities import count, duration, number, percentage
from hpcsim.system import System

if TYPE_CHECKING:
    from rich.console import Console, RenderableType

CELLS = 256
"""Cells of the node map at most; each stands for an equal part of the nodes."""

WIDTH = 64
"""Cells in a line of the node map."""

SHADES = " ░▒▓█"
"""A cell by the share of its nodes that are held: none to all."""

HEADS = 5
"""Waiting jobs that are shown by name."""


class LiveView(Recorder):
    """Hands *show* a picture of the machine now and then, every *interval_s* seconds of wall-clock time at most."""

    def __init__(self, label: str, jobs: int, show: Any, interval_s: float = INTERVAL_S) -> None:
        self._label, self._jobs, self._show, self._interval_s = label, jobs, show, interval_s
        self._began_s = self._shown_s = perf_counter()
        self._started = 0
        self._waited_s: float = 0
        self._used_node_s: float = 0
        self._first_s: float | None = None
        self._last_s: float = 0
        self._used = 0

    def on_start(self, job: Job, node_ids: str, system: System) -> None:
        """Count a start and its wait."""
        self._started += 1
        self._waited_s += system.now_s - job.submit_s

    def on_pass(self, system: System) -> None:
        """Sum up the time that has gone by, and show the machine if it is time to."""
        now_s = system.now_s
        if self._first_s is None:
            self._first_s = self._last_s = now_s
        self._used_node_s += self._used * (now_s - self._last_s)
        self._last_s, self._used = now_s, system.cluster.nodes - system.free
        clock_s = perf_counter()
        if clock_s - self._shown_s >= self._interval_s:
            self._shown_s = clock_s
            self._show(self.picture(system))

    def picture(self, system: System) -> RenderableType:
        """Return clock, queue, node map, figures so far and time left, for rich to draw."""
        from rich.panel import Panel
        from rich.text import Text

        lines = [*self._figures(system), "", *node_map(system), "", *_queue(system)]
        return Panel(Text("\n".join(lines)), title=Text(self._label), title_align="left", width=WIDTH + 6)

    def _figures(self, system: System) -> list[str]:
        gone_s = self._last_s - (self._first_s or 0)
        nodes, took_s = system.cluster.nodes, perf_counter() - self._began_s
        left_s = took_s * (self._jobs - self._started) / self._started if self._started else None
        used = self._used_node_s / (nodes * gone_s) if gone_s else None
        wait_s = self._waited_s / self._started if self._started else None
        return [
            f"clock {duration(gone_s)} since the first submit",
            f"{number(self._started)} of {count(self._jobs, 'job')} started",
            f"{number(len(system.running))} running, {number(len(system.queue))} waiting",
            f"mean wait so far {duration(wait_s)}, utilisation so far {percentage(used)}",
            f"time left about {duration(None if left_s is None else round(left_s))}",
        ]


def node_map(system: System) -> list[str]:
    """Return the nodes as lines of cells, each shaded by the share of its nodes that are held."""
    nodes = system.cluster.nodes
    cells = min(nodes, CELLS)
    held = [0] * cells
    edges = [nodes * cell // cells for cell in range(cells + 1)]
    for running in system.running:
        for low, high in parse_intervals(running.node_ids):
            cell = low * cells // nodes
            while cell < cells and edges[cell] <= high:
                held[cell] += max(0, min(high + 1, edges[cell + 1]) - max(low, edges[cell]))
                cell += 1
    sizes = [high - low for low, high in pairwise(edges)]
    shades = [SHADES[-(-(len(SHADES) - 1) * taken // size)] for taken, size in zip(held, sizes, strict=True)]
    head = f"nodes: {number(nodes - system.free)} of {number(nodes)} held"
    return [head, *("".join(shades[at : at + WIDTH]) for at in range(0, cells, WIDTH))]


def _queue(system: System) -> list[str]:
    """Return the first waiting jobs and who follows them."""
    lines = ["queue:" if len(system.queue) else "queue: empty"]
    for job in system.queue[:HEADS]:
        waited = duration(system.now_s - job.submit_s)
        lines.append(f"  {job.job_id}: {count(job.nodes, 'node')}, limit {duration(job.limit_s)}, waits {waited}")
    more = len(system.queue) - HEADS
    return [*lines, f"  and {count(more, 'other')}"] if more > 0 else lines


@contextmanager
def live(label: str, jobs: int, console: Console | None = None) -> Iterator[Sequence[Recorder]]:
    """Show the machine while a run of *jobs* jobs goes on; gives the run's recorders.

    Without a terminal on standard error there is nothing to draw on, and a message says so.
    """
    from rich.console import Console as RichConsole
    from rich.live import Live

    console = console or RichConsole(stderr=True, highlight=False, markup=False)
    if not console.is_terminal:
        say("--watch draws on a terminal, and standard error is none: running without it.")
        yield ()
        return
    with Live(console=console, auto_refresh=False, transient=True) as shown:
        yield (LiveView(label, jobs, lambda picture: shown.update(picture, refresh=True)),)
