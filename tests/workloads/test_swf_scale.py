"""Ten million lines: minutes of work, and less memory than a laptop has."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

LINES = 10_000_000
MOST_BYTES = 1_800_000_000

READ = """
import resource, sys, warnings
warnings.simplefilter("ignore")
from hpcsim.workloads.readers.swf import read_swf
workload = read_swf(sys.argv[1])
assert workload.ledger.refused == 1, workload.ledger
assert workload.ledger.rules[0].examples[0].line == int(sys.argv[2])
print(len(workload), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024)
"""


@pytest.mark.nightly
def test_ten_million_lines(tmp_path: Path):
    """Each line differs in number, submit and run time; one in the last block is cut and found by its number."""
    path = tmp_path / "long.swf"
    with path.open("w") as file:
        file.write("; MaxProcs: 4096\n")
        for first in range(0, LINES, 100_000):
            rows = range(first + 1, first + 100_001)
            file.writelines(
                f"{i:8d} {i * 3} {i % 999} {i % 86_399 + 1} {i % 64 + 1} {i % 77}.50 -1 {i % 64 + 1} 86400 -1 1 "
                f"{i % 400} {i % 30} {i % 5000} 1 -1 -1 -1\n"
                for i in rows
            )
        file.write("9 9 9\n")
    command = [sys.executable, "-c", READ, str(path), str(LINES + 2)]
    output = subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()
    assert int(output[0]) == LINES
    assert int(output[1]) < MOST_BYTES
