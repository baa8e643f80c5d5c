"""What others have published on the ten sequences, to stand beside what is measured here."""

from __future__ import annotations

from typing import NamedTuple

SOURCE = "Zhang et al., RLScheduler, SC 2020, tables in the repository DIR-LAB/deep-batch-scheduler"


class Published(NamedTuple):
    """A figure that was published, not measured here: mean bounded slowdown over the ten sequences."""

    policy: str
    mean_bounded_slowdown: float
    utilisation: float


_POLICIES = ("fcfs", "wfp3", "unicep", "sjf", "f1", "RLScheduler")
_INVERTED = {"wfp3", "unicep"}
"""Published with negative waits, by a defect: the start of a waiting job is -1 there."""

_SLOWDOWNS = {
    ("lublin-1", "none"): (7273.77, 19753.53, 22274.74, 277.35, 258.37, 254.67),
    ("sdsc-sp2", "none"): (1727.54, 3000.88, 1848.45, 2680.55, 1232.06, 466.44),
    ("hpc2n", "none"): (297.18, 426.99, 609.77, 157.71, 118.01, 117.01),
    ("lublin-2", "none"): (7842.47, 9523.18, 11265.31, 787.89, 698.34, 724.51),
    ("lublin-1", "backfill"): (235.82, 133.87, 307.23, 73.31, 75.07, 58.64),
    ("sdsc-sp2", "backfill"): (1595.12, 1083.12, 548.01, 2167.84, 1098.22, 397.82),
    ("hpc2n", "backfill"): (127.38, 97.39, 175.12, 122.04, 71.95, 86.14),
    ("lublin-2", "backfill"): (247.61, 318.35, 379.59, 91.99, 148.25, 118.79),
}
_UTILISATIONS = {
    ("lublin-1", "none"): (0.657, 0.747, 0.691, 0.762, 0.816, 0.714),
    ("sdsc-sp2", "none"): (0.670, 0.658, 0.688, 0.645, 0.674, 0.671),
    ("hpc2n", "none"): (0.638, 0.636, 0.636, 0.640, 0.637, 0.640),
    ("lublin-2", "none"): (0.404, 0.543, 0.510, 0.562, 0.478, 0.562),
    ("lublin-1", "backfill"): (0.868, 0.864, 0.883, 0.778, 0.840, 0.850),
    ("sdsc-sp2", "backfill"): (0.682, 0.681, 0.706, 0.661, 0.677, 0.707),
    ("hpc2n", "backfill"): (0.639, 0.637, 0.638, 0.641, 0.638, 0.642),
    ("lublin-2", "backfill"): (0.587, 0.583, 0.587, 0.593, 0.552, 0.593),
}


def published_on(suite: str, mode: str) -> list[Published]:
    """Return what was published on *suite*, one of ``rls-...``, in the order of the source; else nothing.

    WFP3 and UNICEP are called ``wfp3 (inverted wait)``: `hpcsim.policies.scores.WaitingScore` says why.
    """
    log = (suite.removeprefix("rls-"), mode)
    if not suite.startswith("rls-") or log not in _SLOWDOWNS:
        return []
    names = [f"{policy} (inverted wait)" if policy in _INVERTED else policy for policy in _POLICIES]
    return [Published(*row) for row in zip(names, _SLOWDOWNS[log], _UTILISATIONS[log], strict=True)]
