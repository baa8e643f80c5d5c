"""Every registered policy keeps the rules, in seconds."""

from __future__ import annotations

import time
from typing import Any

import pytest

from hpcsim import registry
from hpcsim.cluster import Cluster
from hpcsim.engine.simulation import Simulation
from hpcsim.errors import MissingExtra
from hpcsim.policies import EASY, LJF, SAF, SJF, Backfill, Conservative
from hpcsim.testing import PolicySpec, check_policy
from hpcsim.testing.checks.guarantees import EverybodyKeepsTheirs
from hpcsim.workload import Workload

MOST_S = 20
"""Seconds of processor time that one policy may take."""

MEMBERS = [
    Backfill(order=SJF(), reservations=2),
    Backfill(order=SAF(), backfill_order=LJF(), admit="shadow", depth=3),
    PolicySpec("backfill", {"reservations": 0, "boundary": "<"}),
    PolicySpec("conservative", {"compress": "any"}),
    Conservative(order=SJF()),
    Conservative(reservations=1),
    EASY(reservations="all"),
]


def check(policy: Any) -> None:
    began_s = time.process_time()
    check_policy(policy)
    assert time.process_time() - began_s < MOST_S


@pytest.mark.parametrize("name", registry.names("policies"))
def test_registered_policy_passes(name: str) -> None:
    try:
        registry.find("policies", name)
    except MissingExtra as error:
        pytest.skip(str(error))
    check(name)


@pytest.mark.parametrize("policy", MEMBERS, ids=repr)
def test_other_members_of_the_backfilling_family_pass(policy: Any) -> None:
    check(policy)


def test_a_promise_behind_a_gap_in_the_plan_is_no_empty_one() -> None:
    """The last job to arrive is promised 9: behind row 2 at 7, which found no room before rows 0 and 1 moved up.

    One after the other all that wait would have ended at 8.
    """
    workload = Workload.of(
        submit_s=[2, 1, 1, 4, 0], run_s=[0, 0, 0, 0, 4], limit_s=[1, 1, 2, 3, 6], nodes=[1, 1, 2, 1, 2]
    )
    watchdog = EverybodyKeepsTheirs()
    Simulation(workload, Cluster.of_nodes(2), Conservative(), recorders=[watchdog]).run()
    assert watchdog.breach is None


def test_options_that_void_a_guarantee_withdraw_it() -> None:
    assert Conservative(order=SJF()).guarantees == ("no-delay-of-any",)
    assert EASY(reservations=3).guarantees == ("no-head-delay",)
    void = (Conservative(reservations=1), EASY(reservations="all"), EASY(reservations=0), EASY(order=SJF()))
    assert [policy.guarantees for policy in void] == [()] * 4
