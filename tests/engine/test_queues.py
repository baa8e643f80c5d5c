"""The waiting jobs, in arrival order and in key order, against plain lists."""

from __future__ import annotations

from typing import Any
from unittest.mock import patch

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hpcsim.engine.queue import JobQueue, QueueKeeper
from hpcsim.job import Job
from hpcsim.waiting import SortedQueue, WaitingJobs


def job_of(row: int) -> Job:
    """Return a job whose nodes and limit follow from its row; keys (limits) tie often."""
    return Job(row, f"j{row}", 0, 1 + row % 7, row * 37 % 11)


class InArrivalOrder:
    """The engine's queue."""

    def __init__(self) -> None:
        self.queue = JobQueue()
        self._keeper = QueueKeeper(self.queue)

    def add(self, job: Job) -> None:
        """A job comes."""
        self._keeper.append(job)

    def remove(self, job: Job) -> None:
        """A job goes."""
        self._keeper.remove(job.row)

    def expected(self, model: list[Job]) -> list[Job]:
        """Return the model's jobs as they should stand."""
        return model


class InKeyOrder:
    """A policy's sorted queue, by limit."""

    def __init__(self) -> None:
        self.queue = SortedQueue(lambda job, system: job.limit_s)

    def add(self, job: Job) -> None:
        """A job comes."""
        self.queue.on_submit(job, None)  # type: ignore[arg-type]

    def remove(self, job: Job) -> None:
        """A job goes."""
        self.queue.on_leave(job, None)  # type: ignore[arg-type]

    def expected(self, model: list[Job]) -> list[Job]:
        """Return the model's jobs as they should stand: ties as they arrived."""
        return sorted(model, key=lambda job: job.limit_s)


def assert_same(queue: WaitingJobs, expected: list[Job]) -> None:
    """Compare everything that a policy may ask."""
    assert list(queue) == expected
    assert len(queue) == len(expected)
    assert queue[:3] == expected[:3]
    if expected:
        assert (queue[0], queue[-1]) == (expected[0], expected[-1])
    for free, latest_end_s, extra in ((0, 99, 9), (3, 99, 0), (7, 15, 0), (7, 15, 2), (9, 0, 4), (9, 20.5, 9)):
        room = (free, 10, latest_end_s, extra)
        assert queue.choose(*room) == chosen_one_by_one(expected, *room)
        with patch("hpcsim.engine.queue.FEW_SLOTS", 0), patch("hpcsim.waiting.FEW_SLOTS", 0):
            assert queue.choose(*room) == chosen_one_by_one(expected, *room)


def chosen_one_by_one(
    waiting: list[Job], free: int, now_s: float, latest_end_s: float, extra: int
) -> tuple[list[Job], int]:
    """Return what starts beside a reservation, by its definition."""
    chosen: list[Job] = []
    for job in waiting:
        fits = sum(other.nodes for other in [*chosen, job]) <= free
        ends_in_time = now_s + job.limit_s <= latest_end_s
        if fits and (ends_in_time or job.nodes <= extra):
            chosen.append(job)
            extra -= 0 if ends_in_time else job.nodes
    return chosen, extra


@pytest.mark.parametrize("kind", [InArrivalOrder, InKeyOrder])
@given(steps=st.lists(st.one_of(st.just(-1), st.integers(0, 200)), max_size=150), burst=st.integers(0, 140))
def test_waiting_jobs_are_a_list(kind: Any, steps: list[int], burst: int) -> None:
    """Come (-1) and go (from any place), beyond the first columns' length and through closed holes."""
    waiting, model = kind(), []
    for row, step in enumerate([-1] * burst + steps):
        if step < 0 or not model:
            model.append(job_of(row))
            waiting.add(model[-1])
        else:
            waiting.remove(model.pop(step % len(model)))
    assert_same(waiting.queue, waiting.expected(model))
    for job in model[:]:
        assert job in waiting.queue
        waiting.remove(job)
        assert job not in waiting.queue
    assert not waiting.queue


@given(steps=st.lists(st.one_of(st.just(-1), st.integers(0, 200)), max_size=60))
def test_columns_are_kept_up_to_date_while_the_queue_is_deep(steps: list[int]) -> None:
    """With every queue counted as deep, and a choice after every step, so that columns grow and shrink."""
    waiting, model, room = InKeyOrder(), [], (7, 10, 15, 2)
    with patch("hpcsim.waiting.FEW_SLOTS", 0):
        for row, step in enumerate([-1, -1, *steps]):
            if step < 0 or not model:
                model.append(job_of(row))
                waiting.add(model[-1])
            else:
                waiting.remove(model.pop(step % len(model)))
            assert waiting.queue.choose(*room) == chosen_one_by_one(waiting.expected(model), *room)


@pytest.mark.parametrize("kind", [InArrivalOrder, InKeyOrder])
@given(leave=st.lists(st.booleans(), min_size=1, max_size=100))
def test_iterating_survives_that_the_current_job_leaves(kind: Any, leave: list[bool]) -> None:
    """Every job is seen once, in order, while some of them go."""
    waiting, model = kind(), [job_of(row) for row in range(len(leave))]
    for job in model:
        waiting.add(job)
    seen = []
    for job in waiting.queue:
        seen.append(job)
        if leave[job.row]:
            waiting.remove(job)
    assert seen == waiting.expected(model)
    assert_same(waiting.queue, waiting.expected([job for job in model if not leave[job.row]]))


def test_positions_in_key_order() -> None:
    """The place of each job, counted from 0."""
    waiting = InKeyOrder()
    for row in range(30):
        waiting.add(job_of(row))
    assert [waiting.queue.position(job) for job in waiting.queue] == list(range(30))


def test_a_changed_job_moves() -> None:
    """Advice lowers the limit of the last: it becomes the first."""
    waiting = InKeyOrder()
    jobs = [Job(0, "a", 0, 1, 5), Job(1, "b", 0, 1, 9)]
    for job in jobs:
        waiting.add(job)
    advised = jobs[1].advised(nodes=2, limit_s=1)
    waiting.queue.on_change(jobs[1], advised, None)  # type: ignore[arg-type]
    assert_same(waiting.queue, [advised, jobs[0]])
    assert advised.requested == jobs[1]


def test_the_queue_a_policy_sees_is_printed_short() -> None:
    """For a debugger's sake."""
    waiting = InArrivalOrder()
    for row in range(9):
        waiting.add(job_of(row))
    assert "9 jobs" in repr(waiting.queue)
    assert "j0" in repr(waiting.queue)
    assert "j8" not in repr(waiting.queue)
