"""The Lublin-Feitelson model against its published moments, and against a walk through the buckets job by job."""

from __future__ import annotations

import numpy as np
import pytest

from hpcsim.errors import WorkloadError
from hpcsim.workloads.models.lublin import _points, lublin
from hpcsim.workloads.models.lublin_parameters import (
    BATCH,
    CLASSES,
    INTERACTIVE,
    LONGEST_LOG_RUN,
    TYPELESS,
    day_cycle,
    gamma_cdf,
)

MOMENTS = {
    "batch": {
        "sizes": (13.87, 4, 128),
        "serial_and_powers": (0.2927, 0.676),
        "shares": (0.047, 0.158, 0.156, 0.154, 0.098, 0.042, 0.021),
        "runs": (9509, 820, 27_691),
        "gaps": (3497, 151),
        "node_s": 163_400,
        "load": 0.365,
        "correlation": 0.086,
    },
    "interactive": {
        "sizes": (8.05, 4, 45),
        "serial_and_powers": (0.1541, 0.691),
        "shares": (0.135, 0.248, 0.156, 0.076, 0.075, 0, 0),
        "runs": (239, 13, 180),
        "gaps": (618, 46),
        "node_s": 3024,
        "load": 0.038,
        "correlation": 0.131,
    },
    "typeless": {
        "sizes": (12.15, 4, 128),
        "serial_and_powers": (0.2444, 0.625),
        "shares": (0.115, 0.150, 0.141, 0.138, 0.033, 0.033, 0.016),
        "runs": (4365, 109, 14_652),
        "gaps": (900, 117),
        "node_s": 84_400,
        "load": 0.732,
        "correlation": 0.163,
    },
}
"""Of an independent run of the model's rules, 10^6 jobs on 128 nodes."""


@pytest.fixture(scope="module", params=MOMENTS)
def million(request):
    """A million jobs of one class, and what is known of them."""
    return lublin(jobs=1_000_000, classes=request.param, seed=1), MOMENTS[request.param]


def test_sizes(million):
    workload, known = million
    nodes = workload.nodes
    mean, median, most = known["sizes"]
    assert nodes.mean() == pytest.approx(mean, rel=0.02)
    assert (np.median(nodes), nodes.max()) == (median, most)
    serial, powers = known["serial_and_powers"]
    assert np.mean(nodes == 1) == pytest.approx(serial, abs=0.002)
    assert np.mean((nodes > 1) & (nodes & (nodes - 1) == 0)) == pytest.approx(powers, abs=0.002)
    for power, share in enumerate(known["shares"], start=1):
        assert np.mean(nodes == 2**power) == pytest.approx(share, abs=0.002)


def test_run_times(million):
    workload, known = million
    run_s = workload.run_s
    mean, median, ninety = known["runs"]
    assert run_s.mean() == pytest.approx(mean, rel=0.02)
    assert np.median(run_s) == pytest.approx(median, rel=0.02)
    assert np.percentile(run_s, 90) == pytest.approx(ninety, rel=0.02)
    assert run_s.max() <= np.exp(LONGEST_LOG_RUN)


def test_arrivals_and_load(million):
    """Mean gap, load and area are heavy-tailed: 5 %, as between two runs of a million jobs each."""
    workload, known = million
    gaps = np.diff(workload.submit_s)
    assert gaps.mean() == pytest.approx(known["gaps"][0], rel=0.05)
    assert np.median(gaps) == pytest.approx(known["gaps"][1], rel=0.02, abs=1)
    assert (workload.nodes * workload.run_s).mean() == pytest.approx(known["node_s"], rel=0.05)
    assert workload.offered_load(128) == pytest.approx(known["load"], rel=0.05)


def test_wide_jobs_run_longer(million):
    workload, known = million
    usable = workload.run_s > 0
    found = np.corrcoef(np.log(workload.nodes[usable]), np.log(workload.run_s[usable]))[0, 1]
    assert found == pytest.approx(known["correlation"], abs=0.005)


@pytest.mark.parametrize(
    ("kind", "least", "most", "some"),
    [
        (BATCH, (9, 0.2354), (26, 1.6659), (0.5462, 0.5590, 1.6405, 1.2586)),
        (INTERACTIVE, (10, 0.1187), (28, 1.8810), (0.5135, 0.2576, 1.7280, 1.4626)),
        (TYPELESS, (10, 0.1649), (27, 1.8331), (0.5078, 0.3293, 1.7332, 1.3976)),
    ],
)
def test_weights_of_the_day(kind, least, most, some):
    weights = day_cycle(kind).weights
    assert (int(weights.argmin()), round(float(weights.min()), 4)) == least
    assert (int(weights.argmax()), round(float(weights.max()), 4)) == most
    assert np.round(weights[[0, 12, 24, 36]], 4).tolist() == list(some)
    assert weights.mean() == pytest.approx(1)


def test_gamma_distribution_in_closed_form():
    """Shape 1 is exponential; shape 2: 1 - (1 + z) exp(-z)."""
    assert gamma_cdf(3, 1, 2) == pytest.approx(1 - np.exp(-1.5))
    assert gamma_cdf(50, 2, 5) == pytest.approx(1 - 11 * np.exp(-10))


def walk(gaps_points: np.ndarray, weights: np.ndarray) -> list[float]:
    """Walk through the buckets of the day one arrival after the other, as the paper's program does."""
    bucket, points, rest, clock, times = 0, 0.0, 0.0, 0.0, []
    for gap_points in gaps_points:
        points += gap_points
        gap = 0.0
        while points > weights[bucket]:
            points -= weights[bucket]
            bucket = (bucket + 1) % len(weights)
            gap += 1800
        now = points / weights[bucket]
        gap += 1800 * (now - rest)
        rest = now
        clock += gap
        times.append(clock)
    return times


def test_arrivals_equal_a_walk_through_the_buckets():
    points = _points(TYPELESS, np.random.default_rng(5), 3000)
    cycle = day_cycle(TYPELESS)
    expected = walk(np.diff(points, prepend=0.0), cycle.weights)
    assert cycle.times_s(points) == pytest.approx(expected, abs=1e-3)


def test_two_classes_arrive_on_clocks_of_their_own():
    """At the defaults batch jobs come every 3,497 s and interactive ones every 618 s: 15 % are batch."""
    workload = lublin(jobs=50_000, classes="both", seed=2)
    assert np.mean(workload.queue_id == 1) == pytest.approx(618 / (618 + 3497), rel=0.08)
    assert workload.offered_load(128) == pytest.approx(0.40, rel=0.12)
    assert (np.diff(workload.submit_s) >= 0).all()


@pytest.mark.parametrize("classes", CLASSES)
@pytest.mark.parametrize(("nodes", "load"), [(16, 0.5), (128, 0.9), (1000, 1.2), (9472, 0.7)])
def test_any_machine_and_any_load(classes, nodes, load):
    workload = lublin(jobs=5000, nodes=nodes, classes=classes, load=load, seed=3)
    assert workload.offered_load(nodes) == pytest.approx(load, rel=0.02)
    assert 1 <= workload.nodes.min() <= workload.nodes.max() <= nodes
    assert workload.nodes.max() > nodes / 5
    assert workload.machine_nodes == nodes


def test_load_does_not_move_the_hours():
    """Twice the load, and still most jobs come in the afternoon and the fewest before dawn."""
    for load in (0.4, 0.8):
        hour = lublin(jobs=40_000, classes="typeless", load=load, seed=4).submit_s // 3600 % 24
        counts = np.bincount(hour, minlength=24)
        assert 11 <= counts.argmax() <= 16
        assert 3 <= counts.argmin() <= 7


@pytest.mark.parametrize("classes", CLASSES)
def test_no_tsafrir_estimate_is_below_its_run_time(classes):
    for jobs in (1, 3, 50, 2000):
        workload = lublin(jobs=jobs, classes=classes, estimates="tsafrir", seed=jobs)
        assert (workload.limit_s >= workload.run_s).all()
        assert not workload.limits_are_run_times


def test_same_seed_same_bytes():
    one, same, other = (lublin(jobs=500, estimates="tsafrir", load=0.5, seed=seed).sha256() for seed in (7, 7, 8))
    assert one == same != other


@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        ({"jobs": 0}, "Got jobs = 0. Give a whole number of 1 or more."),
        ({"nodes": 1.5}, "Got nodes = 1.5. Give a whole number of 1 or more."),
        ({"load": 0}, "Got load = 0. Give a number above 0."),
        ({"load": float("nan")}, "Got load = nan. Give a number above 0."),
        ({"classes": "bach"}, "There is no class 'bach'. Did you mean 'batch'?"),
        ({"estimates": "perfect"}, "Known: run-times, tsafrir."),
        ({"seed": -1}, "Got seed = -1. Give a whole number of 0 or more."),
    ],
)
def test_arguments_out_of_range(wrong, sentence):
    with pytest.raises(WorkloadError) as error:
        lublin(**wrong)
    assert sentence in str(error.value)
