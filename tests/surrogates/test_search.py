"""Search engines: each against exact enumeration, on the edges of domains, and as guests in a process."""

from __future__ import annotations

import math
import subprocess
import sys
from importlib.util import find_spec
from typing import Any

import numpy as np
import pytest

from hpcsim import registry
from hpcsim.errors import InvalidArgument
from hpcsim.search import Search
from hpcsim.speedup import Amdahl, PowerCurve
from hpcsim.surrogates.pareto import front_of, hypervolume_ratio
from hpcsim.surrogates.search.domain import Axis, Domain, grid
from hpcsim.surrogates.search.enumeration import Exact, LogGrid
from hpcsim.surrogates.search.front import Found, find_front
from hpcsim.surrogates.search.plain import RandomSearch

needs_botorch = pytest.mark.skipif(find_spec("botorch") is None, reason="pip install 'hpcsim-des[mobo]'")

MODEL_FREE = ("loggrid", "random", "random-shared")
MODELS = ("mobo-fixed", "mobo-noisy", "sobo-runtime", "sobo-power")
STOPPING = (*("exact", "loggrid", "random"), *(pytest.param(name, marks=needs_botorch) for name in MODELS))
EVERY = (*STOPPING, "random-shared", pytest.param("mobo", marks=needs_botorch))

LAW, CURVE = Amdahl(0.02, 0.002), PowerCurve(400, 1000, 0.5)


def toy(settings: np.ndarray) -> np.ndarray:
    """Return run time in s and power in W of a job that scales by Amdahl's law with communication."""
    nodes = settings[:, 0]
    return np.stack([10_000 / LAW.speed_up(nodes), CURVE.job_w(nodes, LAW)], axis=1)


def search(name: str, nodes: int, budget: int | None, **options: Any) -> Found:
    domain = Domain.of_nodes(np.arange(1, nodes + 1))
    objectives = options.pop("objectives", toy)
    return find_front(registry.find("search", name), domain, objectives, budget=budget, **options)


def share(found: Found, nodes: int) -> float:
    return hypervolume_ratio(found.values, toy(np.arange(1, nodes + 1.0)[:, None]))


def test_exact_is_brute_force() -> None:
    found = search("exact", 64, None)
    every = toy(np.arange(1, 65.0)[:, None])
    assert found.evaluations == 64
    assert not found.repeats
    assert np.array_equal(found.values[found.on_front], front_of(every))
    for objective in (0, 1):
        assert every[:, objective].min() in found.values[found.on_front, objective]


def test_exact_evaluates_in_one_call() -> None:
    calls = []

    def counted(settings: np.ndarray) -> np.ndarray:
        calls.append(len(settings))
        return toy(settings)

    search("exact", 64, None, objectives=counted, batch=64)
    assert calls == [64]


def test_exact_refuses_what_it_cannot_finish() -> None:
    with pytest.raises(InvalidArgument, match="64 settings and a budget of 10"):
        search("exact", 64, 10)
    with pytest.raises(InvalidArgument, match="continuous"):
        Exact(levels=[0], budget=10)


@pytest.mark.parametrize("name", STOPPING)
def test_engines_stop_when_the_domain_is_exhausted(name: str) -> None:
    found = search(name, 10, 10 if name == "exact" else 40)
    assert sorted(found.settings[:, 0]) == list(range(1, 11))
    assert np.array_equal(found.values, toy(found.settings))
    assert found.repeats == 0
    assert found.is_exhausted is (name != "exact")
    assert share(found, 10) == 1


@needs_botorch
def test_published_loop_repeats_itself_and_says_so() -> None:
    found = search("mobo", 4, 10)
    assert found.evaluations == 10
    assert found.repeats >= 6
    assert len(found.on_front) <= 4
    assert share(found, 4) <= 1


@pytest.mark.parametrize("name", EVERY)
def test_one_node_cluster(name: str) -> None:
    found = search(name, 1, 1)
    assert found.settings.tolist() == [[1]]
    assert found.on_front.tolist() == [0]


@pytest.mark.parametrize("name", EVERY)
def test_constant_surrogate(name: str) -> None:
    found = search(name, 10, 10, objectives=lambda settings: np.full((len(settings), 2), 7.0))
    assert found.evaluations <= 10
    assert front_of(found.values).tolist() == [[7, 7]]


@pytest.mark.parametrize("name", EVERY)
def test_predictions_that_are_no_numbers(name: str) -> None:
    def broken(settings: np.ndarray) -> np.ndarray:
        values = toy(settings)
        values[settings[:, 0] % 2 == 0] = math.nan
        return values

    found = search(name, 10, 10, objectives=broken)
    assert (found.settings[found.on_front, 0] % 2 == 1).all()
    nothing = search(name, 10, 10, objectives=lambda settings: np.full((len(settings), 2), math.nan))
    assert len(nothing.on_front) == 0
    assert nothing.evaluations <= 10


def test_log_grid_is_even_in_logarithms_with_both_ends() -> None:
    assert sorted(search("loggrid", 128, 8).settings[:, 0]) == [1, 2, 4, 8, 16, 32, 64, 128]
    assert sorted(search("loggrid", 100, 3).settings[:, 0]) == [1, 10, 100]


@needs_botorch
def test_fixed_reference_finds_what_the_inferred_one_misses() -> None:
    """From 8 counts without the ends, 5 more of 128: the loop as published stays behind."""
    start = np.array([20, 40, 50, 60, 70, 80, 90, 100])
    fixed, published = (search(name, 128, 13, start=start) for name in ("mobo-fixed", "mobo"))
    assert np.array_equal(fixed.values[:8], published.values[:8])
    assert share(fixed, 128) > 0.93
    assert share(published, 128) < share(fixed, 128) - 0.1


@needs_botorch
def test_one_objective_is_found_by_its_engine() -> None:
    """The fastest count of 128 is 113: run time is nearly flat there, so within 1 % will do."""
    fastest = search("sobo-runtime", 128, 14)
    best = toy(np.arange(1, 129.0)[:, None])
    assert fastest.values[:, 0].min() <= 1.01 * best[:, 0].min()
    start = np.array([20, 40, 60, 80])
    assert search("sobo-power", 128, 10, start=start).values[:, 1].min() < 3 * best[:, 1].min()


@pytest.mark.parametrize("name", EVERY)
def test_same_seed_asks_the_same(name: str) -> None:
    first, second = (search(name, 40, 40 if name == "exact" else 10, seed=5) for _ in range(2))
    assert np.array_equal(first.settings, second.settings)


CUBE = Domain(
    (
        Axis("nodes", (1, 2, 4, 8, 16, 32)),
        Axis("power_cap_w", (300.0, 450.0, 600.0), is_log=False),
        Axis("gpus", (0.0, 2.0, 4.0), is_log=False),
    )
)


def job(settings: np.ndarray) -> np.ndarray:
    """Return run time, power and cost of a job by nodes, power cap and GPUs a node."""
    nodes, cap_w, gpus = settings.T
    run_s = 1e4 / LAW.speed_up(nodes) / (cap_w / 600) ** 0.4 / (1 + 0.5 * gpus)
    power_w = nodes * (cap_w + 250 * gpus)
    return np.stack([run_s, power_w, nodes * run_s * (1 + gpus)], axis=1)


@pytest.mark.parametrize("name", ["loggrid", "random", pytest.param("mobo-fixed", marks=needs_botorch)])
def test_three_variables(name: str) -> None:
    every = job(CUBE.settings(grid(CUBE.levels)))[:, :2]
    found = find_front(registry.find("search", name), CUBE, lambda s: job(s)[:, :2], budget=14, seed=1)
    assert found.settings.shape == (found.evaluations, 3)
    assert not found.repeats
    assert hypervolume_ratio(found.values, every) > (0.9 if name == "mobo-fixed" else 0.5)


@needs_botorch
def test_three_objectives_beat_chance() -> None:
    every = job(CUBE.settings(grid(CUBE.levels)))
    found, chance = (
        hypervolume_ratio(find_front(registry.find("search", name), CUBE, job, budget=14, seed=2).values, every)
        for name in ("mobo-fixed", "random")
    )
    assert found > chance


@needs_botorch
def test_large_domains_are_judged_by_a_controlled_number_of_candidates() -> None:
    from hpcsim.surrogates.search.mobo import MoboFixed

    seen = []

    class Watched(MoboFixed):
        def choices(self, values: np.ndarray) -> np.ndarray:
            found = super().choices(values)
            seen.append(len(found))
            return found

    wide = Domain((Axis("nodes", tuple(range(1, 20_001))), CUBE.axes[1]))
    found = find_front(Watched, wide, lambda s: job(np.column_stack([s, 0 * s[:, 0]]))[:, :2], budget=12, candidates=40)
    assert max(seen) <= 40
    assert not found.repeats


@needs_botorch
def test_scalarised_warm_starts_come_before_the_criterion() -> None:
    plain, warm = (search("mobo-fixed", 64, 11, warm_starts=count) for count in (0, 3))
    assert np.array_equal(plain.settings[:8], warm.settings[:8])
    assert not np.array_equal(plain.settings, warm.settings)
    assert not warm.repeats
    assert share(warm, 64) > 0.9


@needs_botorch
def test_reference_can_be_given() -> None:
    """With a reference that shuts out all beyond 1,000 s, points are sought where the job is faster."""
    free, bound = (search("mobo-fixed", 64, 11, reference=given) for given in (None, [1_000.0, 1e6]))
    assert np.mean(bound.values[8:, 0] < 1_000) > np.mean(free.values[8:, 0] < 1_000)


def test_one_variable_is_enough_for_optimistic_predictions() -> None:
    """`sms-ego` on node counts alone: after 12 of 32 evaluations it has most of the exact front's hypervolume."""
    counts = np.arange(1.0, 33.0)
    truth = np.stack([100 / counts + 1, counts], axis=1)
    domain = Domain.of_nodes(counts)
    found = find_front(
        registry.find("search", "sms-ego"), domain, lambda s: truth[s[:, 0].astype(int) - 1], budget=12, seed=1
    )
    assert found.evaluations == 12
    assert hypervolume_ratio(found.values, truth) > 0.7


@needs_botorch
def test_signs_turn_in_one_place_and_back() -> None:
    from hpcsim.surrogates.search.gaussian import maximised, minimised

    values = np.array([[1.0, -2.0], [0.0, 3.0]])
    assert np.array_equal(minimised(maximised(values)), values)
    assert np.array_equal(np.argmax(maximised(values), axis=0), np.argmin(values, axis=0))


@needs_botorch
@pytest.mark.parametrize("name", ["mobo", *MODELS])
def test_engines_leave_random_numbers_and_threads_alone(name: str) -> None:
    import random

    import torch

    torch.set_num_threads(2)
    states = [torch.get_rng_state(), np.random.get_state()[1].copy(), random.getstate()]  # noqa: NPY002 - the global one
    dtype = torch.get_default_dtype()
    search(name, 16, 10)
    assert torch.get_num_threads() == 2
    assert torch.get_default_dtype() == dtype
    assert torch.equal(states[0], torch.get_rng_state())
    assert np.array_equal(states[1], np.random.get_state()[1])  # noqa: NPY002 - the global one
    assert states[2] == random.getstate()
    torch.set_num_threads(1)


COMPILES = """
import torch.utils.cpp_extension as extension
def load(*arguments, **options):
    raise SystemExit("BoTorch compiles")
extension.load = extension.load_inline = load
import numpy as np
from hpcsim import registry
from hpcsim.surrogates.search.domain import Domain
from hpcsim.surrogates.search.front import find_front
for name in ("mobo", "mobo-noisy"):
    nodes = Domain.of_nodes(np.arange(1, 17))
    find_front(registry.find("search", name), nodes, lambda s: np.hstack([100 / s, s]), budget=9)
from botorch.acquisition.multi_objective import logei
assert getattr(logei, "_C", None) is None
print("found")
"""


@needs_botorch
def test_nothing_is_compiled_at_first_use_nor_waits_for_a_stale_lock(tmp_path: Any) -> None:
    lock = tmp_path / "logei_fused_ext" / "lock"
    lock.parent.mkdir()
    lock.touch()
    done = subprocess.run(
        [sys.executable, "-c", COMPILES],
        env={"TORCH_EXTENSIONS_DIR": str(tmp_path), "OMP_NUM_THREADS": "1", "PATH": ""},
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert done.stdout.strip() == "found", done.stderr


def test_domain_by_hand() -> None:
    axis = Axis("nodes", (1.0, 10.0, 100.0))
    assert axis.positions.tolist() == pytest.approx([0, 0.5, 1])
    assert Axis("gpus", (0.0, 1.0, 4.0), is_log=False).positions.tolist() == [0, 0.25, 1]
    domain = Domain((axis, Axis("gpus", (0.0, 4.0), is_log=False)))
    assert domain.size == 6
    assert domain.settings(domain.points([[1, 1], [2, 0]])).tolist() == [[10, 4], [100, 0]]
    with pytest.raises(InvalidArgument, match="do not ascend"):
        Axis("nodes", (2.0, 1.0))
    with pytest.raises(InvalidArgument, match="begins at 0"):
        Axis("gpus", (0.0, 1.0))


def test_objectives_of_a_wrong_shape_are_refused() -> None:
    with pytest.raises(InvalidArgument, match=r"objectives of 1 settings have shape \[1\]"):
        search("random", 8, 4, objectives=lambda settings: settings[:, 0])


def test_start_counts_against_the_budget_and_is_not_tried_again() -> None:
    for engine in (RandomSearch, LogGrid):
        found = find_front(engine, Domain.of_nodes(range(1, 11)), toy, budget=10, start=[0, 9, 4])
        assert found.settings[:3, 0].tolist() == [1, 10, 5]
        assert sorted(found.settings[:, 0]) == list(range(1, 11))


def test_engines_are_searches() -> None:
    for name in registry.names("search"):
        assert issubclass(registry.find("search", name), Search)


@pytest.mark.parametrize("name", EVERY)
@pytest.mark.parametrize("budget", [0, -1, 1.5, math.nan])
def test_a_budget_that_is_none_is_refused(name: str, budget: float) -> None:
    with pytest.raises(InvalidArgument):
        search(name, 8, budget)  # type: ignore[arg-type] - on purpose


def test_what_is_no_search_is_refused() -> None:
    with pytest.raises(InvalidArgument, match="seed of a search is -1"):
        search("random", 8, 4, seed=-1)
    with pytest.raises(InvalidArgument, match="nothing to search: 0 axes"):
        find_front(registry.find("search", "random"), Domain(()), toy)
    for start in ([[8]], [[-1]], [[0.5]]):
        with pytest.raises(InvalidArgument, match="not of the domain"):
            search("random", 8, 4, start=start)
    with pytest.raises(InvalidArgument, match="objectives are no numbers"):
        search("random", 8, 4, objectives=lambda settings: [["a", "b"]] * len(settings))


@needs_botorch
@pytest.mark.parametrize("name", ["mobo", *MODELS])
def test_an_infinite_answer_is_no_obstacle(name: str) -> None:
    """Every third count fails with infinity: it is not modelled, and the others are found."""
    found = search(name, 16, 10, objectives=lambda one: np.where(one % 3 == 0, math.inf, toy(one)))
    assert found.evaluations == 10
    assert np.isfinite(found.values[found.on_front]).all()


@needs_botorch
def test_engines_say_how_many_objectives_they_need() -> None:
    for name in ("mobo", "mobo-fixed", "mobo-noisy", "sobo-power"):
        with pytest.raises(InvalidArgument, match="needs 2 objectives, and was told 1"):
            search(name, 8, 4, objectives=lambda one: toy(one)[:, :1])
    assert search("sobo-runtime", 8, 4, objectives=lambda one: toy(one)[:, :1]).evaluations == 4
    with pytest.raises(InvalidArgument, match="reference has 1 values"):
        search("mobo-fixed", 8, 4, reference=[1.0])
    with pytest.raises(InvalidArgument, match="one finite number an objective"):
        search("mobo-fixed", 8, 4, reference=[1.0, math.nan])


@needs_botorch
def test_published_start_is_in_the_order_of_the_draw() -> None:
    """Sorted, its first counts would all be small, and a trace over evaluations would say so."""
    starts = [search("mobo", 1000, 8, seed=seed).settings[:, 0] for seed in range(5)]
    assert all(len(np.unique(start)) == len(start) for start in starts)
    assert not any(np.all(np.diff(start) > 0) for start in starts)


@needs_botorch
def test_fixed_reference_survives_a_value_below_zero() -> None:
    """The start decides; when a later value ends logarithms, its reference is that of the start in plain values."""
    engine = registry.find("search", "mobo-fixed")(levels=(64,), budget=20)
    start = np.array([[1.0, 10.0], [4.0, 2.0]])
    assert engine._reference(-np.log(start)).tolist() == pytest.approx(
        [-math.log(4) - 0.1 * math.log(4), -math.log(10) - 0.1 * math.log(5)]
    )
    later = -np.vstack([start, [[-3.0, 50.0]]])
    assert engine._reference(later).tolist() == pytest.approx([-4 - 0.3, -10 - 0.8])


def test_sms_ego_tries_nothing_twice_and_ends() -> None:
    """Failures count as tried; a start as large as the budget would not fit into memory."""
    pytest.importorskip("sklearn")
    pytest.importorskip("moocore")
    found = search("sms-ego", 12, 10**9, objectives=lambda one: np.where(one > 6, math.inf, toy(one)))
    assert (found.evaluations, found.repeats, found.is_exhausted) == (12, 0, True)
    with pytest.raises(InvalidArgument, match="one objective"):
        search("sms-ego", 8, 4, objectives=lambda one: toy(one)[:, :1])
