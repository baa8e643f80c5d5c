"""Progress of long work: a bar with rate and time left, on a terminal only."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from time import perf_counter

from hpcsim.commands.output import say
from hpcsim.job import Job
from hpcsim.recorder import Recorder
from hpcsim.results.quantities import count
from hpcsim.system import System

INTERVAL_S = 0.2


class StartCounter(Recorder):
    """Counts the jobs that have started, and calls *show* with the count now and then.

    *show* is called at most every `INTERVAL_S` seconds of wall-clock time. Starts are counted and
    not ends, because the engine has to make a `JobOutcome` for whoever listens to ends.
    """

    def __init__(self, show: Callable[[int], None]) -> None:
        self.started = 0
        self._show = show
        self._next_s = perf_counter() + INTERVAL_S

    def on_start(self, job: Job, node_ids: str, system: System) -> None:
        """Count one."""
        self.started += 1
        now_s = perf_counter()
        if now_s >= self._next_s:
            self._next_s = now_s + INTERVAL_S
            self._show(self.started)


def watch(label: str, jobs: int) -> AbstractContextManager[Sequence[Recorder]]:
    """Return a context that shows the progress of one run of *jobs* jobs, and gives its recorders.

    Without a terminal on standard error it shows nothing and costs nothing.
    """
    return _bar(label, jobs) if sys.stderr.isatty() else nullcontext(())


def busy(label: str) -> AbstractContextManager[object]:
    """Return a context that shows *label* with a spinner, on a terminal only."""
    if not sys.stderr.isatty():
        return nullcontext()
    from rich.console import Console

    return Console(stderr=True, highlight=False, markup=False).status(label)


@contextmanager
def _bar(label: str, jobs: int) -> Iterator[Sequence[Recorder]]:
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    started_s = perf_counter()
    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(bar_width=24),
        TextColumn("{task.percentage:3.0f} %  {task.fields[rate]:,.0f} jobs/s  left"),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=Console(stderr=True), auto_refresh=False, transient=True) as progress:
        task = progress.add_task(label, total=jobs, rate=0.0)

        def show(started: int) -> None:
            rate = started / (perf_counter() - started_s)
            progress.update(task, completed=started, rate=rate, refresh=True)

        counter = StartCounter(show)
        yield (counter,)
    took_s = perf_counter() - started_s
    say(f"{label}: {count(counter.started, 'job')} in {took_s:.1f} s ({counter.started / took_s:,.0f} jobs/s)")
