"""Slurm's resource texts: TRES lists, requested memory, and the GRES texts of old releases."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass

from hpcsim.workloads.readers.quantities_text import amount, memory_bytes

_OLD_GPU = re.compile(r"(?:gres[:/])?gpu(?::[^:,()]*[^:,()\d][^:,()]*)?(?::(\d{1,9}))?(?:\([^)]*\))?", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Resources:
    """What one TRES text names, of the whole job; None where it does not."""

    cores: int | None = None
    nodes: int | None = None
    gpus: int | None = None
    memory_bytes: int | None = None


def parse_tres(text: str) -> Resources:
    """Read ``billing=32,cpu=4,gres/gpu:a100=8,gres/gpu=8,mem=64G,node=1``.

    GPUs are ``gres/gpu`` where given, else the sum over types: the two are never added.
    """
    found = dict(part.partition("=")[::2] for part in text.split(","))
    typed = [_count(value) for name, value in found.items() if name.startswith("gres/gpu:")]
    gpus = _count(found.get("gres/gpu", ""))
    if gpus is None and typed:
        gpus = sum(count or 0 for count in typed)
    return Resources(
        cores=_count(found.get("cpu", "")),
        nodes=_count(found.get("node", "")),
        gpus=gpus,
        memory_bytes=memory_bytes(found.get("mem", "")),
    )


def parse_requested_memory(text: str) -> tuple[float, float] | None:
    """Return (bytes per CPU, bytes per node) of ``2800Mc``, ``550000Mn``, ``16G``; one of the two is 0.

    Releases without the letter mean memory per node. ``0``, ``?`` and blank are None: the default.
    """
    text = text.strip()
    per_cpu = text[-1:].lower() == "c"
    size = memory_bytes(text[:-1] if text[-1:].lower() in {"c", "n"} else text)
    if not size:
        return None
    return (float(size), 0.0) if per_cpu else (0.0, float(size))


def parse_gres(text: str) -> int | None:
    """Return the GPUs of a GRES text of old releases, ``gpu:2`` or ``gpu:a100:4(S:0-1)``; None without any."""
    counts = [match for part in text.split(",") if (match := _OLD_GPU.fullmatch(part.strip()))]
    return sum(int(match[1] or 1) for match in counts) if counts else None


def _count(text: str) -> int | None:
    value = amount(text, 1000)
    return None if value is None or value > 2**31 else math.ceil(value)
