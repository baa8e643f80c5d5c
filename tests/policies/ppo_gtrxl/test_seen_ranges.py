<<<<<<< HEAD
"""When an observation is out of distribution, and what is made of values a little beyond."""
=======
"""What counts as far from what training saw, at the edge: half a range beyond it, in more than half of the jobs."""
>>>>>>> main

from __future__ import annotations

import numpy as np
import pytest

<<<<<<< HEAD
from hpcsim.policies.ppo_gtrxl.seen_ranges import SeenRanges

SEEN = SeenRanges(
    jobs=(np.zeros(2, np.float32), np.array([1, 0.5], np.float32)),
    nodes=(np.zeros(1, np.float32), np.ones(1, np.float32)),
    globals=(np.zeros(2, np.float32), np.array([0.4, 0.0], np.float32)),
)
"""The second feature of jobs moved between 0 and 0.5, of the machine the first between 0 and 0.4, the second never."""


def jobs(*second: float) -> np.ndarray:
    """Return a window of four, in which as many jobs stand as there are numbers."""
    window = np.zeros((4, 2), np.float32)
    window[: len(second), 0] = 1
    window[: len(second), 1] = second
    return window


@pytest.mark.parametrize(
    ("second", "is_foreign"),
    [
        ((0.76, 0.76, 0.1, 0.1), False),  # half of them, no more
        ((0.76, 0.76, 0.76, 0.1), True),
        ((0.74, 0.74, 0.74, 0.74), False),  # beyond the range, by less than half of it
        ((-0.26, -0.26), True),
        ((0.76,), True),
        ((), False),
    ],
)
def test_most_jobs_have_to_be_far_out(second: tuple[float, ...], is_foreign: bool) -> None:
    assert SEEN.is_foreign(jobs(*second), np.zeros(2, np.float32)) is is_foreign


@pytest.mark.parametrize(("figures", "is_foreign"), [((0.59, 0), False), ((0.61, 0), True), ((0.2, 9), False)])
def test_one_figure_of_the_machine_is_enough(figures: tuple[float, float], is_foreign: bool) -> None:
    """One that never moved in training says nothing."""
    assert SEEN.is_foreign(jobs(0.1), np.array(figures, np.float32)) is is_foreign


def test_values_are_moved_into_what_was_seen() -> None:
    seen, nodes, figures = SEEN.within(jobs(0.7, -0.2), np.array([[2.0]], np.float32), np.array([0.5, 3], np.float32))
    assert seen.tolist() == [[1, 0.5], [1, 0], [0, 0], [0, 0]]
    assert nodes.tolist() == [[1]]
    assert figures.tolist() == [np.float32(0.4), 0]
=======
from hpcsim.policies.ppo_gtrxl.seen_ranges import SeenRanges, ranges_of


def seen() -> SeenRanges:
    """Return ranges of two features of each kind: validity, which never moved, and one from 0.2 to 0.6."""
    sides = np.array([1, 0.2], dtype=np.float32), np.array([1, 0.6], dtype=np.float32)
    return SeenRanges(sides, sides, sides)


@pytest.mark.parametrize(("value", "is_far"), [(0.79, False), (0.81, True), (0.01, False), (-0.01, True)])
def test_the_machine_is_foreign_half_a_range_beyond(value: float, is_far: bool) -> None:
    jobs = np.array([[1, 0.4]], dtype=np.float32)
    assert seen().is_foreign(jobs, np.array([1, value], dtype=np.float32)) is is_far


def test_a_feature_that_never_moved_makes_nothing_foreign() -> None:
    jobs = np.array([[1, 0.4]], dtype=np.float32)
    assert not seen().is_foreign(jobs, np.array([-5, 0.4], dtype=np.float32))


@pytest.mark.parametrize(("far", "near", "is_far"), [(2, 2, False), (3, 2, True), (1, 0, True)])
def test_jobs_are_foreign_if_most_are(far: int, near: int, is_far: bool) -> None:
    """Empty slots, whose features are 0, count neither way."""
    rows = [[1, 0.9]] * far + [[1, 0.7]] * near + [[0, 0]] * 4
    assert seen().is_foreign(np.array(rows, dtype=np.float32), np.array([1, 0.4], dtype=np.float32)) is is_far


def test_ranges_are_those_of_what_is_there() -> None:
    jobs = np.array([[[1, 0.3], [0, 0], [1, 0.5]]], dtype=np.float32)
    found = ranges_of(jobs, jobs, np.array([[0.1], [0.9]], dtype=np.float32))
    assert found.jobs[0].tolist() == pytest.approx([1, 0.3])
    assert found.jobs[1].tolist() == pytest.approx([1, 0.5])
    assert [side.item() for side in found.globals] == pytest.approx([0.1, 0.9])
>>>>>>> main
