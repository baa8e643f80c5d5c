"""Figures that experiments can be compared by: those of every run, and those of machines with power or of advice."""

from __future__ import annotations

from hpcsim.results.advised import ADVICE_KEYS
from hpcsim.results.energy import ENERGY_KEYS
from hpcsim.results.summary import SUMMARY_KEYS

METRICS = {**SUMMARY_KEYS, **ENERGY_KEYS, **ADVICE_KEYS}
"""Key of `Result.summary` -> what it means. A run of a machine without power, or without advice, lacks the latter."""
