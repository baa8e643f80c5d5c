"""Laws of run time and power over the node count, against published values and closed forms."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hpcsim.errors import InvalidArgument
from hpcsim.speedup import (
    Amdahl,
    Downey,
    PowerCurve,
    PowerLaw,
    Sevcik,
    SpeedUp,
    Table,
    amdahl_speed_up,
    downey_speed_up,
)

COUNTS = [4, 16, 24, 31, 46, 64]
LAWS = (Amdahl(0.05), Amdahl(0.02, 0.01), Downey(16, 0.5), Downey(5, 1.7), PowerLaw(0.7), Sevcik(1000, 1.3, 25, 25))


@pytest.mark.parametrize(
    ("variation", "expected"),
    [
        (0, [4, 16, 16, 16, 16, 16]),
        (0.5, [3.8209, 12.9620, 14.9126, 16, 16, 16]),
        (1, [3.6571, 10.8936, 13.9636, 16, 16, 16]),
        (2, [3.5556, 9.8462, 12.2553, 13.7778, 16, 16]),
    ],
)
def test_downey_at_an_average_parallelism_of_16(variation, expected):
    """Worked out from UCB/CSD-97-933 apart from this code."""
    assert np.round(Downey(16, variation).speed_up(COUNTS), 4).tolist() == expected


@given(st.floats(1, 500), st.floats(0, 3), st.floats(1, 2000))
def test_downey_is_bounded_continuous_and_never_falls(parallelism, variation, nodes):
    law = Downey(parallelism, variation)
    here, further = law.speed_up([nodes, nodes * (1 + 1e-9)])
    assert 0 < here <= further + 1e-6
    assert further - here < 1e-4 * nodes
    assert here <= min(nodes, parallelism) + 1e-9


@given(st.floats(1, 500), st.integers(1, 1000))
def test_downeys_two_forms_agree_where_they_meet(parallelism, nodes):
    low, high = downey_speed_up(nodes, parallelism, [1.0, 1.0 + 1e-12])
    assert low == pytest.approx(high, rel=1e-9)


def test_amdahl_by_hand():
    """f = 0.1 on 4 nodes: 1 / (0.1 + 0.9/4) = 3.0769; with c = 0.02: 1 / (0.325 + 0.04) = 2.7397."""
    assert float(Amdahl(0.1).speed_up(4)) == pytest.approx(1 / 0.325)
    assert float(Amdahl(0.1, 0.02).speed_up(4)) == pytest.approx(1 / 0.365)


def test_communication_makes_too_many_nodes_slower():
    """T(n)/T(1) = f + (1-f)/n + c log2 n is least at n = (1-f) ln 2 / c = 68.6 for f = 0.01, c = 0.01."""
    assert Amdahl(0.01, 0.01).fastest(1000) == 69
    assert Amdahl(0.01).fastest(1000) == 1000


def test_sevcik_by_hand():
    """W 1000, phi 1.3, alpha 25, beta 25: T(10) = 130 + 25 + 250 = 405, T(1) = 1350."""
    law = Sevcik(1000, 1.3, 25, 25)
    assert float(law.time_s(10)) == pytest.approx(405)
    assert float(law.speed_up(10)) == pytest.approx(1350 / 405)


def test_table_is_exact_at_its_counts_and_log_linear_between():
    law = Table((1, 4, 16), (1600, 400, 200))
    assert law.run_s([1, 4, 16], 1600).tolist() == pytest.approx([1600, 400, 200])
    assert float(law.run_s(8, 1600)) == pytest.approx((400 * 200) ** 0.5)
    with pytest.raises(InvalidArgument, match="covers 1 to 16 nodes"):
        law.speed_up(17)


@pytest.mark.parametrize("law", LAWS, ids=repr)
def test_every_law_is_a_frozen_value_over_arrays(law: SpeedUp):
    assert float(law.speed_up(1)) == pytest.approx(1)
    assert law.speed_up(np.arange(1, 7).reshape(2, 3)).shape == (2, 3)
    assert law.run_s(4, 100) == pytest.approx(100 / law.speed_up(4))
    assert law.ratio(4, 2) * law.ratio(2, 1) == pytest.approx(law.ratio(4, 1))
    assert (law.efficiency(np.arange(1, 100)) <= 1 + 1e-12).all()
    with pytest.raises(dataclasses.FrozenInstanceError):
        setattr(law, dataclasses.fields(law)[0].name, 1)
    assert not hasattr(law, "__dict__")


def test_functions_broadcast_jobs_against_counts():
    shares = np.array([0.0, 0.5])[:, None]
    assert amdahl_speed_up([[1, 2, 4]], shares).tolist() == [[1, 2, 4], [1, 1 / 0.75, 1 / 0.625]]


def test_power_by_hand():
    """Efficiency 0.5, idle 400, peak 1000, half of the dynamic power while waiting: 400 + 600 x 0.75 = 850."""
    curve = PowerCurve(400, 1000, 0.5)
    assert float(curve.node_w(0.5)) == 850
    assert float(curve.node_w(1)) == 1000
    assert float(PowerCurve(400, 1000, 1).node_w(0.1)) == 1000
    assert float(PowerCurve(400, 1000, 0).node_w(0)) == 400
    assert curve.job_w(4, PowerLaw(0.5)).tolist() == 4 * 850


@pytest.mark.parametrize(
    ("kind", "arguments", "cause"),
    [
        (Amdahl, (1.5,), "serial share is 1.5"),
        (Amdahl, (0.5, -1), "cost of communication is -1"),
        (Amdahl, (float("nan"),), "serial share is nan"),
        (Downey, (0.5, 1), "average parallelism is 0.5"),
        (Downey, (2, -0.1), "variation of parallelism is -0.1"),
        (PowerLaw, (1.1,), "exponent is 1.1"),
        (Sevcik, (0,), "work is 0"),
        (Table, ((1, 1), (5, 4)), "table of node counts"),
        (Table, ((1, 2), (5,)), "table of node counts"),
        (Table, ((1, 2), (5, 0)), "table of run times"),
        (PowerCurve, (500, 400), "peak power is 400"),
        (PowerCurve, (400, 500, 2), "share of a waiting core is 2"),
    ],
)
def test_parameters_that_make_no_sense(kind, arguments, cause):
    with pytest.raises(InvalidArgument, match=cause):
        kind(*arguments)


def test_downey_at_one_count_is_that_of_arrays_to_the_bit() -> None:
    draw = np.random.default_rng(3)
    for _ in range(200):
        parallelism, variation = float(draw.uniform(1, 300)), float(draw.choice([0.0, 1.0, draw.uniform(0, 3)]))
        law = Downey(parallelism, variation)
        nodes = draw.integers(1, 600, 8)
        assert [law.speed_up(int(n)).item() for n in nodes] == downey_speed_up(nodes, parallelism, variation).tolist()
