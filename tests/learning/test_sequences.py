"""Sequences by seed: windows, loads, the harder half, groups."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from hpcsim.cluster import Cluster
from hpcsim.errors import InvalidArgument
from hpcsim.policies import SAF
from hpcsim.policies.backfill import Backfill
from hpcsim.policies.learning.reference import RuleCost
from hpcsim.policies.learning.sequences import HarderPart, JobSequence, Windows, draw_groups
from hpcsim.results.run import simulate
from tests.learning.test_observation import some_jobs

MACHINE = Cluster.of_nodes(16)


def rng(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


def test_a_window_holds_consecutive_jobs_in_order_of_arrival() -> None:
    workload = some_jobs()
    shuffled = workload.select(rng().permutation(80), "shuffled")
    cut = Windows(shuffled, 10).at(25).workload
    assert sorted(cut.submit_s.tolist()) == workload.submit_s[25:35].tolist() == cut.submit_s.tolist()


def test_every_start_of_every_workload_is_drawn() -> None:
    sampler, generator = Windows([some_jobs(12), some_jobs(11, seed=1)], 10), rng()
    keys = {sampler.draw(generator).key[:3] for _ in range(200)}
    assert keys == {(0, 0, 10), (0, 1, 10), (0, 2, 10), (1, 0, 10), (1, 1, 10)}


def test_gaps_are_stretched_and_nothing_else() -> None:
    sampler, generator = Windows(some_jobs(), 20, stretch=(0.7, 1.1)), rng()
    factors = []
    for _ in range(50):
        drawn = sampler.draw(generator)
        plain = sampler.at(drawn.start).workload
        factors.append(drawn.stretch)
        gaps, were = np.diff(drawn.workload.submit_s), np.diff(plain.submit_s)
        assert np.abs(gaps - were * drawn.stretch).max() <= 1  # whole seconds stay whole
        assert drawn.workload.submit_s.dtype == plain.submit_s.dtype
        assert drawn.workload.submit_s[0] == plain.submit_s[0]
        for name in ("run_s", "limit_s", "nodes", "user_id"):
            assert np.array_equal(drawn.workload.columns[name], plain.columns[name])
    assert min(factors) < 0.75
    assert max(factors) > 1.05
    assert all(0.7 <= factor <= 1.1 for factor in factors)


def test_equal_generators_draw_equal_sequences() -> None:
    sampler = Windows(some_jobs(), 20, stretch=(0.7, 1.1))
    first = [sampler.draw(generator).key for generator in [rng(5)] for _ in range(4)]
    assert [sampler.draw(generator).key for generator in [rng(5)] for _ in range(4)] == first
    assert len(set(first)) == 4


def test_the_harder_half_is_what_costs_most() -> None:
    source = Windows(some_jobs(), 20)
    cost = RuleCost(MACHINE, "wait", rules=(SAF,))
    hard = HarderPart(source, cost, pool=20, seed=3)
    pool = [
        source.draw(generator) for generator in [np.random.default_rng(np.random.SeedSequence(3))] for _ in range(20)
    ]
    costs = sorted((cost(one) for one in pool), reverse=True)
    assert sorted((cost(one) for one in hard.kept), reverse=True) == costs[:10]
    assert costs[9] > costs[10]
    generator = rng()
    assert {hard.draw(generator).key for _ in range(200)} == {one.key for one in hard.kept}
    assert hard.at(4).key == source.at(4).key
    assert [one.key for one in HarderPart(source, cost, pool=20, seed=3).kept] == [one.key for one in hard.kept]


def test_groups_repeat_each_sequence() -> None:
    drawn = draw_groups(Windows(some_jobs(), 20), rng(), groups=3, rollouts=4)
    keys = [sequence.key for sequence in drawn]
    assert len(keys) == 12
    assert len(set(keys)) == 3
    assert all(len({*keys[at : at + 4]}) == 1 for at in (0, 4, 8))


def test_the_cost_of_a_rule_is_the_reports() -> None:
    from hpcsim.policies.learning.heads import OrderedHeads

    sequence = Windows(some_jobs(), 40).at(20)
    report = simulate(sequence.workload, MACHINE, OrderedHeads(order=SAF())).summary()
    mean_wait_s = report["mean_wait_s"]
    assert mean_wait_s is not None
    assert RuleCost(MACHINE, "wait", rules=(SAF,))(sequence) == pytest.approx(mean_wait_s * 40)
    anew_s = simulate(sequence.workload, MACHINE, Backfill(order=SAF())).summary()["mean_wait_s"]
    assert anew_s is not None
    assert anew_s != mean_wait_s
    assert RuleCost(MACHINE, "wait", keeps_heads=False, rules=(SAF,))(sequence) == pytest.approx(anew_s * 40)


@pytest.mark.parametrize(
    ("make", "fault"),
    [
        (lambda: Windows([], 5), "There are no jobs"),
        (lambda: Windows(some_jobs(), 5, stretch=(0, 1)), "The stretch is"),
        (lambda: Windows(some_jobs(), 5, stretch=(1.2, 1)), "The stretch is"),
        (lambda: HarderPart(Windows(some_jobs(), 5), lambda _: 0.0, pool=0), "The pool is 0"),
    ],
)
def test_samplers_that_make_no_sense(make: Any, fault: str) -> None:
    with pytest.raises(InvalidArgument, match=fault):
        make()


def test_a_sequence_says_what_it_is() -> None:
    sequence = Windows(some_jobs(), None).at(0)
    assert isinstance(sequence, JobSequence)
    assert sequence.key == (0, 0, 80, 1.0)
