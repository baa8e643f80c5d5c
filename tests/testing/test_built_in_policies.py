"""Every registered policy keeps the rules, in seconds."""

from __future__ import annotations

import time
from typing import Any

import pytest

from hpcsim import registry
from hpcsim.errors import MissingExtra
from hpcsim.policies import LJF, SAF, SJF, Backfill
from hpcsim.testing import PolicySpec, check_policy

MOST_S = 20
"""Seconds of processor time that one policy may take."""

MEMBERS = [
    Backfill(order=SJF(), reservations=2),
    Backfill(order=SAF(), backfill_order=LJF(), admit="shadow", depth=3),
    PolicySpec("backfill", {"reservations": 0, "boundary": "<"}),
    PolicySpec("conservative", {"compress": "any"}),
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
