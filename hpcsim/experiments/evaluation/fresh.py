"""Generated workloads that nobody has trained on, and the same varied in load, machine and estimates."""

from __future__ import annotations

from typing import Any

from hpcsim import registry
from hpcsim.experiments.evaluation.sequences import Sequence, cut, random_starts
from hpcsim.workload import Workload

WORKLOADS = 15
NODES = 256
SEED = 20_000
"""Seeds of evaluation begin here; training takes those below."""

CHOICE_SEED = 30_000
"""Seeds of workloads that a network may be chosen on, before anything is evaluated."""

_KINDS = ("both", "batch", "typeless")
_LOADS = (0.7, 0.8, 0.9, 1.0, 1.1)
_ROWS = 10_000
_FEW = 4
"""Windows of a workload in the suites that vary something."""


def fresh(windows: int, seed: int = SEED) -> list[Sequence]:
    """Return *windows* random windows of each of `WORKLOADS` workloads by the Lublin-Feitelson model.

    Three mixes of classes at five loads, 10,000 jobs each on 256 nodes, limits as the run times. *seed* says which.
    """
    found: list[Sequence] = []
    for number in range(WORKLOADS):
        kind, load = _KINDS[number % len(_KINDS)], _LOADS[number // len(_KINDS)]
        workload = _lublin(seed=seed + number, classes=kind, load=load)
        found += cut(workload, NODES, f"{kind} {load}", random_starts(_ROWS, windows, seed=(seed, number)))
    return found


def loads() -> list[Sequence]:
    """Return windows of workloads at offered loads from 0.6 to 1.2."""
    return [
        sequence
        for load in (0.6, 0.7, 0.8, 0.9, 1.0, 1.1, 1.2)
        for number in range(WORKLOADS // 3)
        for sequence in _few(_lublin(seed=SEED + 100 + number, load=load), NODES, number, f"load {load}")
    ]


def machines() -> list[Sequence]:
    """Return windows of workloads at load 0.9 for machines of half to four times 256 nodes."""
    return [
        sequence
        for factor in (0.5, 1, 2, 4)
        for number in range(WORKLOADS // 3)
        for sequence in _few(
            _lublin(seed=SEED + 200 + number, load=0.9, nodes=int(NODES * factor)),
            int(NODES * factor),
            number,
            f"machine x{factor:g}",
        )
    ]


def estimates() -> list[Sequence]:
    """Return windows at load 0.9 whose limits are the run times, up to 2, 5, 10 times those, or users' own."""
    kinds: list[tuple[str, dict[str, Any]]] = [
        ("perfect", {"kind": "run-times"}),
        *((f"up to x{factor}", {"kind": "factor", "factor": factor}) for factor in (2, 5, 10)),
        ("users' own (model)", {"kind": "tsafrir"}),
    ]
    found: list[Sequence] = []
    for name, options in kinds:
        for number in range(WORKLOADS // 3):
            workload = _lublin(seed=SEED + 300 + number, load=0.9)
            changed = registry.make("transformations", "replace-estimates", workload=workload, **options)
            found += _few(changed, NODES, number, f"limits {name}")
    return found


def _few(workload: Workload, nodes: int, number: int, condition: str) -> list[Sequence]:
    return cut(workload, nodes, f"workload {number}", random_starts(len(workload), _FEW, (SEED, number)), condition)


def _lublin(*, seed: int, load: float, classes: str = "both", nodes: int = NODES) -> Workload:
    workload: Workload = registry.make(
        "models", "lublin", jobs=_ROWS, nodes=nodes, classes=classes, load=load, seed=seed
    )
    return workload
