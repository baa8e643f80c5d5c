"""Stored workloads: the same columns and facts come back, as views of the file."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from hpcsim import Cluster, Workload, make_policy, read, registry, simulate
from hpcsim.errors import ExperimentError
from hpcsim.experiments.workload_store import load, store, stored


def with_odd_columns() -> Workload:
    """Return a workload with a column of each kind that one can have."""
    parts: Any = [("a",), ("a", "b"), ()]
    return Workload.of(
        submit_s=[0, 1, 2],
        run_s=[10.5, 5, 3],
        nodes=np.array([1, 2, 1], dtype=np.int16),
        partitions=parts,
        features=[frozenset({"gpu", "big"}), frozenset(), frozenset({"x"})],
        user_id=np.array(["anna", None, "bo"], dtype=object),
        job_id=np.array(["j1", "j2", "j3"]),
        exclusive=np.array([True, False, True]),
        mixed=np.array([1, "a", None], dtype=object),
    )


@pytest.mark.parametrize("name", ["odd", "poisson", "empty"])
def test_what_was_stored_comes_back(name: str, tmp_path: Path) -> None:
    given = {
        "odd": with_odd_columns,
        "poisson": lambda: registry.make("models", "poisson", jobs=50),
        "empty": lambda: Workload.of(submit_s=[], run_s=[], nodes=[]),
    }[name]()
    facts = store(given, tmp_path / "w.arrow")
    back = load(tmp_path / "w.arrow")
    assert list(back.columns) == list(given.columns)
    assert back.sha256() == given.sha256() == facts.sha256
    assert (back.counted, back.machine_nodes, back.header) == (given.counted, given.machine_nodes, given.header)
    assert back.limits_are_run_times == given.limits_are_run_times
    assert asdict(back.ledger) == asdict(given.ledger)
    assert list(back.jobs()) == list(given.jobs())
    assert stored(tmp_path / "w.arrow") == facts


def test_real_log_gives_the_same_schedule(shared: Path, tmp_path: Path) -> None:
    log = read(shared / "samples" / "head200-KTH-SP2-1996-2.1-cln.swf")
    store(log, tmp_path / "w.arrow")
    back = load(tmp_path / "w.arrow")
    direct, mapped = (simulate(w, Cluster.of_processors(100), make_policy("easy")) for w in (log, back))
    assert direct.jobs.equals(mapped.jobs)
    assert back.provenance["sha256"] == log.provenance["sha256"]
    assert back.ledger.to_dict() == log.ledger.to_dict()


def test_columns_are_views_of_the_file(tmp_path: Path) -> None:
    store(registry.make("models", "poisson", jobs=50), tmp_path / "w.arrow")
    for name, column in load(tmp_path / "w.arrow").columns.items():
        assert not column.flags.owndata, name
        assert not column.flags.writeable, name


def test_guessed_machine_is_no_machine(tmp_path: Path) -> None:
    log = tmp_path / "log.swf"
    log.write_text("1 0 -1 10 4 -1 -1 4 20 -1 1 7 1 1 1 -1 -1 -1\n")
    workload = read(log)
    assert workload.machine_nodes == 4
    assert store(workload, tmp_path / "w.arrow").machine_nodes is None


def test_truncated_or_foreign_file_is_named(tmp_path: Path) -> None:
    path = tmp_path / "w.arrow"
    store(registry.make("models", "poisson", jobs=50), path)
    path.write_bytes(path.read_bytes()[:-100])
    with pytest.raises(ExperimentError, match=r"w.arrow"):
        load(path)
    path.write_bytes(b"")
    with pytest.raises(ExperimentError, match=r"w.arrow"):
        stored(path)
    with pytest.raises(ExperimentError, match=r"none.arrow"):
        load(tmp_path / "none.arrow")
