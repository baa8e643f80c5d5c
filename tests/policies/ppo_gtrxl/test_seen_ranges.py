"""What counts as far from what training saw, at the edge: half a range beyond it, in more than half of the jobs."""

from __future__ import annotations

import numpy as np
import pytest

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


def test_values_are_moved_into_what_was_seen() -> None:
    """Empty slots stay empty."""
    some = np.array([[1, 0.7], [1, 0.1], [0, 0]], dtype=np.float32)
    jobs, nodes, figures = seen().within(some, some[:1], np.array([3, 0.4], dtype=np.float32))
    assert jobs == pytest.approx(np.array([[1, 0.6], [1, 0.2], [0, 0]]))
    assert nodes == pytest.approx(np.array([[1, 0.6]]))
    assert figures == pytest.approx(np.array([1, 0.4]))
