"""Tables that surrogates learn from and predict for, with nothing in them that was unknown at submission."""

from __future__ import annotations

from hpcsim.surrogates.features.bursts import with_bursts
from hpcsim.surrogates.features.columns import BURSTS, CONTEXT, COUNTED, FEATURES, POST_RUN
from hpcsim.surrogates.features.interventions import at_counts, undeclared_proxies
from hpcsim.surrogates.features.tables import contexts_table, outcomes_table

__all__ = [
    "BURSTS",
    "CONTEXT",
    "COUNTED",
    "FEATURES",
    "POST_RUN",
    "at_counts",
    "contexts_table",
    "outcomes_table",
    "undeclared_proxies",
    "with_bursts",
]
