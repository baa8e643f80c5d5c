"""What the fields of a ``sacct`` dump say about each job: instants, sizes, states, in our units."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hpcsim.workloads.readers.byte_columns import coded, encoded, is_blank, numbers, parsed, text_codes, times
from hpcsim.workloads.readers.clock import Instants, instants
from hpcsim.workloads.readers.quantities_text import amount, duration_s, limit_s
from hpcsim.workloads.readers.records import Coded, Ending
from hpcsim.workloads.readers.sacct_lines import INNER_DELIMITER, INNER_NEWLINE
from hpcsim.workloads.readers.sacct_table import SacctTable
from hpcsim.workloads.readers.tres import Resources, parse_gres, parse_requested_memory, parse_tres

Column = NDArray[Any]

_ENERGY = r"(^|,)energy=[^,]*"
_FAILED = ("FAILED", "TIMEOUT", "NODE_FAIL", "BOOT_FAIL", "OUT_OF_MEMORY", "DEADLINE", "LAUNCH_FAILED")
_CANCELLED = ("CANCELLED", "PREEMPTED", "REVOKED", "REQUEUED")
_RUNNING = ("RUNNING", "SUSPENDED", "COMPLETING", "RESIZING", "STOPPED", "SIGNALING", "STAGE_OUT")
_WAITING = ("PENDING", "CONFIGURING", "REQUEUE_FED", "REQUEUE_HOLD", "SPECIAL_EXIT", "RESV_DEL_HOLD", "POWER_UP_NODE")
ENDINGS = (
    {"COMPLETED": Ending.COMPLETED}
    | dict.fromkeys(_FAILED, Ending.FAILED)
    | dict.fromkeys(_CANCELLED, Ending.CANCELLED)
    | dict.fromkeys(_RUNNING, Ending.RUNNING)
    | dict.fromkeys(_WAITING, Ending.WAITING)
)
"""What each of Slurm's job states means for a simulation."""

_SHORT = {
    "BF": "BOOT_FAIL",
    "CA": "CANCELLED",
    "CD": "COMPLETED",
    "DL": "DEADLINE",
    "F": "FAILED",
    "NF": "NODE_FAIL",
    "OOM": "OUT_OF_MEMORY",
    "PD": "PENDING",
    "PR": "PREEMPTED",
    "R": "RUNNING",
    "RQ": "REQUEUED",
    "RS": "RESIZING",
    "RV": "REVOKED",
    "S": "SUSPENDED",
    "TO": "TIMEOUT",
}
_MARKS = {INNER_DELIMITER.decode(): "|", INNER_NEWLINE.decode(): "\n"}


@dataclass(slots=True)
class Sizes:
    """Whole-job sizes, NaN where the dump does not say."""

    nodes: Column
    processors: Column
    cores_asked: Column
    gpus: Column
    memory_bytes: Column


class SacctValues:
    """Fields of one dump as values; a field that it has not is all unknown."""

    def __init__(self, table: SacctTable, zone: str) -> None:
        self._table = table
        self._zone = zone
        self._unknown = np.full(len(table), np.nan)

    def has(self, name: str) -> bool:
        """Whether the dump has the field."""
        return name in self._table.columns

    def instants(self, name: str) -> Instants:
        """Return a time field as epoch seconds."""
        if not self.has(name):
            none = np.zeros(len(self._unknown), dtype=bool)
            return Instants(self._unknown.copy(), none, none)
        clock, is_epoch = times(self._table.columns[name])
        if not is_epoch.any():
            return instants(clock, self._zone)
        told = instants(np.where(is_epoch, np.nan, clock), self._zone)
        return Instants(np.where(is_epoch, clock, told.seconds), told.is_repeated, told.is_missing)

    def elapsed_s(self) -> Column:
        """Return ElapsedRaw, else Elapsed, in seconds."""
        if self.has("elapsedraw"):
            return numbers(self._table.columns["elapsedraw"], _number)
        return self._parsed("elapsed", duration_s)

    def limit_s(self) -> Column:
        """Return TimelimitRaw, else Timelimit, in seconds; infinite where there is none."""
        name = "timelimitraw" if self.has("timelimitraw") else "timelimit"
        return self._parsed(name, limit_s)

    def states(self) -> Coded:
        """Return the state of each job by its full name."""
        return coded(self._table.columns["state"], _state) if self.has("state") else Coded.of([None] * len(self._table))

    def text(self, name: str) -> Coded | None:
        """Return a field as texts, blank ones not known; None where the dump has not the field."""
        return text_codes(self._table.columns[name], _MARKS) if self.has(name) else None

    def partitions(self) -> Coded | None:
        """Return the partitions that each job named, as tuples."""
        if not self.has("partition"):
            return None
        return coded(self._table.columns["partition"], lambda text: tuple(filter(None, text.strip().split(","))))

    def sizes(self) -> Sizes:
        """Return nodes, processors, requested cores, GPUs and memory of each whole job.

        What was requested comes first, by ReqTRES where it says anything, else by the fields of their
        own, else by AllocTRES, which is only looked at where it is needed.
        """
        asked = self._resources("reqtres", np.ones(len(self._table), dtype=bool))
        silent = np.isnan(asked["cores"]) & np.isnan(asked["nodes"]) & np.isnan(asked["memory_bytes"])
        nodes, processors, cores = self._count("nnodes"), self._count("ncpus"), self._count("reqcpus")
        given = self._resources("alloctres", silent | np.isnan(nodes) | np.isnan(processors))
        nodes = _first(nodes, given["nodes"], asked["nodes"])
        processors = _first(processors, given["cores"], asked["cores"], cores)
        old_gpus = [self._parsed(name, parse_gres) * nodes for name in ("reqgres", "allocgres") if self.has(name)]
        return Sizes(
            nodes,
            processors,
            _first(cores, asked["cores"], processors),
            _first(asked["gpus"], np.where(silent, given["gpus"], np.nan), *old_gpus),
            _first(asked["memory_bytes"], self._requested_memory(nodes, processors), given["memory_bytes"]),
        )

    def energy_j(self) -> Column:
        """Return ConsumedEnergyRaw, else ConsumedEnergy, else the energy in AllocTRES; NaN where not measured."""
        if self.has("consumedenergyraw"):
            energy = numbers(self._table.columns["consumedenergyraw"], _number)
        elif self.has("consumedenergy"):
            energy = self._parsed("consumedenergy", lambda text: amount(text, 1000))
        else:
            energy = self._parsed("alloctres", _energy_of)
        return np.where(energy > 0, energy, np.nan)

    def is_unallocated(self) -> Column:
        """Tell which jobs were given nothing, by AllocTRES, else by NodeList; all, where the dump has neither."""
        if self.has("alloctres"):
            return is_blank(self._table.columns["alloctres"])
        if self.has("nodelist"):
            given = self._parsed("nodelist", lambda text: float(text.strip() not in {"", "None assigned"}))
            return np.equal(given, 0)
        return np.ones(len(self._table), dtype=bool)

    def _parsed(self, name: str, parse: Callable[[str], float | None]) -> Column:
        return parsed(self._table.columns[name], parse) if self.has(name) else self._unknown

    def _count(self, name: str) -> Column:
        """Return a count, ``1.5K`` being 1536; 0 says nothing."""
        if not self.has(name):
            return self._unknown
        count = np.ceil(numbers(self._table.columns[name], amount))
        return np.where(count > 0, count, np.nan)

    def _resources(self, name: str, rows: NDArray[np.bool_]) -> dict[str, Column]:
        """Return what a TRES field names in some *rows*, NaN in the others.

        Energy differs in each job, so it is cut out before texts are compared.
        """
        import pyarrow as pa
        import pyarrow.compute as pc

        fields = Resources.__slots__
        if not self.has(name) or not rows.any():
            return dict.fromkeys(fields, self._unknown)
        column = self._table.columns[name]
        codes, texts = encoded(pc.replace_substring_regex(column.filter(pa.array(rows)), _ENERGY, ""))
        found = list(map(parse_tres, texts))
        columns = {}
        for field in fields:
            columns[field] = self._unknown.copy()
            columns[field][rows] = np.array([_float(getattr(each, field)) for each in found], dtype=np.float64)[codes]
        return columns

    def _requested_memory(self, nodes: Column, processors: Column) -> Column:
        if not self.has("reqmem"):
            return self._unknown
        codes, texts = encoded(self._table.columns["reqmem"])
        pairs = [parse_requested_memory(text) or (np.nan, np.nan) for text in texts]
        sizes: Column = np.array(pairs, dtype=np.float64).reshape(-1, 2)[codes]
        total: Column = sizes[:, 0] * processors + sizes[:, 1] * nodes
        return total


def _first(*columns: Column) -> Column:
    """Return, row by row, the first of *columns* that is known."""
    result = columns[0]
    for column in columns[1:]:
        result = np.where(np.isnan(result), column, result)
    return result


def _float(value: int | None) -> float:
    return np.nan if value is None else float(value)


def _number(text: str) -> float | None:
    return amount(text, 1000)


def _energy_of(text: str) -> float | None:
    return next((amount(part[7:], 1000) for part in text.split(",") if part.startswith("energy=")), None)


def _state(text: str) -> str | None:
    """Return the state's full name: ``CANCELLED by 1000`` and the cut ``CANCELLED+`` are CANCELLED."""
    word = text.strip().split(" ", 1)[0].upper()
    return _SHORT.get(word.removesuffix("+"), word.removesuffix("+")) or None
