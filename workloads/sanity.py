"""Numbers that are legal and unlikely: what a wrong machine size, unit or date looks like in a log."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from hpcsim.workload import Workload

ENOUGH_JOBS = 100
"""Below this many jobs a load says nothing."""

LOW_LOAD, HIGH_LOAD = 0.02, 1.3
YEAR_S = 365.25 * 86400
LONG_YEARS = 25


def remarks(workload: Workload) -> Iterator[str]:
    """Yield a sentence, cause and remedy, on each thing that is unlikely in *workload*."""
    if not len(workload):
        yield "there are no jobs in it. Check that it is the file you mean."
        return
    submit, nodes = workload.columns["submit_s"], workload.columns["nodes"]
    span = float(submit.max()) - float(submit.min())
    if len(workload) > 1 and span == 0:
        yield f"all {len(workload)} jobs are submitted at {submit[0]} s. Check the submit times."
    if span > LONG_YEARS * YEAR_S:
        yield f"its submit times span {span / YEAR_S:.0f} years. Check for dates read as seconds, or a wrong unit."
    machine = workload.machine_nodes
    if machine is not None:
        yield from _machine_remarks(workload, machine, int(nodes.max()), int(np.count_nonzero(nodes > machine)))


def _machine_remarks(workload: Workload, machine: int, widest: int, too_wide: int) -> Iterator[str]:
    size = f"{machine:,} {workload.counted}"
    if too_wide:
        jobs_ask = "1 job asks" if too_wide == 1 else f"{too_wide:,} jobs ask"
        yield f"{jobs_ask} for more than its {size}, up to {widest:,}. Check the machine's size."
    load = workload.offered_load(machine)
    if len(workload) < ENOUGH_JOBS or np.isnan(load):
        return
    if load < LOW_LOAD or load > HIGH_LOAD:
        offer = f"the jobs offer a load of {load:.3g} to {size}, the widest asks for {widest:,}"
        yield f"{offer}. Check the machine's size."
