"""Fetching public logs, against a server of our own on this machine."""

from __future__ import annotations

import hashlib
import json
import socket
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from hpcsim import registry
from hpcsim.dataset import Dataset
from hpcsim.errors import FetchError
from hpcsim.experiments.fetch import data_folder, fetch

BODY = b"; Version: 2.2\n1 0 0 10 1 -1 -1 1 20 -1 1 1 1 1 1 -1 -1 -1\n" * 4000
SHA256 = "sha256:" + hashlib.sha256(BODY).hexdigest()
MD5 = "md5:" + hashlib.md5(BODY).hexdigest()


class Handler(BaseHTTPRequestHandler):
    """Serves one file well, one cut off, one record, and nothing else; counts what it is asked for."""

    asked: list[str]

    def do_GET(self) -> None:
        self.asked.append(self.path)
        if self.path == "/good/log.swf":
            self._answer(200, BODY)
        elif self.path == "/cut/log.swf":
            self._answer(200, BODY[: len(BODY) // 2], length=len(BODY))
        elif self.path == "/record":
            files = [{"key": "log.swf", "checksum": MD5}]
            self._answer(200, json.dumps({"files": files}).encode())
        else:
            self._answer(404, b"not here")

    def _answer(self, status: int, body: bytes, length: int | None = None) -> None:
        self.send_response(status)
        self.send_header("Content-Length", str(length or len(body)))
        self.end_headers()
        self.wfile.write(body)
        self.close_connection = True

    def log_message(self, *_: Any) -> None:
        """Keep quiet."""


@pytest.fixture
def server() -> Iterator[tuple[str, list[str]]]:
    asked: list[str] = []
    handler = type("Counting", (Handler,), {"asked": asked})
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as http:
        threading.Thread(target=http.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{http.server_address[1]}", asked
        http.shutdown()


@pytest.fixture
def log(server: tuple[str, list[str]]) -> Callable[..., Dataset]:
    def describe(path: str = "good", checksum: str = SHA256, record: str = "") -> Dataset:
        return Dataset("log.swf", f"{server[0]}/{path}/log.swf", "cite", "terms", checksum, record)

    return describe


def test_a_good_file_comes_once(tmp_path: Path, server: Any, log: Callable[..., Dataset]) -> None:
    path = fetch(log(), tmp_path / "new folder")
    assert path == tmp_path / "new folder" / "log.swf"
    assert path.read_bytes() == BODY
    assert fetch(log(), path.parent) == path
    assert server[1] == ["/good/log.swf"]


def test_a_damaged_file_in_the_folder_is_fetched_again(
    tmp_path: Path, server: Any, log: Callable[..., Dataset]
) -> None:
    (tmp_path / "log.swf").write_bytes(BODY[:-1])
    assert fetch(log(), tmp_path).read_bytes() == BODY
    assert server[1] == ["/good/log.swf"]


def test_another_file_than_the_published_one_is_not_kept(tmp_path: Path, log: Callable[..., Dataset]) -> None:
    with pytest.raises(FetchError, match=r"another file than the published log\.swf: its checksum differs"):
        fetch(log(checksum="sha256:" + 64 * "0"), tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_a_connection_that_breaks_leaves_nothing(tmp_path: Path, log: Callable[..., Dataset]) -> None:
    with pytest.raises(FetchError, match=r"connection broke while log\.swf was fetched"):
        fetch(log("cut"), tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_a_file_that_is_gone(tmp_path: Path, log: Callable[..., Dataset]) -> None:
    with pytest.raises(FetchError, match=r"answers status 404 for .*by other means"):
        fetch(log("gone"), tmp_path)


def test_offline(tmp_path: Path) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    with pytest.raises(FetchError, match=r"Cannot reach 127\.0\.0\.1:.*offline"):
        fetch(Dataset("log.swf", f"http://127.0.0.1:{port}/log.swf", "cite", "terms", SHA256), tmp_path)


def test_a_record_states_the_checksum_and_it_is_remembered(
    tmp_path: Path, server: Any, log: Callable[..., Dataset]
) -> None:
    asked = log(checksum="", record=f"{server[0]}/record")
    assert fetch(asked, tmp_path).read_bytes() == BODY
    assert fetch(asked, tmp_path).read_bytes() == BODY
    assert server[1] == ["/record", "/good/log.swf"]


def test_a_record_without_the_file(tmp_path: Path, server: Any) -> None:
    other = Dataset("other.swf", f"{server[0]}/good/log.swf", "cite", "terms", "", f"{server[0]}/record")
    with pytest.raises(FetchError, match=r"The record of other\.swf states no checksum"):
        fetch(other, tmp_path)


def test_a_mirror_has_the_same_paths(tmp_path: Path, server: Any) -> None:
    elsewhere = Dataset("log.swf", "https://example.invalid/good/log.swf", "cite", "terms", SHA256)
    assert fetch(elsewhere, tmp_path, mirror=server[0]).read_bytes() == BODY
    with pytest.raises(FetchError, match="'nonsense' is no address"):
        fetch(Dataset("b.swf", "https://example.invalid/b.swf", "", "", SHA256), tmp_path, mirror="nonsense")


def test_the_folder_is_what_the_environment_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HPCSIM_DATA", str(tmp_path))
    assert data_folder() == tmp_path


@pytest.mark.parametrize("name", registry.names("datasets"))
def test_each_data_set_says_all_that_its_user_must_know(name: str) -> None:
    dataset = registry.make("datasets", name)
    assert dataset.url.startswith("https://")
    assert dataset.file in dataset.url
    assert dataset.citation
    assert dataset.terms
    assert bool(dataset.checksum) != bool(dataset.record)


def test_checksums_are_those_of_the_logs_that_the_tests_read(shared: Path) -> None:
    known = dict(reversed(line.split()) for line in (shared / "SHA256SUMS").read_text().splitlines() if line.strip())
    datasets = [registry.make("datasets", name) for name in registry.names("datasets")]
    pinned = {d.file: d.checksum.removeprefix("sha256:") for d in datasets if d.checksum}
    assert len(pinned) == 10
    assert pinned == {file: known[f"traces/{file}"] for file in pinned}


def test_months_of_f_data() -> None:
    assert registry.make("datasets", "f-data", month="24_04").file == "24_04.parquet"
    for wrong in ("24_05", "21_02", "2021-03", "21_13"):
        with pytest.raises(ValueError, match=f"no month '{wrong}'"):
            registry.make("datasets", "f-data", month=wrong)


@pytest.mark.parametrize("mirror", ["ftp://host", "file:///tmp", "host"])
def test_a_mirror_is_a_web_server(tmp_path: Path, mirror: str) -> None:
    with pytest.raises(FetchError, match="is no address of a server"):
        fetch(registry.make("datasets", "kth-sp2"), tmp_path, mirror=mirror)
