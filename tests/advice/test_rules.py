"""Rules as people write them, and what they choose: against hand-worked costs."""

from __future__ import annotations

import math

import numpy as np
import pytest

from hpcsim.errors import InvalidArgument
from hpcsim.surrogates.advice.forecast import Forecast
from hpcsim.surrogates.advice.rules import Moment, Rule, costs, parse

# T = 100, 60, 40 s on 1, 2, 4 nodes at 100 W a node: energies of 10, 12 and 16 kJ. The user asked for 2.
JOB = Forecast(
    nodes=np.array([1, 2, 4]),
    run_s=np.array([100.0, 60.0, 40.0]),
    upper_run_s=np.array([150.0, 72.0, 60.0]),
    power_w=np.array([100.0, 200.0, 400.0]),
    supported=np.array([True, True, True]),
    asked=1,
)


def chosen(text: str, waits_s: tuple[float, ...] = (0, 0, 0), waiting: int = 0) -> int:
    cost = costs(parse(text), JOB, Moment(np.array(waits_s, dtype=float), waiting, 8))
    return int(JOB.nodes[int(np.argmin(cost))])


def test_texts_of_rules() -> None:
    assert parse("qa(2, 1)") == parse(" qa ") == Rule("qa", (2.0, 1.0))
    assert parse("qa(8)") == Rule("qa", (8.0, 1.0))
    assert parse("deadline") == Rule("deadline", (1.2,))
    assert parse("cap(5000)") == Rule("cap", (5000.0,))


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("qua(2, 1)", "Did you mean 'qa'"),
        ("cap", "lacks its power cap"),
        ("energy(1)", "has 1 numbers"),
        ("weighted(2)", "from 0 to 1"),
        ("qa(a)", "something else than numbers"),
        ("qa(-1)", "from 0"),
        ("qa(inf)", "from 0"),
        ("qa(2, 1", "no rule"),
    ],
)
def test_nonsense_is_refused_in_a_sentence(text: str, words: str) -> None:
    with pytest.raises(InvalidArgument, match=words):
        parse(text)


def test_rules_that_look_at_one_job() -> None:
    assert chosen("energy") == 1
    assert chosen("fastest") == 4
    assert chosen("edp") == 4  # 1.0, 0.72, 0.64 MJ s
    assert chosen("deadline(1.2)") == 2  # 100 s is too slow for a deadline of 72 s
    assert chosen("deadline(2)") == 1
    assert chosen("slowdown(0.7)") == 1  # 100 s <= 102 s, at the least power
    assert chosen("cap(250)") == 2
    assert chosen("weighted(1)") == 4


def test_queue_aware_costs_are_those_of_the_formula() -> None:
    waits_s, waiting = np.array([0.0, 10.0, 500.0]), 3
    cost = costs(parse("qa(2, 1)"), JOB, Moment(waits_s, waiting, 8))
    expected = [
        math.log(w + t + 3 * n * t / 8) + 2 * math.log(t * p)
        for n, t, p, w in zip((1, 2, 4), (100, 60, 40), (100, 200, 400), waits_s, strict=True)
    ]
    assert cost.tolist() == pytest.approx(expected, rel=1e-14)


def test_without_price_and_weight_the_rule_is_selfish() -> None:
    assert chosen("qa(0, 0)", waiting=100) == 4
    assert chosen("qa(0, 1)", waiting=100) == 1
    assert chosen("qa(0, 0)", waits_s=(0, 0, 1000)) == 2


def test_unknown_power_is_taken_as_even() -> None:
    dark = Forecast(JOB.nodes, JOB.run_s, JOB.upper_run_s, np.full(3, np.nan), JOB.supported, 1)
    assert costs(parse("energy"), dark).tolist() == [100.0, 120.0, 160.0]


def test_which_rules_need_the_guard() -> None:
    safe = [text for text in ("qa(2, 1)", "qa(0, 1)", "deadline", "energy") if parse(text).is_safe]
    unsafe = [text for text in ("edp", "ed2p", "knee", "fastest", "qa(0, 0)", "qa(2, 0)") if not parse(text).is_safe]
    assert (len(safe), len(unsafe)) == (4, 6)
