"""What the commands about surrogates need of the plug-in package, found by the registry."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from hpcsim import registry
from hpcsim.errors import HpcsimError
from hpcsim.surrogate import Surrogate
from hpcsim.workload import Workload

if TYPE_CHECKING:
    import pandas as pd

FEATURES = "hpcsim.surrogates.features"
FILES = "hpcsim.surrogates.model_files"


def outcomes_of(workload: Workload) -> pd.DataFrame:
    """Return the finished jobs of *workload*, ready to learn from."""
    table: pd.DataFrame = registry.find("surrogates", f"{FEATURES}:outcomes_table")(workload)
    return table


def contexts_of(workload: Workload, history: pd.DataFrame, rows: Any) -> pd.DataFrame:
    """Return what was known at submission of the jobs of *rows*."""
    table: pd.DataFrame = registry.find("surrogates", f"{FEATURES}:contexts_table")(workload, history, rows=rows)
    return table


def load_model(folder: Path) -> Surrogate:
    """Return the surrogate saved in *folder*."""
    model: Surrogate = registry.find("surrogates", f"{FILES}:load_any")(folder)
    return model


def check_replaceable(folder: Path) -> None:
    """Refuse a folder that holds anything but a saved surrogate."""
    registry.find("surrogates", f"{FILES}:check_replaceable")(folder)


def card_of(folder: Path) -> dict[str, Any]:
    """Return the card of the surrogate saved in *folder*."""
    card: dict[str, Any] = registry.find("surrogates", f"{FILES}:read_card")(folder)
    return card


def explained(model: Surrogate) -> dict[str, Any]:
    """Return what the predictions of *model* rest on.

    Raises:
        HpcsimError: it cannot say.
    """
    if not hasattr(model, "explain"):
        raise HpcsimError(f"{type(model).__name__} cannot explain itself.", "Give the class a method explain().")
    found: dict[str, Any] = model.explain()
    return found
