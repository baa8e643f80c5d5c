"""torch, where it is installed; training needs it, using a network does not."""

from __future__ import annotations

from types import ModuleType

from hpcsim.errors import MissingExtra


def need_torch() -> ModuleType:
    """Return torch. Raises `MissingExtra` where it is not installed."""
    try:
        import torch
    except ModuleNotFoundError as error:
        raise MissingExtra(
            "Training a network needs torch, which is not installed.", "Type: pip install 'hpcsim-des[rl]'."
        ) from error
    module: ModuleType = torch
    return module
