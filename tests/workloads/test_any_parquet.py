"""No reader of Parquet crashes on any bytes or on columns of any type: a workload, or a sentence with file and line."""

from __future__ import annotations

import decimal
import io
import random
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from hpcsim import Workload, registry
from hpcsim.errors import HpcsimWarning, WorkloadError
from hpcsim.workloads.readers.workload_file import read_workload
from hpcsim.workloads.writers.workload_file import METADATA, write_workload
from tests.workloads.test_any_bytes import mutated
from tests.workloads.test_power_tables import write

NAMES = ("pm100", "adastra", "f-data", "table", "workload")
OPTIONS = {
    "pm100": [{}, {"series": True}, {"mode": "strict"}],
    "f-data": [{}, {"count": "processors"}],
    "table": [{}, {"carry": "note"}],
}
BYTES, TYPES = 400, 400
COLUMNS: tuple[Callable[[int], Any], ...] = (
    *(lambda n, v=v: pa.array([v] * n) for v in ("x", "9" * 400, "2020-13-45", "1e999", b"\xff\x00", True, 1e308)),
    *(
        lambda n, v=v: pa.array([v] * n)
        for v in (np.nan, np.inf, -np.inf, -(2**63), 2**63 - 1, decimal.Decimal("9" * 30))
    ),
    *(
        lambda n, v=v: pa.array([v] * n)
        for v in ([1, None], ["a"], [[1]], [np.nan, -5.0, 1e300], [2**62] * 3, {"a": 1})
    ),
    lambda n: pa.array([2**64 - 1] * n, pa.uint64()),
    *(lambda n, t=t: pa.array([None] * n, t) for t in (pa.int64(), pa.list_(pa.float64()), pa.string(), pa.null())),
    *(lambda n, t=t: pa.array([2**62] * n, t) for t in (pa.timestamp("ns"), pa.timestamp("us"), pa.duration("us"))),
    *(
        lambda n, t=t: pa.array([2**40] * n, t)
        for t in (pa.timestamp("ms", "Europe/Paris"), pa.timestamp("us", "No/Zone"))
    ),
    *(
        lambda n, t=t: pa.array([10] * n, t)
        for t in (pa.date32(), pa.date64(), pa.time32("s"), pa.int8(), pa.float32())
    ),
    lambda n: pa.array([[("k", 1)]] * n, pa.map_(pa.string(), pa.int64())),
    lambda n: pa.array(["é\n|"] * n).dictionary_encode(),
    lambda n: pa.array([[1, 2]] * n, pa.list_(pa.int64(), 2)),
    lambda n: pa.array([], pa.list_(pa.int64())) if not n else pa.array([[]] * n, pa.list_(pa.int64())),
)
"""Columns of n rows such as no log has in that place."""


@pytest.fixture(scope="module")
def files(tmp_path_factory) -> dict[str, bytes]:
    """A small file of each format."""
    path = tmp_path_factory.mktemp("parquet") / "jobs.parquet"
    found = {"pm100": write(path, {}, {"job_id": 2, "node_power_consumption": []}).read_bytes()}
    joules = ({"node_power_consumption": [90_000.0]}, {"job_id": 2, "node_power_consumption": [5.0]})
    found["adastra"] = write(path, *joules, zone=False).read_bytes()
    times = {
        name: pd.to_datetime(["2023-05-01", "2023-05-02"]) + pd.Timedelta(h, "h")
        for h, name in enumerate(("adt", "sdt", "edt"))
    }
    fugaku = {"jid": ["a", "b"], "usr": ["u", "v"], "jnam": ["x", "y"], "elpl": [4000, 9000], "nnuma": [2, 3]}
    fugaku |= {"cnumat": [96, 100], "cnumr": [96, 100], "exit state": ["completed", "failed"]}
    pd.DataFrame(fugaku | times).to_parquet(path)
    found["f-data"] = path.read_bytes()
    plain = {
        "job_id": [1, 2],
        "submit_s": [0, 5],
        "run_s": [5.0, 6.0],
        "nodes": [1, 2],
        "limit_s": [9, 9],
        "note": ["a", "b"],
    }
    pd.DataFrame(plain).to_parquet(path)
    found["table"] = path.read_bytes()
    write_workload(own(), path)
    found["workload"] = path.read_bytes()
    return found


def own() -> Workload:
    series = np.empty(2, dtype=object)
    series[:] = [(1.0, 2.0), ()]
    name = np.array(["a", None], dtype=object)
    return Workload.of(submit_s=[0, 5], run_s=[5, 6], nodes=[1, 2], limit_s=[9, 9], power_series_w=series, name=name)


def survives(name: str, path, **options) -> Workload | None:
    """Read; let nothing through but a workload or one line that names the file and a line."""
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)  # numpy's, which would stand in the terminal
        warnings.simplefilter("ignore", HpcsimWarning)
        try:
            return registry.make("readers", name, path=path, **options)
        except WorkloadError as error:
            told = error
    assert (told.path, "\n" in str(told)) == (str(path), False), told
    assert told.line is not None, told
    return None


def other_bytes(rng: random.Random, content: bytes) -> bytes:
    """Return a file with other bytes: in its pages mostly, since a broken footer is seen at once."""
    if rng.random() < 0.2:
        return mutated(rng, content)
    changed = bytearray(content)
    footer = len(content) - 8 - int.from_bytes(content[-8:-4], "little")
    for _ in range(rng.randint(1, 6)):
        changed[rng.randrange(4, footer if rng.random() < 0.7 else len(content))] = rng.randrange(256)
    return bytes(changed)


def other_types(rng: random.Random, table: pa.Table) -> pa.Table:
    """Return a table of which up to three columns are gone, twice there, or of another type; or which has no rows."""
    for _ in range(rng.choice((1, 1, 1, 2, 3))):
        place, kind = rng.randrange(table.num_columns), rng.random()
        if kind < 0.1 and table.num_columns > 1:
            table = table.remove_column(place)
        elif kind < 0.15:
            table = table.append_column(table.column_names[place], table.column(place))
        elif kind < 0.2:
            table = table.slice(0, 0)
        else:
            table = table.set_column(place, table.column_names[place], rng.choice(COLUMNS)(table.num_rows))
    return table


@pytest.mark.parametrize("name", NAMES)
def test_the_files_themselves_are_read(files, tmp_path, name):
    path = tmp_path / "jobs.parquet"
    path.write_bytes(files[name])
    assert len(survives(name, path)) == 2


def check_bytes(files: dict[str, bytes], path, count: int, seed: int) -> int:
    """Return how many of *count* files with other bytes still held jobs."""
    rng, kept = random.Random(seed), 0
    for number in range(count):
        name = NAMES[number % len(NAMES)]
        path.write_bytes(other_bytes(rng, files[name]))
        kept += bool(survives(name, path, **rng.choice(OPTIONS.get(name, [{}]))))
    return kept


def check_types(files: dict[str, bytes], path, count: int, seed: int) -> int:
    """Return how many of *count* files with other columns still held jobs."""
    rng, kept = random.Random(seed), 0
    for number in range(count):
        name = NAMES[number % len(NAMES)]
        pq.write_table(other_types(rng, pq.read_table(io.BytesIO(files[name]))), path)
        kept += bool(survives(name, path, **rng.choice(OPTIONS.get(name, [{}]))))
    return kept


def test_other_bytes(files, tmp_path):
    assert check_bytes(files, tmp_path / "jobs.parquet", BYTES, seed=20240101) > BYTES / 20


def test_columns_of_any_type(files, tmp_path):
    assert check_types(files, tmp_path / "jobs.parquet", TYPES, seed=20240101) > TYPES / 4


@pytest.mark.nightly
@pytest.mark.parametrize("seed", range(10))
def test_many_more(files, tmp_path, seed):
    check_bytes(files, tmp_path / "jobs.parquet", 5_000, seed)
    check_types(files, tmp_path / "jobs.parquet", 5_000, seed)


@pytest.mark.parametrize("about", [b"[" * 100_000, b"{}", b"7", b'{"version": 1, "counted": "nodes"}', b"\xff"])
def test_what_stands_beside_the_columns_may_be_anything(files, tmp_path, about):
    path = tmp_path / "jobs.parquet"
    pq.write_table(pq.read_table(io.BytesIO(files["workload"])).replace_schema_metadata({METADATA: about}), path)
    with pytest.raises(WorkloadError, match="is not a workload that this version of hpcsim wrote") as caught:
        read_workload(path)
    assert (caught.value.path, caught.value.line) == (str(path), 1)


def test_a_folder_is_no_workload(files, tmp_path):
    (tmp_path / "part.parquet").write_bytes(files["workload"])
    with pytest.raises(WorkloadError):
        read_workload(tmp_path)
