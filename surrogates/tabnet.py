"""TabNet behind one adapter: fit, embed, predict, explain, save, load.

The only module that knows the package ``pytorch-tabnet`` (S. O. Arik and T. Pfister, TabNet, AAAI 2021), which is no
longer maintained; its fork ``pytorch-tabnet2`` has the same import name and can take its place. What it would do to
its surroundings it does not: torch runs on one thread and gets its threads back, standard output stays silent, the
global random numbers of torch and NumPy are put back.
"""

from __future__ import annotations

import io
import random
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout
from dataclasses import dataclass
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import NDArray

from hpcsim.errors import InvalidArgument, MissingExtra, closest

Floats = NDArray[np.float64]
How = Literal["sum", "concat"]

GHOST_BATCH = 128
"""Rows that share a batch normalisation; the library's default, which learns most in an epoch."""

ROWS_AT_ONCE = 16_384
GAMMA = 1.3


@dataclass(frozen=True, slots=True, kw_only=True)
class Architecture:
    """Size and training of a TabNet.

    Attributes:
        width: of decision and attention layers (n_d and n_a).
        steps: decision steps.
        epochs: passes over the data.
        batch: rows of a step of the optimiser.
        learning_rate: of Adam.
    """

    width: int = 8
    steps: int = 3
    epochs: int = 20
    batch: int = 1024
    learning_rate: float = 0.02

    def __post_init__(self) -> None:
        for name, least in (("width", 1), ("steps", 1), ("epochs", 1), ("batch", 2)):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int) or value < least:
                raise InvalidArgument(f"The {name} of a TabNet is {value}.", f"Give a whole number from {least}.")
        if not 0 < self.learning_rate < float("inf"):
            raise InvalidArgument(f"The learning rate is {self.learning_rate}.", "Give a number above 0.")


class TabNet:
    """A regressor of several targets at once, and the embedding inside it.

    Args:
        architecture: its size and training.
        seed: of initial weights and of the order of rows.
    """

    def __init__(self, architecture: Architecture | None = None, *, seed: int = 0) -> None:
        self.architecture = architecture or Architecture()
        self.seed = seed

    def fit(self, features: Floats, targets: Floats, weight: Floats | None = None) -> Self:
        """Learn *targets* [rows, targets] of *features* [rows, columns]; both are standardised, NaN is the mean.

        *weight* [rows] is how often a row is drawn: the library resamples, it does not weight its loss.

        Raises:
            MissingExtra: torch or pytorch-tabnet is not installed.
        """
        self._in, self._out = _scale(features), _scale(targets)
        rows, wanted = _scaled(features, self._in), _scaled(targets, self._out)
        if len(rows) == 1:  # batch normalisation needs two
            rows, wanted = np.repeat(rows, 2, axis=0), np.repeat(wanted, 2, axis=0)
            weight = None
        size = self.architecture
        with undisturbed():
            model = _package().TabNetRegressor(
                n_d=size.width,
                n_a=size.width,
                n_steps=size.steps,
                gamma=GAMMA,
                seed=self.seed,
                verbose=0,
                device_name="cpu",
                optimizer_params={"lr": size.learning_rate},
            )
            batch = batch_of(len(rows), size.batch)
            model.fit(
                rows,
                wanted,
                weights=0 if weight is None else np.asarray(weight, dtype=float),
                max_epochs=size.epochs,
                batch_size=batch,
                virtual_batch_size=min(GHOST_BATCH, batch),
                drop_last=False,
                pin_memory=False,
                compute_importance=False,
            )
            self._network = model.network.eval()
        return self

    def predict(self, features: Floats) -> Floats:
        """Return the targets of *features*: shape [rows, targets]."""
        mean, deviation = self._out
        parts = [self._network(part)[0].numpy() for part in self._batches(features)]
        return np.asarray(np.concatenate(parts).astype(float) * deviation + mean)

    def embed(self, features: Floats, how: How = "sum") -> Floats:
        """Return what the last layer reads: shape [rows, width], or [rows, steps * width] of each step by itself.

        ``sum`` times `head` is the prediction, standardised.

        Raises:
            InvalidArgument: *how* is neither ``sum`` nor ``concat``.
        """
        if how not in {"sum", "concat"}:
            raise InvalidArgument(
                f"There is no embedding '{how}'.{closest(how, ('sum', 'concat'))}", "Give sum or concat."
            )
        parts = []
        for part in self._batches(features):
            steps = self._network.tabnet.encoder(self._network.embedder(part))[0]
            stacked = np.stack([step.numpy() for step in steps], axis=1)
            parts.append(stacked.sum(axis=1) if how == "sum" else stacked.reshape(len(stacked), -1))
        return np.asarray(np.concatenate(parts).astype(float))

    @property
    def head(self) -> Floats:
        """Weights of the last layer: shape [width, targets]."""
        return np.asarray(self._network.tabnet.final_mapping.weight.detach().numpy().T.astype(float))

    def explain(self, features: Floats) -> tuple[Floats, Floats]:
        """Return the importance of each feature for each row [rows, columns], and masks [steps, rows, columns]."""
        importance, masks = [], []
        for part in self._batches(features):
            total, steps = self._network.forward_masks(part)
            importance.append(total.numpy())
            masks.append(np.stack([steps[number].numpy() for number in range(self.architecture.steps)]))
        return np.concatenate(importance).astype(float), np.concatenate(masks, axis=1).astype(float)

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return everything learned as named arrays, for safetensors."""
        weights = {f"network.{name}": value.detach().numpy() for name, value in self._network.state_dict().items()}
        scales = {
            "in.mean": self._in[0],
            "in.deviation": self._in[1],
            "out.mean": self._out[0],
            "out.deviation": self._out[1],
        }
        return weights | scales

    @classmethod
    def of_arrays(cls, arrays: dict[str, NDArray[Any]], architecture: Architecture, seed: int = 0) -> Self:
        """Return the TabNet of what `arrays` returned."""
        model = cls(architecture, seed=seed)
        model._in = arrays["in.mean"], arrays["in.deviation"]
        model._out = arrays["out.mean"], arrays["out.deviation"]
        with undisturbed() as torch:
            from pytorch_tabnet.tab_network import TabNet as Network

            columns = len(model._in[0])
            model._network = Network(
                columns,
                len(model._out[0]),
                n_d=architecture.width,
                n_a=architecture.width,
                n_steps=architecture.steps,
                gamma=GAMMA,
                group_attention_matrix=torch.eye(columns),
            )
            prefix = "network."
            named = {name.removeprefix(prefix): value for name, value in arrays.items() if name.startswith(prefix)}
            model._network.load_state_dict({name: torch.from_numpy(value.copy()) for name, value in named.items()})
            model._network.eval()
        return model

    def _batches(self, features: Floats) -> Iterator[Any]:
        """Yield *features*, scaled, some rows at a time, as tensors, without gradients."""
        rows = _scaled(features, self._in)
        with undisturbed() as torch, torch.no_grad():
            for first in range(0, max(1, len(rows)), ROWS_AT_ONCE):
                yield torch.from_numpy(rows[first : first + ROWS_AT_ONCE])


@contextmanager
def undisturbed() -> Iterator[Any]:
    """Let torch work, on one thread, silently; put its threads and all global random numbers back. Yields torch.

    Raises:
        MissingExtra: torch is not installed.
    """
    try:
        import torch
    except ImportError as error:
        raise _missing("torch") from error
    threads, state = torch.get_num_threads(), torch.get_rng_state()
    numbers, python = np.random.get_state(), random.getstate()  # noqa: NPY002 - the library seeds this one
    torch.set_num_threads(1)
    try:
        with redirect_stdout(io.StringIO()), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield torch
    finally:
        torch.set_num_threads(threads)
        torch.set_rng_state(state)
        np.random.set_state(numbers)  # noqa: NPY002 - likewise
        random.setstate(python)


def batch_of(rows: int, most: int) -> int:
    """Return a batch size up to *most* that leaves no last batch of one row, which batch normalisation cannot take."""
    size = min(rows, most)
    while rows % size == 1 and size > 2:
        size -= 1
    return size if rows % size != 1 else rows


def _package() -> Any:
    try:
        from pytorch_tabnet import tab_model
    except ImportError as error:
        raise _missing("pytorch-tabnet") from error
    return tab_model


def _missing(package: str) -> MissingExtra:
    return MissingExtra(
        f"TabNet needs the package '{package}', which is not installed.", "Type: pip install 'hpcsim-des[mobo]'."
    )


def _scale(values: Floats) -> tuple[Floats, Floats]:
    """Return mean and deviation of each column; 0 and 1 where nothing is known or nothing varies."""
    known = np.isfinite(values)
    count = np.maximum(known.sum(axis=0), 1)
    mean = np.where(known, values, 0.0).sum(axis=0) / count
    deviation = np.sqrt((np.where(known, values - mean, 0.0) ** 2).sum(axis=0) / count)
    return mean, np.where(deviation > 1e-12 * np.maximum(np.abs(mean), 1.0), deviation, 1.0)


def _scaled(values: Floats, scale: tuple[Floats, Floats]) -> NDArray[np.float32]:
    scaled = (values - scale[0]) / scale[1]
    return np.where(np.isfinite(scaled), scaled, 0.0).astype(np.float32)
