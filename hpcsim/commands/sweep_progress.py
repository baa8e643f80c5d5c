"""Progress of a sweep: a bar on a terminal, a line now and then in a log file; both with the time left."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from time import perf_counter

from hpcsim.commands.output import say
from hpcsim.experiments.progress import Progress
from hpcsim.results.quantities import count, duration

LINE_EVERY_S = 30.0
"""Seconds between two lines where there is no terminal."""

Tell = Callable[[Progress], None]


def follow() -> AbstractContextManager[Tell]:
    """Return a context that gives a function to tell of progress."""
    return _bar() if sys.stderr.isatty() else nullcontext(_lines())


def left(progress: Progress, passed_s: float) -> str:
    """Return the time left, by the jobs done so far; empty before the first cell has ended."""
    if not progress.jobs_done:
        return ""
    return duration(round(passed_s * (progress.jobs - progress.jobs_done) / progress.jobs_done))


def sentence(progress: Progress, passed_s: float) -> str:
    """Return how far it is: ``120 of 1,000 cells, 2 failed, 3 min left``."""
    parts = [f"{progress.found + progress.done:,} of {count(progress.cells, 'cell')}"]
    if progress.failed:
        parts.append(f"{progress.failed:,} failed")
    time_left = left(progress, passed_s)
    if time_left and progress.done < progress.cells - progress.found:
        parts.append(f"{time_left} left")
    return ", ".join(parts)


def _lines() -> Tell:
    """Return a function that writes a line at the end, and now and then before."""
    began_s = perf_counter()
    next_s = [began_s + LINE_EVERY_S]

    def tell(progress: Progress) -> None:
        now_s = perf_counter()
        if not progress.done and progress.found:
            say(f"{count(progress.found, 'cell')} had finished before.")
        is_over = progress.found + progress.done == progress.cells
        if progress.done and (is_over or now_s >= next_s[0]):
            next_s[0] = now_s + LINE_EVERY_S
            say(sentence(progress, now_s - began_s))

    return tell


@contextmanager
def _bar() -> Iterator[Tell]:
    from rich.console import Console
    from rich.progress import BarColumn, TextColumn
    from rich.progress import Progress as Bar

    began_s = perf_counter()
    columns = (BarColumn(bar_width=24), TextColumn("{task.description}", markup=False))
    last = ""
    with Bar(*columns, console=Console(stderr=True), auto_refresh=False, transient=True) as bar:
        task = bar.add_task("reading workloads", total=None)

        def tell(progress: Progress) -> None:
            nonlocal last
            last = sentence(progress, perf_counter() - began_s)
            finished = progress.found + progress.done
            bar.update(task, total=progress.cells, completed=finished, description=last, refresh=True)

        yield tell
    if last:
        say(f"{last}, in {duration(round(perf_counter() - began_s, 1))}")
