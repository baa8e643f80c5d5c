"""No reader crashes or hangs on any bytes: a workload, or one sentence with file and line."""

from __future__ import annotations

import gzip
import random
import time
import warnings
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hpcsim import registry
from hpcsim.errors import HpcsimWarning, WorkloadError
from hpcsim.workload import Workload
from tests.workloads.log_samples import KEPT, SAMPLES, TABLE

READERS = sorted(SAMPLES)
OPTIONS = {
    "sacct": [{}, {"zone": "Europe/Paris"}, {"submit": "eligible", "count": "processors"}],
    "alibaba-v2018": [{}, {"per": "job"}, {"dependencies": True, "count": "nodes"}],
}
MUTATIONS = 5_000
SPLICES = (
    *(b"9" * 400, b"-", b"\x00", b"\xff\xfe", b"1e999", b"nan", b"\n", b"\r\n", b"|", b";", b'"', b",", b"'", b"#"),
    *(b"\xef\xbb\xbf", b"2024-13-45T99:99:99", b"Unknown", b"None", b"-1", b"0", b"99999999999999999999", b"UNLIMITED"),
    *(
        b"[0-9]",
        b"+",
        b"=",
        b":",
        b"*",
        b"\t",
        b" " * 50,
        b"0x10",
        b"1_000",
        b"\xd9\xa1",
        b"inf",
        b"9999-12-31T23:59:59",
    ),
)


def survives(name: str, path: Path, **options) -> Workload | None:
    """Read; let nothing through but a workload or a sentence that names the file and a line."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", HpcsimWarning)
        try:
            return registry.make("readers", name, path=path, **options)
        except WorkloadError as error:
            told = error
    assert told.path == str(path), told
    assert told.line is not None, told
    return None


@pytest.mark.parametrize("name", READERS)
@pytest.mark.parametrize("as_what", ["auto", "itself"])
def test_the_logs_themselves_are_read(tmp_path, name, as_what):
    path = tmp_path / "log"
    path.write_bytes(SAMPLES[name])
    workload = survives("auto" if as_what == "auto" else name, path)
    assert workload is not None
    assert workload.provenance["reader"] == name
    assert len(workload) == KEPT[name]


def mutated(rng: random.Random, text: bytes) -> bytes:
    """Return *text* after one to five changes: bytes flipped, pieces cut, doubled, swapped or put in."""
    for _ in range(rng.randint(1, 5)):
        place, other = sorted(rng.randrange(len(text) + 1) for _ in range(2))
        piece = text[place:other]
        match rng.randrange(6):
            case 0:
                text = text[:place] + bytes([rng.randrange(256)]) + text[place + 1 :]
            case 1:
                text = text[:place] + text[place + rng.randint(1, 30) :]
            case 2:
                text = text[:other] + piece[:200] + text[other:]
            case 3:
                text = text[:place] + rng.choice(SPLICES) + text[place:]
            case 4:
                lines = text.split(b"\n")
                rng.shuffle(lines)
                text = b"\n".join(lines)
            case _:
                fields = text.split(rng.choice((b"|", b",", b" ", b":", b";")))
                fields[rng.randrange(len(fields))] = rng.choice(SPLICES)
                text = rng.choice((b"|", b",", b" ", b":", b";")).join(fields) if rng.random() < 0.2 else text
                text = text.replace(rng.choice(text.split() or [b"x"]), rng.choice(SPLICES), 1)
    return text


def cases(count: int = MUTATIONS, seed: int = 20240101) -> Iterator[tuple[str, dict, bytes]]:
    rng = random.Random(seed)
    for number in range(count):
        name = READERS[number % len(READERS)]
        yield name, rng.choice(OPTIONS.get(name, [{}])), mutated(rng, SAMPLES[name])


def test_thousands_of_mutations_within_a_minute(tmp_path):
    path = tmp_path / "log"
    started = time.process_time()
    kept = 0
    for name, options, text in cases():
        path.write_bytes(text)
        workload = survives(name, path, **options)
        kept += workload is not None and len(workload) > 0
    assert kept > MUTATIONS / 4  # most mutations leave something to read
    assert time.process_time() - started < 60


@pytest.mark.nightly
@pytest.mark.parametrize("seed", range(10))
def test_a_hundred_thousand_mutations(tmp_path, seed):
    path = tmp_path / "log"
    for name, options, text in cases(2 * MUTATIONS, seed):
        path.write_bytes(text)
        survives(name, path, **options)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(text=st.binary(max_size=300), name=st.sampled_from(["auto", *READERS]))
def test_any_bytes(tmp_path, text, name):
    path = tmp_path / "log"
    path.write_bytes(text)
    survives(name, path)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data(), name=st.sampled_from(READERS))
def test_any_text_in_any_field(tmp_path, data, name):
    """One field of one line replaced by any text, the lines still whole."""
    lines = SAMPLES[name].split(b"\n")
    row = data.draw(st.integers(0, len(lines) - 1))
    delimiter = {"swf": b" ", "lsf": b" ", "sge": b":", "sacct": b"|", "pbs": b" ", "table": b";"}.get(name, b",")
    fields = lines[row].split(delimiter)
    fields[data.draw(st.integers(0, len(fields) - 1))] = data.draw(st.text(max_size=30)).encode()
    lines[row] = delimiter.join(fields)
    path = tmp_path / "log"
    path.write_bytes(b"\n".join(lines))
    survives(name, path)


@pytest.mark.parametrize("name", READERS)
def test_strict_mode_survives_as_well(tmp_path, name):
    rng = random.Random(7)
    path = tmp_path / "log"
    for _ in range(30):
        path.write_bytes(mutated(rng, SAMPLES[name]))
        survives(name, path, mode="strict")


@pytest.fixture(scope="module")
def bomb(tmp_path_factory) -> Path:
    """80 MB of blank lines in 80 kB, under the header of a table."""
    path = tmp_path_factory.mktemp("bomb") / "log.gz"
    with gzip.open(path, "wb", compresslevel=1) as file:
        file.write(TABLE)
        for _ in range(80):
            file.write(b" " * (1 << 20) + b"\n")
    return path


@pytest.fixture(scope="module")
def endless(tmp_path_factory) -> Path:
    """A line of 100 MB."""
    path = tmp_path_factory.mktemp("endless") / "log"
    path.write_bytes(b"1" * (100 << 20))
    return path


@pytest.mark.parametrize("name", READERS)
def test_a_gzip_bomb_is_refused(bomb, name):
    options = {"columns": "jobid,state,submit,nnodes,end"} if name == "sacct" else {}
    with pytest.raises(WorkloadError) as caught:
        registry.make("readers", name, path=bomb, **options)
    if name in {"swf", "pbs", "lsf", "sge", "alibaba-v2018", "table"}:  # the others see that it is none of theirs
        assert "unpacks to more than 200 times its size, which no job log does" in caught.value.cause


@pytest.mark.parametrize("name", ["auto", *READERS])
def test_a_line_of_100_mb_is_refused(endless, name):
    with pytest.raises(WorkloadError, match="line 1 is longer than 16 MiB, which no job log has") as caught:
        registry.make("readers", name, path=endless)
    assert (caught.value.path, caught.value.line) == (str(endless), 1)


@pytest.mark.parametrize("name", ["auto", *READERS, "pm100", "adastra"])
def test_files_that_are_not_there(tmp_path, name):
    with pytest.raises(WorkloadError, match=r"There is no file .*missing\. Check the path"):
        registry.make("readers", name, path=tmp_path / "missing")
    with pytest.raises(WorkloadError, match=r"is a folder\. Give the log file in it"):
        registry.make("readers", name, path=tmp_path)
