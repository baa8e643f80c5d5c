"""Hand cells to an executor until none is left, whatever becomes of its workers."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, CancelledError, Future, wait
from pathlib import Path

from hpcsim.errors import ExperimentError, HpcsimError
from hpcsim.experiments.cell_run import Report, run_cell, write_failure
from hpcsim.experiments.cells import Cell
from hpcsim.experiments.executors import Given, Processes

MOST_DEATHS = 3
"""Deaths of workers in a row, with no cell finished between them, after which it is no cell's fault."""


class Drain:
    """The cells that wait, that are in flight, and that are under suspicion.

    When a worker dies, its pool cannot say which cell it ran. So all that were in flight are
    suspects, and are run one at a time: one that is alone when a worker dies again is the culprit.
    """

    def __init__(self, cells: Iterable[Cell], folder: Path, pool: Processes | Given, in_flight: int) -> None:
        self._waiting = deque(cells)
        self._suspects = deque[Cell]()
        self._pending: dict[Future[Report], Cell] = {}
        self._folder = str(folder)
        self._pool = pool
        self._in_flight = in_flight
        self._is_alone = False
        self._deaths = 0

    def reports(self) -> Iterator[Report]:
        """Yield a report a cell, in the order in which they end.

        Raises:
            ExperimentError: workers die whatever they run, or an executor that is not ours broke.
            DiskFull: there is no space for results.
        """
        while self._waiting or self._suspects or self._pending:
            self._fill()
            ended, _ = wait(self._pending, return_when=FIRST_COMPLETED)
            yield from self._settle(ended)

    def _fill(self) -> None:
        """Hand out as much as may be in flight: one suspect, or else what waits."""
        self._is_alone = bool(self._suspects)
        if self._is_alone:
            self._hand_out(self._suspects)
        while not self._is_alone and self._waiting and len(self._pending) < self._in_flight:
            if not self._hand_out(self._waiting):
                return

    def _hand_out(self, queue: deque[Cell]) -> bool:
        """Submit the first of *queue*; False where the pool broke, which the pending cells then say, too."""
        try:
            future = self._pool.submit(run_cell, queue[0], self._folder)
        except BrokenExecutor:
            if self._pending:
                return False
            self._count_death()
            future = self._pool.submit(run_cell, queue[0], self._folder)
        self._pending[future] = queue.popleft()
        return True

    def _settle(self, ended: Iterable[Future[Report]]) -> Iterator[Report]:
        """Yield the reports of the futures that have ended; mend the pool if it broke."""
        lost = []
        for future in ended:
            cell = self._pending.pop(future)
            try:
                report = future.result()
            except BrokenExecutor:
                lost.append(cell)
                continue
            except CancelledError as error:
                raise ExperimentError(
                    "The executor gave up its cells: has its scheduler gone?", "Repeat the command with --resume."
                ) from error
            except HpcsimError:  # the disk is full
                raise
            except Exception as error:  # noqa: BLE001 - an executor's own, such as Dask's KilledWorker
                report = self._failed(cell, error)
            self._deaths = 0
            yield report
        if lost:
            yield from self._mend([*lost, *self._pending.values()])

    def _mend(self, lost: list[Cell]) -> Iterator[Report]:
        """Get another pool; put what was in flight under suspicion, or find the culprit."""
        self._pending.clear()
        self._count_death()
        if self._is_alone:
            (culprit,) = lost
            reason = "The worker process that ran it was killed, twice: has the machine run out of memory?"
            yield self._failed(culprit, ExperimentError(reason))
        else:
            self._suspects.extend(lost)

    def _count_death(self) -> None:
        if isinstance(self._pool, Given):
            raise ExperimentError(
                "A worker died, and the executor broke with it.", "Make another one and run again with resume=True."
            )
        self._pool.renew()
        self._deaths += 1
        if self._deaths >= MOST_DEATHS:
            raise workers_die()

    def _failed(self, cell: Cell, error: Exception) -> Report:
        write_failure(cell, error, self._folder)
        return Report(cell.key, str(error))


def workers_die() -> ExperimentError:
    """Return the error for workers that end whatever they are given."""
    return ExperimentError(
        "The worker processes die before they finish anything.",
        "Is there memory enough? A script that starts a sweep needs `if __name__ == '__main__':` around it.",
    )
