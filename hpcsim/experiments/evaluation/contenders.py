"""Who is put to the test: a policy from a name and parameters, and what is put beside a rule or a network."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, cast

from hpcsim.errors import HpcsimError
from hpcsim.experiments.evaluation.suites import Protocol
from hpcsim.experiments.plug_ins import make
from hpcsim.policy import Order, Policy

Mode = Literal["backfill", "none"]

_BESIDE = {
    ("published", "backfill"): "rlscheduler",
    ("published", "none"): "rlscheduler-none",
    ("full-easy", "backfill"): "easy-sjbf",
    ("full-easy", "none"): "none",
}
"""What a policy that only chooses heads puts beside them, as its parameter `backfill`."""


@dataclass(frozen=True, slots=True, eq=False)
class Contender:
    """A policy by its registry name and parameters, so that it can be made anew in any process.

    Attributes:
        label: what it is called in tables.
        name: in the registry, or ``file.py:Class``.
        parameters: plain values; a part is given by its name, or a table of name and parameters.
    """

    label: str
    name: str
    parameters: Mapping[str, Any] = field(default_factory=dict)

    def policy(self, protocol: Protocol, mode: Mode) -> Policy:
        """Return the policy as the protocol has it.

        A rule that orders jobs, and a network that chooses heads, get what the protocol puts beside a
        head; any other policy is its own and stays as it is.

        Raises:
            HpcsimError: there is no such policy, or it refuses its parameters.
        """
        policy: Policy = make("policies", self.name, self.parameters)
        if isinstance(policy, Order):
            return _beside_a_rule(policy, protocol, mode)
        if isinstance(getattr(policy, "backfill", None), str) and "backfill" not in self.parameters:
            heads: Any = policy  # a dataclass, as every policy is
            return cast("Policy", dataclasses.replace(heads, backfill=_BESIDE[protocol, mode]))
        return policy

    def training_seed(self) -> int | None:
        """Return the seed that a trained policy's card states, None of a policy that was not trained."""
        trained = getattr(make("policies", self.name, self.parameters), "trained", None)
        seed = getattr(trained, "card", {}).get("seed")
        return seed if isinstance(seed, int) else None


def _beside_a_rule(rule: Order, protocol: Protocol, mode: Mode) -> Policy:
    depth = {} if mode == "backfill" else {"depth": 0}
    if protocol == "published":
        return _backfill(order=rule, protocol="rlscheduler", **depth)
    if mode == "none":
        return rule
    return _backfill(order=rule, backfill_order="sjf")


def _backfill(**parameters: Any) -> Policy:
    policy = make("policies", "backfill", parameters)
    if not isinstance(policy, Policy):
        raise HpcsimError("The registry's 'backfill' is no policy.", "Reinstall hpcsim.")
    return policy


RULES = (
    Contender("fcfs", "fcfs"),
    Contender("sjf", "sjf"),
    Contender("f1", "f1"),
    Contender("saf", "saf"),
    Contender("wfp3", "wfp3"),
    Contender("unicep", "unicep"),
    Contender("easy", "easy"),
    Contender("easy-sjbf", "easy-sjbf"),
    Contender("easy-sabf", "backfill", {"backfill_order": "saf"}),
)
"""What stands in every table; ``easy-sabf`` is EASY that backfills the smallest area first."""
