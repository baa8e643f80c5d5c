"""Get a public job log once, and never anything else than what its makers published."""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit, urlunsplit

from hpcsim.dataset import Dataset
from hpcsim.errors import FetchError

TIMEOUT_S = 30
"""Seconds without a byte after which a server counts as away."""


def data_folder() -> Path:
    """Return where fetched logs are kept: ``HPCSIM_DATA`` if set, else the user's cache folder."""
    import pooch

    return Path(os.environ.get("HPCSIM_DATA") or pooch.os_cache("hpcsim"))


def fetch(dataset: Dataset, folder: Path | None = None, *, mirror: str = "", progress: Any = False) -> Path:
    """Return the path of *dataset* in *folder* (default: `data_folder`), downloaded if it is not there yet.

    A file that is there is checked and used. A download is checked before it gets its name; one
    that fails leaves nothing behind.

    Args:
        dataset: what to get; `hpcsim.registry.make("datasets", name)` returns one.
        folder: where to keep it; made if need be.
        mirror: scheme and host of another server with the same paths, ``"https://host"``.
        progress: a progress bar as `pooch.HTTPDownloader` takes it.

    Raises:
        FetchError: no connection, a broken one, a refusal, or another file than the published one.
        OSError: the folder cannot be written.
    """
    folder = data_folder() if folder is None else folder
    path = folder / dataset.file
    note = path.with_name(path.name + ".checksum")
    checksum = dataset.checksum or (note.read_text().strip() if path.exists() and note.exists() else "")
    if path.exists() and checksum and _matches(path, checksum):
        return path
    url = _at(dataset.url, mirror)
    with _explained(dataset, url, folder):
        checksum = dataset.checksum or _stated_checksum(dataset, mirror)
        folder.mkdir(parents=True, exist_ok=True)
        _download(url, path, checksum, progress)
    if not dataset.checksum:
        note.write_text(checksum + "\n")
    return path


def _download(url: str, path: Path, checksum: str, progress: Any) -> None:
    import pooch

    pooch.get_logger().setLevel(logging.WARNING)
    downloader: Callable[..., Any] = pooch.HTTPDownloader(progressbar=progress, timeout=TIMEOUT_S)
    pooch.retrieve(url, known_hash=checksum, fname=path.name, path=path.parent, downloader=downloader)


def _matches(path: Path, checksum: str) -> bool:
    import pooch

    kind, _, digest = checksum.partition(":")
    return bool(pooch.file_hash(str(path), alg=kind) == digest)


def _stated_checksum(dataset: Dataset, mirror: str) -> str:
    """Return what the record states about the file, ``"md5:..."``."""
    import requests

    answer = requests.get(_at(dataset.record, mirror), timeout=TIMEOUT_S)
    answer.raise_for_status()
    stated = {entry["key"]: entry["checksum"] for entry in answer.json()["files"]}
    return str(stated[dataset.file])


def _at(url: str, mirror: str) -> str:
    """Return *url* on the server *mirror*, if one is given."""
    if not mirror:
        return url
    scheme, host, prefix, _, _ = urlsplit(mirror)
    if scheme not in {"http", "https"} or not host:
        raise FetchError(f"'{mirror}' is no address of a server.", "Give scheme and host, such as https://host.")
    _, _, path, query, _ = urlsplit(url)
    return urlunsplit((scheme, host, prefix.rstrip("/") + path, query, ""))


@contextmanager
def _explained(dataset: Dataset, url: str, folder: Path) -> Iterator[None]:
    """Turn what can go wrong on a network into one sentence."""
    import requests

    by_hand = f"or get {dataset.url} by other means and put it into {folder}."
    try:
        yield
    except requests.HTTPError as error:
        status = "an error" if error.response is None else f"status {error.response.status_code}"
        raise FetchError(f"The server answers {status} for {url}.", f"Try again later, {by_hand}") from error
    except (requests.ConnectionError, requests.Timeout) as error:
        raise FetchError(
            f"Cannot reach {urlsplit(url).netloc}: is this machine offline?", f"Go online, {by_hand}"
        ) from error
    except requests.RequestException as error:
        raise FetchError(f"The connection broke while {dataset.file} was fetched.", f"Try again, {by_hand}") from error
    except (KeyError, TypeError) as error:
        raise FetchError(f"The record of {dataset.file} states no checksum.", f"Try again later, {by_hand}") from error
    except ValueError as error:  # pooch's, for another checksum
        raise FetchError(
            f"{url} delivers another file than the published {dataset.file}: its checksum differs; nothing was kept.",
            f"Try again, {by_hand}",
        ) from error
