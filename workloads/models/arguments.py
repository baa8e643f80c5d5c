"""Arguments of models and transformations, refused with one sentence where they make no sense."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

from hpcsim.errors import WorkloadError, closest


def check_whole(name: str, value: Any, *, least: int = 1) -> None:
    """Refuse what is no whole number of *least* or more.

    Raises:
        WorkloadError: the sentence names the argument and the bound.
    """
    if isinstance(value, bool) or not hasattr(value, "__index__") or value < least:
        raise WorkloadError(f"Got {name} = {value!r}.", f"Give a whole number of {least} or more.")


def check_number(
    name: str, value: Any, *, above: float = -math.inf, least: float = -math.inf, most: float = math.inf
) -> None:
    """Refuse what is no finite number, lies at or below *above*, below *least* or above *most*.

    Raises:
        WorkloadError: the sentence names the argument and the bounds.
    """
    is_number = isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
    if not is_number or value <= above or value < least or value > most:
        low = f"above {above:g}" if above > -math.inf else f"of {least:g} or more" if least > -math.inf else ""
        high = f"at most {most:g}" if most < math.inf else ""
        raise WorkloadError(
            f"Got {name} = {value!r}.", f"Give a number {' and '.join(filter(None, (low, high)))}".rstrip() + "."
        )


def check_choice(name: str, value: Any, known: Iterable[str]) -> None:
    """Refuse what is none of *known*; the closest is offered.

    Raises:
        WorkloadError: the sentence lists what there is.
    """
    choices = list(known)
    if value not in choices:
        raise WorkloadError(
            f"There is no {name} '{value}'.{closest(str(value), choices)}", f"Known: {', '.join(choices)}."
        )
