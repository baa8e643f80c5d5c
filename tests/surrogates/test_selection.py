"""From a front to one count: each rule on one job whose costs are worked out by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest

from hpcsim.errors import InvalidArgument
from hpcsim.surrogates.selection import Candidates, Wishes, feasible, select

JOB = Candidates(
    nodes=np.array([1, 2, 4, 8]),
    run_s=np.array([100.0, 60.0, 40.0, 36.0]),
    power_w=np.array([10.0, 15.0, 20.0, 50.0]),
    upper_run_s=np.array([130.0, 90.0, 70.0, 40.0]),
)
"""Energy 1000, 900, 800, 1800 J; EDP 100, 54, 32, 64.8 kJ s; ED2P 10, 3.24, 1.28, 2.33 MJ s^2.

Logs on the scale of the front: run time 1, 0.5, 0.103, 0; power 0, 0.252, 0.431, 1. Sums 1, 0.752, 0.534, 1:
the knee is 4.
"""


@pytest.mark.parametrize(
    ("rule", "wishes", "expected"),
    [
        ("energy", {}, 4),
        ("edp", {}, 4),
        ("ed2p", {}, 4),
        ("knee", {}, 4),
        ("weighted", {"weight": 1.0}, 8),
        ("weighted", {"weight": 0.0}, 1),
        ("cap", {"power_cap_w": 15.0}, 2),
        ("cap", {"power_cap_w": 9.0}, None),
        ("deadline", {"limit_s": 95.0}, 4),
        ("deadline", {"limit_s": 50.0}, 8),
        ("deadline", {"limit_s": 30.0}, None),
        ("slowdown", {"user_nodes": 8, "slowdown": 0.2}, 4),
        ("slowdown", {"user_nodes": 8, "slowdown": 0.0}, 8),
        ("slowdown", {"user_nodes": 4, "slowdown": 0.5}, 2),
    ],
)
def test_rule_by_hand(rule: str, wishes: dict[str, float], expected: int | None) -> None:
    assert select(JOB, rule, Wishes(**wishes)) == expected


def test_ed2p_pays_for_speed() -> None:
    """At 8 nodes and 30 W: energy 1080 > 800, EDP 38.9 > 32 kJ s, ED2P 1.40 > 1.28; at 25 W ED2P is 1.17 < 1.28."""
    faster = Candidates(JOB.nodes, JOB.run_s, np.array([10.0, 15.0, 20.0, 25.0]))
    assert [select(faster, rule) for rule in ("energy", "edp", "ed2p")] == [4, 4, 8]


def test_knee_of_energy_differs_from_that_of_power() -> None:
    """Front of (T, E): 4 and 8 nodes, the two ends of the chord: a tie at 0, which fewer nodes win."""
    assert select(JOB, "knee-energy") == 4


def test_knee_is_measured_on_the_scale_of_the_front_alone() -> None:
    """A dominated (1000, 1000) would stretch the scale: logs of 2 nodes then sum to less than those of 3."""
    front = Candidates(np.array([1, 2, 3, 4]), np.array([100.0, 30.0, 15.0, 10.0]), np.array([1.0, 3.2, 5.0, 10.0]))
    stretched = Candidates(np.append(front.nodes, 5), np.append(front.run_s, 1000.0), np.append(front.power_w, 1e3))
    assert select(front, "knee") == select(stretched, "knee") == 3


def test_equals_go_to_fewer_nodes_whatever_their_order() -> None:
    flat = Candidates(np.array([8, 2, 4]), np.full(3, 10.0), np.full(3, 5.0))
    for rule in ("knee", "weighted", "energy", "edp", "ed2p"):
        assert select(flat, rule) == 2


def test_predictions_that_are_no_numbers_are_never_chosen() -> None:
    broken = Candidates(JOB.nodes, np.array([100.0, 60.0, math.nan, math.inf]), JOB.power_w)
    assert select(broken, "edp") == 2
    nothing = Candidates(JOB.nodes, np.full(4, math.nan), JOB.power_w)
    assert select(nothing, "edp") is None
    negative = Candidates(JOB.nodes, np.array([-5.0, 60.0, 40.0, 36.0]), JOB.power_w)
    assert select(negative, "energy") == 4


def test_one_node_cluster_has_one_answer() -> None:
    only = Candidates(np.array([1]), np.array([10.0]), np.array([5.0]))
    assert {select(only, rule) for rule in ("knee", "knee-energy", "weighted", "energy", "edp", "ed2p")} == {1}


def test_what_a_rule_lacks_is_said() -> None:
    with pytest.raises(InvalidArgument, match="no rule 'enrgy'. Did you mean 'energy'"):
        select(JOB, "enrgy")
    with pytest.raises(InvalidArgument, match="'cap' needs power_cap_w"):
        select(JOB, "cap")
    with pytest.raises(InvalidArgument, match="user's count 3 is no candidate"):
        select(JOB, "slowdown", Wishes(user_nodes=3))
    with pytest.raises(InvalidArgument, match="weight is 2"):
        select(JOB, "weighted", Wishes(weight=2))


def test_feasible_counts() -> None:
    asked = [0, 8, 1, 2, 3, 4, 16, 2]
    assert feasible(asked).tolist() == [1, 2, 3, 4, 8, 16]
    assert feasible(asked, most_nodes=8, allowed=[1, 2, 4, 8, 16]).tolist() == [1, 2, 4, 8]
    assert feasible(asked, memory_bytes=100, node_memory_bytes=40).tolist() == [3, 4, 8, 16]
