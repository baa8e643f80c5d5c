"""When an observation is out of distribution, and what is made of values a little beyond."""

from __future__ import annotations

import numpy as np
import pytest

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
