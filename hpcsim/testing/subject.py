"""The policy under test: it is made anew for every run, from an instance, a class, a name or a spec."""

from __future__ import annotations

import copy
from typing import Any

from hpcsim import registry
from hpcsim.errors import HpcsimError, InvalidArgument
from hpcsim.policy import Policy
from hpcsim.testing.specification import PolicySpec


class Subject:
    """Makes equal policies, none of which has run yet.

    They are deep copies of one policy, so that a network is loaded once and not for each of the
    thousand runs; what cannot be copied is made anew from its spec.
    """

    def __init__(self, policy: Any) -> None:
        """Take a `Policy`, its class, a registry name, ``module:Class``, ``file.py:Class`` or a `PolicySpec`.

        Raises:
            InvalidArgument: it is none of these.
            UnknownName, MissingExtra: as `hpcsim.make_policy`.
        """
        self._spec = PolicySpec(policy) if isinstance(policy, str) else policy
        if isinstance(self._spec, PolicySpec):
            self._first = self._spec.make()
        else:
            self._spec = None
            self._first = _instance_of(policy)
        self._copies = self._can_copy()

    def __repr__(self) -> str:
        return repr(self._first)

    @property
    def name(self) -> str:
        """What a person calls the policy: the registry name or class that was given."""
        return self._spec.name.rpartition(":")[2] if self._spec else type(self._first).__name__

    @property
    def policy(self) -> Policy:
        """A policy to read declarations from; it is never run."""
        return self._first

    def make(self) -> Policy:
        """Return a policy that has not run yet."""
        if self._copies:
            return copy.deepcopy(self._first)
        return self.spec().make()

    def spec(self) -> PolicySpec:
        """Return what another process can make the policy from.

        Raises:
            HpcsimError: it has no such spec.
        """
        return self._spec or PolicySpec.of(self._first)

    def _can_copy(self) -> bool:
        """Tell whether the policy can be copied.

        Raises:
            HpcsimError: it can neither be copied nor made anew.
        """
        try:
            copy.deepcopy(self._first)
        except Exception as error:  # noqa: BLE001 - copying may fail in any way
            try:
                self.spec()
            except HpcsimError as unnamed:
                raise HpcsimError(
                    f"{self.name} cannot be copied ({type(error).__name__}: {error}) and has no spec: {unnamed.cause}",
                    "Open files and the like in reset(), or give the policy as file.py:Class.",
                ) from error
            return False
        return True


def _instance_of(policy: Any) -> Policy:
    if isinstance(policy, type) and issubclass(policy, Policy):
        return policy()
    if isinstance(policy, Policy):
        return policy
    name = f"The class {policy.__name__}" if isinstance(policy, type) else repr(policy)
    raise InvalidArgument(
        f"{name} is no policy: it does not inherit hpcsim.Policy.",
        f"Give a Policy, its class, a PolicySpec, or one of: {', '.join(registry.names('policies'))}.",
    )
