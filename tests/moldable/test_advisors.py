"""The advisors that learn nothing, against hand calculation."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import pytest

from hpcsim import Cluster, make_policy, simulate
from hpcsim.errors import InvalidArgument
from hpcsim.job import Job
from hpcsim.registry import make, names
from hpcsim.surrogates.advisors import Fixed, ScalingLaw, UserChoice
from hpcsim.testing import verify
from tests.moldable.test_advice import with_truth
from tests.schedules import simulation

WIDE = Job(0, 1, 0, 16, 3600, allowed_nodes=(1, 2, 4, 8, 16, 32))


def view(nodes: int = 64) -> Any:
    return simulation(with_truth(), nodes, "fcfs").system


def test_they_are_registered() -> None:
    assert names("advisors") == ["advisor", "fixed", "oracle", "scaling-law", "user-choice"]
    assert repr(make("advisors", "fixed", nodes=4)) == "Fixed(nodes=4)"


def test_user_choice_changes_nothing() -> None:
    plain = simulate(with_truth(), Cluster.of_nodes(8), "easy")
    kept = simulate(with_truth(), Cluster.of_nodes(8), "easy", advisor="user-choice")
    assert kept.jobs[plain.jobs.columns].equals(plain.jobs)
    assert kept.jobs["advice"].tolist() == ["kept-declined", "kept-declined", "kept-rigid"]
    assert UserChoice().advise(WIDE, view()).nodes == 16


def test_fixed_scales_limits_by_the_worst_that_narrowing_can_do() -> None:
    """From 16 to 4 nodes no law makes a job slower than 4 times; a wider job keeps its limit."""
    assert (Fixed(nodes=4).advise(WIDE, view()).nodes, Fixed(nodes=4).advise(WIDE, view()).limit_s) == (4, 14_400)
    assert Fixed(nodes=32).advise(WIDE, view()).limit_s == 3600
    assert Fixed(nodes=3).advise(WIDE, view()).reason == "kept-no-support"
    assert Fixed(nodes=16).advise(WIDE, view()).reason == "kept-no-gain"
    for nodes in (0, 1.5, True, "4"):
        with pytest.raises(InvalidArgument, match="fixed node count"):
            Fixed(nodes=nodes)  # type: ignore[arg-type]


def test_scaling_law_by_hand() -> None:
    """f = 0.2: T(n)/T(1) is 0.25 on 16 nodes, 0.3 on 8, 0.4 on 4, so 8 nodes take 1.2 times as long, 4 take 1.6.

    Narrower takes less energy under Amdahl's law: the answer is the narrowest count that is quick enough.
    """
    advice = ScalingLaw(serial_share=0.2, slowdown=1.2).advise(WIDE, view())
    assert (advice.nodes, advice.reason, advice.limit_s) == (8, "advised", 5184)  # 3600 x 1.2 x margin 1.2
    assert ScalingLaw(serial_share=0.2, slowdown=1.6).advise(WIDE, view()).nodes == 4
    assert ScalingLaw(serial_share=0.2, slowdown=1.1).advise(WIDE, view()).reason == "kept-no-gain"
    assert ScalingLaw(serial_share=0.2, slowdown=0.5).advise(WIDE, view()).reason == "kept-deadline"
    assert ScalingLaw(serial_share=0.2, slowdown=0.91).advise(WIDE, view()).nodes == 32


def test_front_of_scaling_law_by_hand() -> None:
    """8 nodes at efficiency 1/(8 x 0.3) draw 8 (400 + 600 (0.5 + 0.5/2.4)); the run time is 3600/1.8 x 0.3/0.25."""
    nodes, run_s, power_w = ScalingLaw(serial_share=0.2).advise(WIDE, view()).front[3]
    assert nodes == 8
    assert run_s == pytest.approx(2000 * 1.2)
    assert power_w == pytest.approx(8 * (400 + 600 * (0.5 + 0.5 / 2.4)))


def test_limits_never_grow_beyond_the_ratio_of_nodes_nor_shrink() -> None:
    for share in (0.0, 0.3, 1.0):
        for slowdown in (0.6, 1.2, 5):
            answer = ScalingLaw(serial_share=share, slowdown=slowdown).advise(WIDE, view())
            assert WIDE.limit_s <= answer.limit_s <= WIDE.limit_s * max(1, 16 / answer.nodes)


def test_a_job_without_a_limit_is_advised_without_one() -> None:
    advice = ScalingLaw(serial_share=0.2).advise(replace(WIDE, limit_s=math.inf), view())
    assert (advice.nodes, advice.limit_s) == (8, math.inf)


def test_scaling_law_advises_nothing_that_the_machine_rejects() -> None:
    """On 4 nodes the job cannot run at 8 or 16; the law's next best is 4."""
    assert ScalingLaw(serial_share=0.2, slowdown=10).advise(WIDE, view(4)).nodes == 1
    assert ScalingLaw(serial_share=0.2, slowdown=1.2).advise(WIDE, view(4)).nodes == 16


@pytest.mark.parametrize(
    "wrong", [{"slowdown": 0}, {"limit_margin": 0.5}, {"overestimate": math.nan}, {"serial_share": 2}]
)
def test_parameters_are_checked(wrong: dict[str, float]) -> None:
    with pytest.raises(InvalidArgument, match="Give"):
        ScalingLaw(**wrong)


@pytest.mark.parametrize("advisor", [UserChoice(), Fixed(nodes=2), ScalingLaw(slowdown=3)])
@pytest.mark.parametrize("model", ["synth-pm100", "synth-adastra"])
def test_runs_of_generated_logs_are_possible(model: str, advisor: Any) -> None:
    jobs = make("models", model, jobs=400, seed=3)
    machine = Cluster.of_nodes(jobs.machine_nodes)
    result = simulate(jobs, machine, make_policy("easy"), advisor=advisor, check=True)
    verify(result, jobs, machine)
    assert isinstance(advisor, UserChoice) or result.summary()["advice_changed"] > 0
