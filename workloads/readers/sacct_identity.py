"""Which rows of a ``sacct`` dump are the same job: repeated records, requeued jobs, heterogeneous components."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hpcsim.workloads.readers.byte_columns import codes_of
from hpcsim.workloads.readers.findings import Rule
from hpcsim.workloads.readers.records import Records
from hpcsim.workloads.readers.sacct_table import SacctTable

REPEATED = Rule("repeated-record", "refused", "JobID", "the same record stands above, as where two dumps overlap")
REQUEUED = Rule("requeued-job", "noted", "JobID", "another run of a job that stands above, kept as a job of its own")
COMPONENT = Rule("het-component", "refused", "JobID", "counted with the first component of its heterogeneous job")
MERGED = Rule("het-job-merged", "changed", "NNodes", "components that start together are one job: nodes are summed")

_COMPONENT = re.compile(r"(\d+)\+\d+", re.ASCII)
_SUMMED = ("nodes", "processors")


def mark_repeats(records: Records, table: SacctTable) -> None:
    """Refuse exact repetitions of a record; note further runs of one job."""
    import pandas as pd

    if "jobidraw" in table.columns and is_distinct(records.job_id):
        return
    codes = codes_of(table.columns["jobid"])
    if is_distinct(codes):
        return
    frame = pd.DataFrame({"id": codes, "submit": records.submit_s, "start": records.start_s, "end": records.end_s})
    repeated = frame.duplicated().to_numpy()
    again = frame["id"].where(~repeated, -1).duplicated().to_numpy() & ~repeated
    records.refusals.append((REPEATED, repeated, records.job_id))
    records.changes.append((REQUEUED, again, records.job_id, "kept"))


def is_distinct(ids: NDArray[Any]) -> bool:
    """Tell whether all numbers of a column differ; of texts that is not known, and so False."""
    if ids.dtype.kind not in "iu":
        return False
    return bool((np.diff(ids) > 0).all()) or len(np.unique(ids)) == len(ids)


def fold_components(records: Records, table: SacctTable) -> None:
    """Make one job of the components ``123+0``, ``123+1`` of each run of a heterogeneous job."""
    import pyarrow.compute as pc

    rows = np.flatnonzero(pc.match_substring(table.columns["jobid"], "+").to_numpy())
    if not len(rows):
        return
    groups: dict[tuple[str, float], list[int]] = {}
    repeated = records.refusals[0][1] if records.refusals else np.zeros(len(records), dtype=bool)
    for row, text in zip(rows.tolist(), table.columns["jobid"].take(rows).to_pylist(), strict=True):
        match = _COMPONENT.fullmatch(text.decode("ascii", "replace"))
        if match and not repeated[row]:
            groups.setdefault((match[1], float(np.nan_to_num(records.submit_s[row]))), []).append(row)
    merged, folded = np.zeros(len(records), dtype=bool), np.zeros(len(records), dtype=bool)
    before = records.nodes.copy()
    for first, *others in groups.values():
        if others:
            _merge(records, first, others)
            merged[first] = True
            folded[others] = True
    records.refusals.append((COMPONENT, folded, records.job_id))
    records.changes.append((MERGED, merged, before, records.nodes))


def _merge(records: Records, first: int, others: list[int]) -> None:
    """Put the *others* into the *first*: sizes add up, per-node requests and limits are the largest."""
    rows = [first, *others]
    for name in _SUMMED:
        column = getattr(records, name)
        column[first] = column[rows].sum()
        column[others] = 0
    records.start_s[first] = np.fmin.reduce(records.start_s[rows])
    records.end_s[first] = np.fmax.reduce(records.end_s[rows])
    records.occupancy_s[first] = np.fmax.reduce(records.occupancy_s[rows])
    records.limit_s[first] = np.fmax.reduce(records.limit_s[rows])
    for name in ("cores_per_node", "gpus_per_node", "memory_bytes_per_node"):
        records.more[name][first] = records.more[name][rows].max()
    energy = records.more["recorded_energy_j"]
    energy[first] = energy[rows].sum() if np.isfinite(energy[rows]).any() else np.nan
