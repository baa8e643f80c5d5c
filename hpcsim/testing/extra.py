"""Is Hypothesis there? It comes with the extra ``[testing]``."""

from __future__ import annotations

from importlib.util import find_spec

from hpcsim.errors import MissingExtra


def need_hypothesis() -> None:
    """Make sure that Hypothesis can be imported.

    Raises:
        MissingExtra: it is not installed.
    """
    if find_spec("hypothesis") is None:
        raise MissingExtra(
            "hpcsim.testing searches with Hypothesis, which is not installed.",
            "Type: pip install 'hpcsim-des[testing]'.",
        )
