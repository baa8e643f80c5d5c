"""Measures of fronts, against fronts worked out by hand, moocore and brute force."""

from __future__ import annotations

import math
from importlib.util import find_spec
from itertools import combinations

import numpy as np
import pytest

from hpcsim.errors import InvalidArgument
from hpcsim.search import is_on_front
from hpcsim.surrogates import pareto

HAND = np.array([[1.0, 4.0], [2.0, 2.0], [4.0, 1.0], [3.0, 3.0], [2.0, 2.0], [0.5, math.nan]])
"""Front (1, 4), (2, 2), (4, 1); (3, 3) is dominated, (2, 2) stands twice, the last row is unknown.

Within (5, 5): strips 1 x 1 from 1 to 2, 2 x 3 from 2 to 4, 1 x 4 from 4 to 5: 1 + 6 + 4 = 11.
"""

needs_moocore = pytest.mark.skipif(find_spec("moocore") is None, reason="pip install 'hpcsim-des[advisor]'")


def random_points(seed: int, count: int = 60, objectives: int = 2) -> np.ndarray:
    return np.random.default_rng(seed).uniform(0, 1.2, (count, objectives))


def test_front_by_hand() -> None:
    assert pareto.front_of(HAND).tolist() == [[1, 4], [2, 2], [4, 1]]
    assert pareto.front_size(HAND) == 3
    assert pareto.extent(HAND).tolist() == [3, 3]
    with pytest.raises(InvalidArgument, match="no table"):
        pareto.front_of([1, 2, 3])


def test_hypervolume_by_hand() -> None:
    assert pareto.hypervolume(HAND, [5, 5]) == 11
    assert pareto.hypervolume(HAND, [2, 5]) == 1  # (2, 2) lies on the edge and adds nothing
    assert pareto.hypervolume(HAND, [1, 1]) == 0
    assert pareto.hypervolume(np.full((2, 2), math.nan), [1, 1]) == 0


@needs_moocore
@pytest.mark.parametrize("seed", range(20))
def test_hypervolume_is_that_of_moocore(seed: int) -> None:
    from moocore import hypervolume

    points = random_points(seed)
    points[seed % 7] = points[0]
    assert pareto.hypervolume(points, [1.1, 1.1]) == pytest.approx(hypervolume(points, ref=[1.1, 1.1]), rel=1e-12)


@needs_moocore
def test_hypervolume_of_three_objectives() -> None:
    """Two unit-edged boxes (1 x 2 x 2 and 2 x 1 x 2 within (2, 2, 2)) that share 1 x 1 x 2: 4 + 4 - 2 = 6."""
    assert pareto.hypervolume([[1, 0, 0], [0, 1, 0]], [2, 2, 2]) == 6


@needs_moocore
@pytest.mark.parametrize("seed", range(5))
def test_distances_are_those_of_moocore(seed: int) -> None:
    import moocore

    ours, target = random_points(seed), random_points(seed + 100)
    front = pareto.front_of(target)
    assert pareto.igd_plus(ours, target) == pytest.approx(moocore.igd_plus(ours, ref=front))
    assert pareto.epsilon_plus(ours, target) == pytest.approx(moocore.epsilon_additive(ours, ref=front))


def test_distances_by_hand() -> None:
    """Front (0, 2), (1, 1), (2, 0); ours is (1, 1) alone, 1 too far in the first and in the second objective.

    IGD+ = (1 + 0 + 1) / 3; epsilon+ = 1. A point that dominates all of the front misses nothing.
    """
    front = [[0, 2], [1, 1], [2, 0]]
    assert pareto.igd_plus([[1, 1]], front) == pytest.approx(2 / 3)
    assert pareto.epsilon_plus([[1, 1]], front) == 1
    assert pareto.igd_plus([[-1, -1]], front) == 0
    assert pareto.epsilon_plus([[-1, -1]], front) == -1
    assert math.isnan(pareto.igd_plus(np.empty((0, 2)), front))
    assert math.isnan(pareto.epsilon_plus(np.full((1, 2), math.nan), front))


def test_spread_by_hand() -> None:
    """Ours (0, 4), (1, 3), (4, 0): gaps sqrt 2 and 3 sqrt 2, mean 2 sqrt 2, deviations sqrt 2 each.

    Ends of the front: (0, 4) is ours, (5, -1) is sqrt 2 away. Delta = (1 + 2) / (1 + 2 x 2) = 3 / 5.
    """
    ours = [[0, 4], [1, 3], [4, 0]]
    assert pareto.deb_delta(ours, [[0, 4], [5, -1]]) == pytest.approx(0.6)
    assert pareto.deb_delta([[0, 4], [2, 2], [4, 0]], [[0, 4], [4, 0]]) == 0
    mean, deviation = pareto.gap_spread(ours)
    assert (mean, deviation) == pytest.approx((2 * math.sqrt(2), math.sqrt(2)))


def test_spread_of_a_collapsed_front_says_nothing() -> None:
    assert math.isnan(pareto.deb_delta([[1, 1]], HAND))
    assert pareto.gap_spread([[1, 1], [2, 2]]) == (0, 0)
    assert pareto.front_size([[1, 1], [2, 2]]) == 1


def test_ratio_in_log_space_by_hand() -> None:
    """Front (1, 100), (10, 10), (100, 1) is (0, 1), (0.5, 0.5), (1, 0) in log space.

    Within 1.1: 0.5 x 0.1 + 0.5 x 0.6 + 0.1 x 1.1 = 0.46; the middle alone has 0.6 x 0.6 = 0.36.
    """
    exact = [[1, 100], [10, 10], [100, 1], [50, 50]]
    assert pareto.hypervolume_ratio(exact, exact) == 1
    assert pareto.hypervolume_ratio([[10, 10]], exact) == pytest.approx(0.36 / 0.46)
    assert pareto.hypervolume_ratio([[math.nan, 1]], exact) == 0


def test_ratio_does_not_depend_on_units() -> None:
    exact, found = np.exp(random_points(1)), np.exp(random_points(2))
    factor = np.array([3600.0, 1e-3])
    assert pareto.hypervolume_ratio(found * factor, exact * factor) == pytest.approx(
        pareto.hypervolume_ratio(found, exact)
    )


def test_box_of_one_point_has_a_scale() -> None:
    box = pareto.LogBox.of([[2.0, 3.0]])
    assert box.scaled([[2.0, 3.0], [2 * math.e, 3.0]]) == pytest.approx(np.array([[0, 0], [1, 0]]))
    assert pareto.hypervolume_ratio([[2, 3]], [[2, 3]]) == 1
    for nothing in (np.full((2, 2), math.nan), [[0.0, 1.0]]):
        with pytest.raises(InvalidArgument, match="no front of positive values"):
            pareto.LogBox.of(nothing)


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("most", [1, 2, 3])
def test_best_few_are_those_of_brute_force(seed: int, most: int) -> None:
    points = random_points(seed, 25)
    chosen = pareto.best_few(points, [1.1, 1.1], most)
    best = max(pareto.hypervolume(points[list(few)], [1.1, 1.1]) for few in combinations(range(25), most))
    assert len(chosen) <= most
    assert pareto.hypervolume(points[chosen], [1.1, 1.1]) == pytest.approx(best, rel=1e-12)


def test_best_few_of_few_are_all_of_the_front_once() -> None:
    assert pareto.best_few(HAND, [5, 5], 5).tolist() == [0, 1, 2]
    assert pareto.best_few(HAND, [0, 0], 5).tolist() == []


@pytest.mark.parametrize("objectives", [1, 2, 3, 4])
def test_fronts_are_those_of_brute_force(objectives: int) -> None:
    """Few levels make ties and duplicates; some values are infinite, some not known."""
    rng = np.random.default_rng(objectives)
    for _ in range(200):
        values = rng.integers(0, 4, (rng.integers(0, 12), objectives)).astype(float)
        for odd in (math.nan, math.inf, -math.inf):
            values[rng.random(values.shape) < 0.07] = odd
        known = ~np.isnan(values).any(axis=1)
        beaten = [any(np.all(o <= row) and np.any(o < row) for o in values[known]) for row in values]
        assert is_on_front(values).tolist() == (known & ~np.array(beaten, dtype=bool)).tolist()


def test_fronts_of_many_points_are_swept() -> None:
    """All pairs of 50,000 points would be 5 GB."""
    first = np.random.default_rng(0).permutation(50_000).astype(float)
    values = np.stack([first, -first], axis=1)
    assert is_on_front(values).all()
    assert is_on_front(np.vstack([values, values + 1])).sum() == 50_000


@pytest.mark.parametrize("reference", [[5], [5, 5, 5], [5, math.nan], [5, math.inf], 5])
def test_a_reference_that_is_none_is_refused(reference: object) -> None:
    with pytest.raises(InvalidArgument, match="is none of 2 objectives"):
        pareto.hypervolume(HAND, reference)  # type: ignore[arg-type] - on purpose


def test_objectives_that_do_not_fit_are_refused() -> None:
    three = np.ones((2, 3))
    for measure in (pareto.igd_plus, pareto.epsilon_plus, pareto.deb_delta):
        with pytest.raises(InvalidArgument, match="3 objectives are held against a front of 2"):
            measure(three, HAND)
    with pytest.raises(InvalidArgument, match="There are 3 objectives"):
        pareto.deb_delta(three, three)
    with pytest.raises(InvalidArgument, match="There are 3 objectives"):
        pareto.best_few(three, [9, 9, 9], 1)
    with pytest.raises(InvalidArgument, match="most points to choose are 0"):
        pareto.best_few(HAND, [9, 9], 0)
    with pytest.raises(InvalidArgument, match="no number"):
        pareto.hypervolume([["a", "b"]], [1, 1])
    with pytest.raises(InvalidArgument, match="no front of positive values"):
        pareto.hypervolume_ratio(HAND, [[1, math.inf]])
