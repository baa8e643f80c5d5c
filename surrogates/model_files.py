"""Saved surrogates: a folder with a card in JSON, tables in safetensors, boosters in their own text; no pickle.

Nothing in such a folder is run: the card names the surrogate by its registry name, and loading accepts only the
files that the card lists, with the hashes that it lists, made for the features that this version has.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hpcsim import registry
from hpcsim.errors import HpcsimError, ResultError
from hpcsim.surrogate import Surrogate
from hpcsim.surrogates.features.columns import CONTEXT_COLUMNS, COUNTED, FEATURES, schema_hash

CARD = "card.json"
TABLES = "tables.safetensors"
OWN_FILES = ("base.txt", "residual.txt", "run_s.model", "power_w.model")
"""Files of the surrogates of this package, known also where a save was cut off before its card."""

FORMAT = 1
PACKAGES = ("hpcsim-des", "numpy", "lightgbm", "xgboost-cpu", "scikit-learn", "skops", "pytorch-tabnet", "torch")


@dataclass(frozen=True, eq=False)
class State:
    """What a model has learned.

    Attributes:
        arrays: name -> array.
        files: name -> bytes of a model in its own format.
        facts: what JSON can hold.
    """

    arrays: Mapping[str, NDArray[Any]] = field(default_factory=dict)
    files: Mapping[str, bytes] = field(default_factory=dict)
    facts: Mapping[str, Any] = field(default_factory=dict)


def write(
    folder: Path, model: Surrogate, parameters: Mapping[str, Any], facts: Mapping[str, Any], state: State
) -> None:
    """Write *model* into *folder*, in place of one saved there before; the card last: a folder with one is whole.

    Raises:
        ResultError: the folder holds anything but a saved surrogate, or cannot be written.
    """
    from safetensors.numpy import save

    older = check_replaceable(folder)
    files = dict(state.files)
    if state.arrays:
        files[TABLES] = save({name: np.ascontiguousarray(array) for name, array in state.arrays.items()})
    card = {
        "format": FORMAT,
        "surrogate": registered_name(type(model)),
        "parameters": dict(parameters),
        "features": list(FEATURES),
        "moves_with_nodes": list(COUNTED),
        "schema": schema_hash(CONTEXT_COLUMNS),
        **facts,
        "learned": dict(state.facts),
        "versions": _versions(),
        "files": {name: hashlib.sha256(content).hexdigest() for name, content in sorted(files.items())},
    }
    text = json.dumps(card, indent=2, allow_nan=False) + "\n"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, content in files.items():  # an older card now lists other hashes: never a model of two halves
            (folder / name).write_bytes(content)
        (folder / CARD).write_text(text, encoding="utf-8")
        for name in older - files.keys():
            (folder / name).unlink(missing_ok=True)
    except OSError as error:
        raise ResultError(
            f"The model cannot be saved in {folder}: {error.strerror}.", "Give another folder."
        ) from error


def check_replaceable(folder: Path) -> set[str]:
    """Return the files beside the card of the surrogate saved in *folder*, which another may replace.

    Raises:
        ResultError: the folder holds anything else, which must not be lost or mixed up with a model.
    """
    try:
        present = {entry.name for entry in folder.iterdir()} if folder.exists() else set()
    except OSError as error:
        raise ResultError(f"Cannot write into {folder}: {error.strerror}.", "Give another folder.") from error
    foreign = present - {TABLES, *OWN_FILES} - _listed(folder)
    if foreign:
        raise ResultError(
            f"{folder} holds '{min(foreign)}', which is not part of a saved surrogate, so it will not be replaced.",
            "Give a new or empty folder.",
        )
    return present - {CARD}


def _listed(folder: Path) -> set[str]:
    """Return the files of the saved surrogate in *folder*, its card among them; none if that is no card of one."""
    try:
        card = json.loads((folder / CARD).read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return set()
    is_ours = isinstance(card, dict) and "surrogate" in card and isinstance(card.get("files"), dict)
    return {CARD, *card["files"]} if is_ours else set()


def read(folder: Path, kind: type[Surrogate]) -> tuple[dict[str, Any], State]:
    """Return card and state of the model in *folder*, which must be a *kind*.

    Raises:
        ResultError: it is missing, truncated, changed, of another surrogate or for other features.
    """
    from safetensors.numpy import load

    card = read_card(folder)
    name = registered_name(kind)
    if card["surrogate"] != name:
        raise ResultError(f"{folder} holds a '{card['surrogate']}', not a '{name}'.", "Load it by its own name.")
    if card["schema"] != schema_hash(CONTEXT_COLUMNS):
        raise ResultError(
            f"The model in {folder} was made for other features than this version of hpcsim has.", "Fit it again."
        )
    with sound(folder):
        files = {name: _content(folder, name, digest) for name, digest in card["files"].items()}
        arrays = load(files.pop(TABLES)) if TABLES in files else {}
        return card, State(arrays, files, card["learned"])


def load_any(folder: str | Path) -> Surrogate:
    """Return the saved surrogate in *folder*, whatever its kind; only registered ones are accepted.

    Raises:
        ResultError: as `read`; also a card that names no registered surrogate.
    """
    name = read_card(Path(folder))["surrogate"]
    if not isinstance(name, str) or name not in registry.names("surrogates"):
        raise ResultError(f"{folder} names the surrogate {name!r}, which is not registered.", "Install what made it.")
    kind: type[Surrogate] = registry.find("surrogates", name)
    return kind.load(folder)


def read_card(folder: Path) -> dict[str, Any]:
    """Return the card of the model in *folder*.

    Raises:
        ResultError: there is none, or it is none.
    """
    try:
        card = json.loads((folder / CARD).read_text(encoding="utf-8"))
    except OSError as error:
        raise ResultError(f"{folder} holds no saved surrogate: {error.strerror}.", "Give the folder of one.") from error
    except (ValueError, RecursionError) as error:
        raise ResultError(f"{folder / CARD} is no JSON: {error}.", "Save the model again.") from error
    if not isinstance(card, dict) or card.get("format") != FORMAT:
        raise ResultError(f"{folder / CARD} is no card that this version of hpcsim reads.", "Save the model again.")
    missing = [key for key in ("surrogate", "parameters", "schema", "files", "learned") if key not in card]
    if missing:
        raise ResultError(f"{folder / CARD} lacks '{missing[0]}'.", "Save the model again.")
    return card


@contextmanager
def sound(folder: Path) -> Iterator[None]:
    """Turn whatever goes wrong while a model is rebuilt from *folder* into one sentence."""
    try:
        yield
    except HpcsimError:
        raise
    except Exception as error:
        raise ResultError(
            f"The model in {folder} cannot be rebuilt: {type(error).__name__}: {_first_line(error)}.", "Save it again."
        ) from error


def _first_line(error: Exception) -> str:
    """Return what *error* says in its first line; libraries in C++ add their stack."""
    return next(iter(str(error).splitlines()), "").strip().rstrip(".")


def registered_name(kind: type[Surrogate]) -> str:
    """Return the registry name of *kind*, or ``module:Class`` for one that is not registered."""
    path = f"{kind.__module__}:{kind.__qualname__}"
    for name in registry.names("surrogates"):
        if registry.target("surrogates", name) == path:
            return name
    return path


def _content(folder: Path, name: str, digest: str) -> bytes:
    if Path(name).name != name:
        raise ResultError(f"The card in {folder} names a file elsewhere: {name!r}.", "Do not trust this model.")
    try:
        content = (folder / name).read_bytes()
    except OSError as error:
        raise ResultError(f"{folder / name} cannot be read: {error.strerror}.", "Save the model again.") from error
    if hashlib.sha256(content).hexdigest() != digest:
        raise ResultError(f"{folder / name} is truncated or was changed.", "Save the model again.")
    return content


def _versions() -> dict[str, str]:
    found = {}
    for package in PACKAGES:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            continue
    return found
