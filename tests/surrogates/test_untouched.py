"""Every entry point leaves global random numbers, threads, warnings and standard output as it found them."""

from __future__ import annotations

import random
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest

from hpcsim import registry
from hpcsim.surrogates import model_files
from hpcsim.surrogates.features import contexts_table, outcomes_table, with_bursts
from hpcsim.surrogates.sampling import VARIANTS, Sampler
from hpcsim.surrogates.search.domain import Domain
from hpcsim.surrogates.search.front import find_front
from tests.surrogates.conftest import Log

torch = pytest.importorskip("torch")
pytest.importorskip("pytorch_tabnet")
pytest.importorskip("lightgbm")
threadpoolctl = pytest.importorskip("threadpoolctl")

SHORT = {"tabnet": {"epochs": 1}}
PLAIN = ("exact", "grid", "loggrid", "random", "random-shared", "sms-ego")
COUNTS = np.array([1, 4])


@contextmanager
def untouched(capsys: pytest.CaptureFixture[str]) -> Iterator[None]:
    """Set what is global to unusual values, and see that they are the same afterwards."""
    before_threads = torch.get_num_threads()
    torch.set_num_threads(2)
    np.random.seed(7)  # noqa: NPY002 - the global numbers are what is tested
    random.seed(7)
    torch.manual_seed(7)
    capsys.readouterr()
    try:
        before = _globals()
        yield
        for name, value in _globals().items():
            assert value == before[name], f"{name} changed"
        assert capsys.readouterr().out == ""
    finally:
        torch.set_num_threads(before_threads)


def _globals() -> dict[str, object]:
    kind, numbers, *rest = np.random.get_state()  # noqa: NPY002 - as above
    pools = {pool["filepath"]: pool["num_threads"] for pool in threadpoolctl.threadpool_info()}
    return {
        "numpy's numbers": (kind, numbers.tolist(), rest),
        "Python's numbers": random.getstate(),
        "torch's numbers": torch.get_rng_state().tolist(),
        "torch's threads": (torch.get_num_threads(), torch.get_default_dtype(), torch.is_grad_enabled()),
        "thread pools": pools,
        "warnings": list(warnings.filters),
        "numpy's errors": np.geterr(),
    }


@pytest.mark.parametrize("name", registry.names("surrogates"))
def test_surrogates(name: str, log: Log, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    factory = registry.find("surrogates", name)
    factory(**SHORT.get(name, {})).fit(log.train.head(8))  # libraries are loaded, with the pools that they open
    with untouched(capsys):
        model = factory(**SHORT.get(name, {})).fit(log.train.head(120))
        model.predict(log.test.head(2), COUNTS)
        model.at_own_counts(log.test.head(2))
        model.explain()
        model.save(tmp_path)
        model_files.load_any(tmp_path).predict(log.test.head(1), COUNTS)


@pytest.mark.parametrize("inputs", ["embedding", "raw+embedding"])
def test_embeddings(inputs: str, log: Log, capsys: pytest.CaptureFixture[str]) -> None:
    with untouched(capsys):
        model = registry.make("surrogates", "lightgbm", inputs=inputs, epochs=1).fit(log.train.head(120))
        model.predict(log.test.head(2), COUNTS)


@pytest.mark.parametrize("variant", VARIANTS)
def test_samplers(variant: str, log: Log, capsys: pytest.CaptureFixture[str]) -> None:
    with untouched(capsys):
        Sampler(variant, rate=0.3).sample(log.train.head(300))


def test_tables(log: Log, capsys: pytest.CaptureFixture[str]) -> None:
    with untouched(capsys):
        table = outcomes_table(log.workload)
        contexts_table(log.workload, table, rows=np.arange(5))
        with_bursts(table.head(5), log.workload)


@pytest.mark.parametrize("name", PLAIN)
def test_searches_without_torch(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    with untouched(capsys):
        find_front(registry.find("search", name), Domain.of_nodes(np.arange(1, 9)), lambda s: np.hstack([9 / s, s]))


def test_a_trial_of_the_study(log: Log, capsys: pytest.CaptureFixture[str]) -> None:
    order = {"family": "tabnet", "parameters": {"epochs": 1}, "sampler": "difficulty:rate=0.5", "engine": "loggrid"}
    rows = np.arange(400)
    with untouched(capsys):
        trial = registry.find("studies", "node-advisor")(log.workload.select(rows, "400"), test_jobs=3, most_nodes=8)
        trial.run(order | {"budget": 4, "jobs": 2, "seed": 0})
