"""Advisors from what was typed: ``scaling-law``, ``fixed:nodes=4``, ``file.py:Class:key=value``."""

from __future__ import annotations

from hpcsim.advisor import Advisor
from hpcsim.commands.calls import check_required
from hpcsim.commands.output import say
from hpcsim.commands.policy_specs import make_plugin, parse_setting, split_spec


def make_advisor(spec: str) -> Advisor:
    """Return the advisor of ``NAME:KEY=VALUE,...``: a registry name, ``module:Class`` or ``file.py:Class``.

    A clairvoyant one is named on standard error.

    Raises:
        UnknownName: there is no such advisor or parameter, or one is missing.
        HpcsimError: the advisor refuses its parameters.
    """
    name, settings = split_spec(spec)
    check_required("advisors", name, dict(map(parse_setting, settings)))
    advisor: Advisor = make_plugin("advisors", name, settings)
    if advisor.clairvoyant:
        say(f"{name} is clairvoyant: it knows the true run times, which no real advisor does.")
    return advisor
