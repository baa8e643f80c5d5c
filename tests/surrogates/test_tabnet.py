"""TabNet's adapter: what the embedding is, what it leaves alone, and the traps of the library."""

from __future__ import annotations

import random

import numpy as np
import pytest

from hpcsim.errors import InvalidArgument

torch = pytest.importorskip("torch")
pytest.importorskip("pytorch_tabnet")

from hpcsim.surrogates.features.columns import CONTEXT, COUNTED  # noqa: E402 - after the packages are known to be there
from hpcsim.surrogates.tabnet import Architecture, TabNet, batch_of, undisturbed  # noqa: E402
from hpcsim.surrogates.tabnet_inputs import TreeInputs  # noqa: E402
from tests.surrogates.conftest import Log  # noqa: E402

SMALL = Architecture(epochs=3, batch=64)


@pytest.fixture(scope="module")
def rows() -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    features = rng.normal(size=(257, 6))
    features[::7, 2] = np.nan
    features[:, 5] = np.nan
    targets = np.stack([np.nan_to_num(features[:, 0]) * 3 + 7, 1e4 * features[:, 1]], axis=1)
    return features, targets


@pytest.fixture(scope="module")
def tabnet(rows: tuple[np.ndarray, np.ndarray]) -> TabNet:
    return TabNet(SMALL, seed=1).fit(*rows)


def test_embedding_times_head_is_the_prediction(tabnet: TabNet, rows: tuple[np.ndarray, np.ndarray]) -> None:
    features, targets = rows
    standardised = (tabnet.predict(features) - targets.mean(axis=0)) / targets.std(axis=0)
    assert tabnet.embed(features) @ tabnet.head == pytest.approx(standardised, abs=1e-4)
    assert tabnet.head.shape == (8, 2)


def test_concatenated_steps_add_up_to_the_sum(tabnet: TabNet, rows: tuple[np.ndarray, np.ndarray]) -> None:
    steps = tabnet.embed(rows[0], "concat")
    assert steps.shape == (257, 24)
    assert steps.reshape(257, 3, 8).sum(axis=1) == pytest.approx(tabnet.embed(rows[0]), abs=1e-5)
    assert steps.min() >= 0
    with pytest.raises(InvalidArgument, match="no embedding 'mean'"):
        tabnet.embed(rows[0], "mean")


def test_masks_are_shares_of_attention(tabnet: TabNet, rows: tuple[np.ndarray, np.ndarray]) -> None:
    importance, masks = tabnet.explain(rows[0])
    assert importance.shape == (257, 6)
    assert masks.shape == (3, 257, 6)
    assert masks.sum(axis=2) == pytest.approx(1.0, abs=1e-4)


def test_nothing_around_it_is_disturbed(rows: tuple[np.ndarray, np.ndarray], capfd: pytest.CaptureFixture[str]) -> None:
    torch.set_num_threads(2)
    torch.manual_seed(7)
    np.random.seed(7)  # noqa: NPY002 - the global numbers are what is tested
    random.seed(7)
    expected = torch.rand(3), np.random.rand(3), random.random()  # noqa: NPY002 - likewise
    torch.manual_seed(7)
    np.random.seed(7)  # noqa: NPY002 - the global numbers are what is tested
    random.seed(7)
    try:
        model = TabNet(SMALL, seed=1).fit(*rows)
        model.predict(rows[0])
        model.explain(rows[0])
        assert torch.get_num_threads() == 2
    finally:
        torch.set_num_threads(1)
    assert torch.equal(torch.rand(3), expected[0])
    assert np.array_equal(np.random.rand(3), expected[1])  # noqa: NPY002 - likewise
    assert random.random() == expected[2]
    assert capfd.readouterr().out == ""


def test_one_thread_while_it_works() -> None:
    with undisturbed() as library:
        assert library.get_num_threads() == 1


def test_the_same_seed_gives_the_same_network(tabnet: TabNet, rows: tuple[np.ndarray, np.ndarray]) -> None:
    again = TabNet(SMALL, seed=1).fit(*rows)
    assert again.predict(rows[0]) == pytest.approx(tabnet.predict(rows[0]), rel=1e-5)
    other = TabNet(SMALL, seed=2).fit(*rows)
    assert not np.allclose(other.predict(rows[0]), tabnet.predict(rows[0]))


def test_arrays_rebuild_the_network(tabnet: TabNet, rows: tuple[np.ndarray, np.ndarray]) -> None:
    again = TabNet.of_arrays(tabnet.arrays(), SMALL)
    assert np.array_equal(again.predict(rows[0]), tabnet.predict(rows[0]))


@pytest.mark.parametrize(
    ("jobs", "most"), [(1025, 1024), (1, 1024), (2, 1024), (3, 2), (129, 64), (4097, 1024), (65, 64)]
)
def test_no_last_batch_has_one_row(jobs: int, most: int) -> None:
    size = batch_of(jobs, most)
    assert jobs == 1 or jobs % size != 1
    assert size >= min(jobs, 2)


@pytest.mark.parametrize("jobs", [1, 2, 3, 65])
def test_few_rows_and_constant_targets_are_learned(jobs: int) -> None:
    model = TabNet(SMALL).fit(np.ones((jobs, 4)), np.full((jobs, 2), 5.0))
    assert model.predict(np.ones((2, 4))) == pytest.approx(5.0, abs=5)
    assert model.predict(np.zeros((0, 4))).shape == (0, 2)


def test_architectures_that_make_no_sense_are_refused() -> None:
    with pytest.raises(InvalidArgument, match="epochs of a TabNet is 0"):
        Architecture(epochs=0)
    with pytest.raises(InvalidArgument, match="learning rate"):
        Architecture(learning_rate=float("nan"))


def inputs_of(log: Log, form: str, inputs: str = "embedding") -> TreeInputs:
    made = TreeInputs(inputs=inputs, form=form, architecture=Architecture(epochs=1))
    table = log.train.head(300)
    from hpcsim.surrogates.features.matrix import Matrix

    rows = Matrix.of(table, CONTEXT, "contexts")
    chosen = made.fit(rows, np.log(rows.take(("run_s", "power_w"))), None, cross_fit=True)
    assert 0.3 < chosen.mean() < 0.7  # the trees learn from the other half
    return made


def test_embeddings_of_contexts_do_not_change_with_the_count_and_are_kept(log: Log) -> None:
    from hpcsim.surrogates.features.matrix import Matrix

    made = inputs_of(log, "context")
    jobs = Matrix.of(log.test.head(5), CONTEXT, "contexts")
    found = made.rows(jobs, np.array([1.0, 8.0])).reshape(5, 2, -1)
    assert found.shape[2] == len(made.names) == len(COUNTED) + 8
    assert np.array_equal(found[:, 0, 5:], found[:, 1, 5:])
    assert not np.array_equal(found[:, 0, :5], found[:, 1, :5])
    assert made.tabnet is not None
    made.tabnet.embed = None  # type: ignore[method-assign,assignment] - a second pass would call it
    assert np.array_equal(made.rows(jobs, np.array([1.0, 8.0])).reshape(5, 2, -1), found)


def test_the_papers_form_embeds_every_count(log: Log) -> None:
    from hpcsim.surrogates.features.matrix import Matrix

    made = inputs_of(log, "paper")
    jobs = Matrix.of(log.test.head(5), CONTEXT, "contexts")
    found = made.rows(jobs, np.array([1.0, 64.0])).reshape(5, 2, -1)
    assert found.shape[2] == 8
    assert not np.allclose(found[:, 0], found[:, 1])


@pytest.mark.parametrize("cross_fit", [True, False])
def test_tabnet_and_trees_share_the_rows_between_them(
    log: Log, monkeypatch: pytest.MonkeyPatch, cross_fit: bool
) -> None:
    """What TabNet was fitted on, the trees are not given, and between them nothing is lost; or both get everything."""
    from hpcsim.surrogates.features.matrix import Matrix

    seen: list[np.ndarray] = []
    monkeypatch.setattr(TabNet, "fit", lambda self, features, targets, weight: seen.append(features))
    rows = Matrix.of(log.train.head(200), CONTEXT, "contexts")
    made = TreeInputs(inputs="raw+embedding", architecture=Architecture(epochs=1))
    chosen = made.fit(rows, np.log(rows.take(("run_s", "power_w"))), None, cross_fit=cross_fit)
    features = rows.take(CONTEXT)
    assert np.array_equal(seen[0], features[~chosen] if cross_fit else features, equal_nan=True)
    assert chosen.all() == (not cross_fit)
