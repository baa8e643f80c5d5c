"""Users above a policy, in any order; and what they find."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import Phase, settings
from hypothesis.stateful import invariant, run_state_machine_as_test

from hpcsim import InvalidDecision
from hpcsim.errors import InvariantViolation
from hpcsim.policies import SAF
from hpcsim.testing import PolicySpec, SimulationMachine
from tests.testing.broken_policies import IgnoresFree

QUICK = settings(
    max_examples=20,
    stateful_step_count=15,
    deadline=None,
    derandomize=True,
    database=None,
    phases=[Phase.generate],  # that something is found is enough here
)


def machine_of(policy: Any, **members: Any) -> type[SimulationMachine]:
    return type("Machine", (SimulationMachine,), {"policy": policy, **members})


def case_of(policy: Any, **members: Any) -> Any:
    case = machine_of(policy, **members).TestCase
    case.settings = settings(max_examples=30, stateful_step_count=20)
    return case


TestUnderFCFS = case_of("fcfs")
TestUnderSAF = case_of(SAF())
TestUnderEASY = case_of("easy", nodes=5)
TestUnderConservative = case_of(PolicySpec("conservative", {"compress": "any"}))


def test_broken_policy_is_found() -> None:
    with pytest.raises(InvalidDecision, match="IgnoresFree tried to start"):
        run_state_machine_as_test(machine_of(IgnoresFree), settings=QUICK)


def test_users_may_add_invariants_of_their_own() -> None:
    def never_two(self: Any) -> None:
        assert not hasattr(self, "simulation") or len(self.system.running) < 2

    with pytest.raises(AssertionError):
        run_state_machine_as_test(machine_of("easy", never_two=invariant()(never_two)), settings=QUICK)


def test_engine_that_loses_nodes_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    from hpcsim.engine.free_nodes import FreeNodes

    give_back = FreeNodes.give_back

    def loses_one(self: Any, intervals: Any) -> None:
        give_back(self, intervals)
        self.count -= 1

    monkeypatch.setattr(FreeNodes, "give_back", loses_one)
    with pytest.raises((AssertionError, InvariantViolation)):
        run_state_machine_as_test(machine_of("fcfs"), settings=QUICK)
