"""Collects records one by one, for formats that are read line by line, and turns them into columns."""

from __future__ import annotations

import math
from array import array
from typing import Any

import numpy as np

from hpcsim.workloads.readers.findings import Findings
from hpcsim.workloads.readers.records import Coded, Column, Ending, Records
from hpcsim.workloads.swf_fields import LARGEST, MISSING

_TIMES = ("submit_s", "start_s", "end_s", "limit_s", "run_s")
_COUNTS = ("nodes", "processors")
_PER_NODE = ("cores_per_node", "gpus_per_node", "memory_bytes_per_node")
_NUMBERS = (*_PER_NODE, "recorded_energy_j", "recorded_exit_status")
_TEXTS = ("user_id", "group_id", "account", "partitions", "qos", "name", "recorded_state")


class RecordRows:
    """Rows of records; what a row does not name is not known."""

    def __init__(self) -> None:
        self._lines = array("q")
        self._ids: list[int | str] = []
        self._endings = array("b")
        self._times = {name: array("d") for name in _TIMES}
        self._counts = {name: array("q") for name in _COUNTS}
        self._numbers: dict[str, list[float]] = {name: [] for name in _NUMBERS}
        self._texts: dict[str, list[Any]] = {name: [] for name in _TEXTS}

    def __len__(self) -> int:
        return len(self._lines)

    def add(self, line: int, job_id: int | str, ending: Ending, **values: Any) -> None:
        """Add one record: times in seconds, counts of the whole job, requests per node, texts; None is not known.

        Without ``run_s`` the run time is end less start.
        """
        self._lines.append(line)
        self._ids.append(job_id)
        self._endings.append(ending)
        for name, times in self._times.items():
            value = values.get(name)
            times.append(math.nan if value is None else value)
        for name, counts in self._counts.items():
            counts.append(min(int(values.get(name) or 0), LARGEST))
        for name, numbers in self._numbers.items():
            value = values.get(name)
            nothing = 0 if name in _PER_NODE else math.nan
            numbers.append(nothing if value is None else min(value, LARGEST))
        for name, texts in self._texts.items():
            texts.append(values.get(name) or None)

    def records(self, findings: Findings, titles: dict[str, str]) -> Records:
        """Return the rows as columns."""
        times = {name: np.array(values, dtype=np.float64) for name, values in self._times.items()}
        run = times.pop("run_s")
        counts = {name: np.array(values, dtype=np.int64) for name, values in self._counts.items()}
        return Records(
            lines=np.array(self._lines, dtype=np.int64),
            job_id=_ids(self._ids),
            submit_s=times["submit_s"],
            start_s=times["start_s"],
            end_s=times["end_s"],
            limit_s=times["limit_s"],
            nodes=counts["nodes"],
            processors=counts["processors"],
            ending=np.array(self._endings, dtype=np.int8),
            findings=findings,
            titles=titles,
            run_s=np.where(np.isnan(run), times["end_s"] - times["start_s"], run),
            more={name: _number_column(name, values) for name, values in self._numbers.items()},
            coded={name: Coded.of(values) for name, values in self._texts.items()},
        )


def _number_column(name: str, values: list[float]) -> Column:
    column = np.array(values, dtype=np.float64)
    if name in _PER_NODE:
        return np.ceil(column).astype(np.int64)
    return np.where(np.isnan(column), MISSING, column) if name == "recorded_exit_status" else column


def _ids(ids: list[int | str]) -> Column:
    if all(isinstance(job_id, int) for job_id in ids):
        return np.array(ids, dtype=np.int64)
    column = np.empty(len(ids), dtype=object)
    column[:] = [str(job_id) for job_id in ids]
    return column
