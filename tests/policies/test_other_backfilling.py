"""Lookahead, selective and slack-based backfilling by hand."""

from __future__ import annotations

from typing import Any

import pytest

from hpcsim.errors import HpcsimError
from hpcsim.policies import Backfill, EasyPlusPlus, EasySJBF, Lookahead, Selective, SlackBased
from hpcsim.registry import make
from tests.schedules import jobs, starts


def test_sjbf_tries_the_shortest_first() -> None:
    """One node is free beside h: b is shorter than a."""
    workload = jobs("r 0 50 50 3\n h 1 10 10 4\n a 2 20 20 1\n b 2 10 10 1")
    assert starts(workload, 4, EasySJBF()) == {"r": 0, "b": 2, "a": 12, "h": 50}
    assert starts(workload, 4, make("policies", "easy")) == {"r": 0, "a": 2, "b": 22, "h": 50}


def test_lookahead_fills_what_first_fit_leaves_idle() -> None:
    """5 of 8 nodes are free beside h. In order a (2) and b (2) start, and one node stays idle; b and c fill all 5."""
    workload = jobs("r 0 50 50 3\n h 1 10 10 8\n a 2 20 20 2\n b 2 20 20 2\n c 2 20 20 3")
    assert starts(workload, 8, Lookahead()) == {"r": 0, "a": 2, "c": 2, "b": 22, "h": 50}
    assert starts(workload, 8, make("policies", "easy")) == {"r": 0, "a": 2, "b": 2, "c": 22, "h": 50}
    assert starts(workload, 8, Lookahead(depth=2)) == {"r": 0, "a": 2, "b": 2, "c": 22, "h": 50}


def test_lookahead_keeps_the_extra_nodes_to_their_number() -> None:
    """h leaves 1 extra node. a and b would outlast the shadow time of 50: a alone may; c (3 nodes) ends in time."""
    workload = jobs("r 0 50 50 3\n h 1 10 10 7\n a 2 90 90 1\n b 2 90 90 1\n c 2 20 20 3")
    assert starts(workload, 8, Lookahead()) == {"r": 0, "a": 2, "c": 2, "h": 50, "b": 60}


def test_selective_reserves_only_for_who_has_waited_long() -> None:
    """w (10 s, all nodes) waits from 1; past an expansion factor of 2 it is from 11 on, and s4 may not start any more.

    Small jobs keep 3 of 4 nodes busy, one after the other; before 11 each starts as it comes.
    """
    small = "\n".join(f"s{i} {5 * i} 8 8 2" for i in range(6))
    workload = jobs(f"{small}\n w 1 10 10 4")
    greedy = starts(workload, 4, Backfill(reservations=0))
    patient = starts(workload, 4, Selective(threshold=2))
    assert (greedy["s2"], greedy["s3"], greedy["w"]) == (10, 15, 33)
    assert (patient["s2"], patient["s3"], patient["w"]) == (10, 28, 18)


def test_slack_lets_a_job_pass_who_can_afford_to_wait() -> None:
    """h (20 s) is planned for 10, and s (15 s, 1 node) at 2 would push it to 17: within half of its length, 10 s."""
    workload = jobs("r 0 10 10 3\n h 1 20 20 4\n s 2 15 15 1")
    assert starts(workload, 4, SlackBased()) == {"r": 0, "s": 2, "h": 17}
    assert starts(workload, 4, SlackBased(slack_factor=0.3)) == {"r": 0, "h": 10, "s": 30}
    assert starts(workload, 4, SlackBased(depth=0)) == {"r": 0, "h": 10, "s": 30}


@pytest.mark.parametrize(
    ("kind", "options", "fault"),
    [
        (Selective, {"threshold": 0.5}, "threshold"),
        (Selective, {"threshold": "much"}, "threshold"),
        (SlackBased, {"slack_factor": -1}, "slack_factor"),
        (SlackBased, {"slack_factor": float("inf")}, "slack_factor"),
        (SlackBased, {"depth": 1.5}, "depth"),
        (Lookahead, {"depth": -1}, "depth"),
        (Lookahead, {"order": "sjf"}, "order"),
        (EasyPlusPlus, {"estimates": None}, "estimates"),
        (Backfill, {"protocol": "pyss"}, "protocol"),
        (Backfill, {"protocol": "rlscheduler", "reservations": 0}, "one reservation"),
        (Backfill, {"protocol": "cqsim", "reservations": "all"}, "one reservation"),
    ],
)
def test_impossible_options_are_refused_by_name(kind: Any, options: dict[str, Any], fault: str) -> None:
    with pytest.raises(HpcsimError, match=fault):
        kind(**options)
