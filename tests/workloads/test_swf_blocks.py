"""Reading in blocks, and the fast and the careful parser, make no difference to what is read."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hpcsim.errors import HpcsimError
from hpcsim.workloads.readers import swf_table
from hpcsim.workloads.readers.findings import Findings
from hpcsim.workloads.readers.log_blocks import blocks, numbered_lines
from hpcsim.workloads.readers.swf_lines import number, parse_line
from hpcsim.workloads.readers.swf_table import read_table
from hpcsim.workloads.swf_fields import FIELDS

LOG = (
    b"; MaxProcs: 8\r\n\r\n"
    + b"".join(b"%d %d 0 60 4 1.5 -1 4 90 -1 1 1 1 1 -1 -1 -1 -1\r\n" % (i, 10 * i) for i in range(20))
    + b"; remark\n21 x 0 60\n22 210 0 60 4 -1 -1 4 90 -1 1 1 1 1 -1 -1 -1 -1 9\n\n23 220 0 60 4 -1 -1 4 90"
)


@pytest.mark.parametrize("block_bytes", [1, 2, 3, 7, 50, 64, 1000, 1 << 20])
def test_blocks_of_any_size(tmp_path, monkeypatch, block_bytes):
    path = tmp_path / "log.swf"
    path.write_bytes(LOG)
    whole = read_table(path)
    monkeypatch.setattr(swf_table, "blocks", partial(blocks, block_bytes=block_bytes))
    table = read_table(path)
    assert table.lines.tolist() == whole.lines.tolist() == [*range(3, 23), 25, 27]
    assert {name: column.tolist() for name, column in table.columns.items()} == {
        name: column.tolist() for name, column in whole.columns.items()
    }
    assert table.header == {"MaxProcs": ["8"], "": ["remark"]}
    assert {f.rule.name: list(f.lines) for f in table.findings} == {
        "too-few-fields": [24],
        "extra-fields": [25],
        "short-line": [27],
    }


@pytest.mark.parametrize("block_bytes", [1, 5, 1000])
def test_line_numbers_hold_across_blocks(tmp_path, block_bytes):
    path = tmp_path / "log.txt"
    path.write_bytes(b"a\nbb\n\nccc\r\nd")
    texts = [block.text for block in blocks(path, block_bytes)]
    assert b"".join(texts) == b"a\nbb\n\nccc\nd\n"
    assert next(blocks(path, block_bytes)).first_line == 1
    assert list(numbered_lines(path)) == [(1, b"a"), (2, b"bb"), (3, b""), (4, b"ccc"), (5, b"d")]


TOKENS = st.one_of(
    st.integers(-(10**16), 10**16).map(str),
    st.floats(allow_nan=True).map(repr),
    st.decimals(places=2, min_value=-(10**6), max_value=10**6).map(str),
    st.sampled_from(
        ["-1", "0", "1", "+5", ".5", "5.", "1e3", "-", "", ";", "1_0", "nan", "1-2", "\0", "é", '"', "1,2"]
    ),
    st.text(max_size=3),
)
LINES = st.lists(st.lists(TOKENS, min_size=0, max_size=21).map(" ".join) | st.just("1 2 3 4 " * 4 + "5 6"), max_size=8)


@given(lines=LINES)
def test_fast_and_careful_parser_agree(tmp_path_factory, lines):
    """What the blocks make of a text equals one careful parse of each of its lines."""
    path = tmp_path_factory.getbasetemp() / "agree.swf"
    path.write_bytes("\n".join(lines).encode())
    table = read_table(path)
    text = path.read_bytes().removeprefix(b"\xef\xbb\xbf").replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    expected = {}
    for line, content in enumerate(text.split(b"\n"), 1):
        if content.strip() and not content.lstrip().startswith(b";"):
            expected[line] = parse_line(content, line, Findings())
    rows = {line: numbers for line, numbers in expected.items() if numbers is not None}
    assert table.lines.tolist() == list(rows)
    read = np.array([table.columns[name] for name in FIELDS]).T.tolist() if rows else []
    assert read == [pytest.approx(numbers, rel=1e-15, abs=0) for numbers in rows.values()]
    assert table.findings.refused_lines() == {line for line, numbers in expected.items() if numbers is None}


@given(content=st.binary(max_size=300) | st.text(alphabet="0123456789-+.eE \t\n\r;:aM", max_size=300).map(str.encode))
def test_any_bytes_are_a_workload_or_one_error(tmp_path_factory, read, content):
    path: Path = tmp_path_factory.getbasetemp() / "any.swf"
    path.write_bytes(content)
    try:
        workload = read(path)
    except HpcsimError as caught:
        error = caught
    else:
        assert len(list(workload.jobs())) == workload.ledger.kept
        return
    assert str(path) in str(error)


@given(value=st.integers(-(10**15), 10**15) | st.floats(-1e15, 1e15))
def test_numbers_are_exact(value):
    assert number(repr(value).encode()) == value
