"""The quarantine file: refused lines as they stood, each under the reason, so that nothing is lost.

The reasons are comments, so that the file, once mended, can be read as a log of its own.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from hpcsim.workloads.readers.log_blocks import numbered_lines
from hpcsim.workloads.readers.tables import is_parquet
from hpcsim.workloads.writers.atomic import replacing


def write_quarantine(source: Path, target: Path, reasons: Mapping[int, str]) -> None:
    """Write the lines of *source* that *reasons* names (line number -> reason) to *target*; of Parquet, the reasons.

    Raises:
        WorkloadError: *source* cannot be read again, or *target* not be written.
    """
    lines = "1 line" if len(reasons) == 1 else f"{len(reasons)} lines"
    with replacing(target) as file:
        file.write(f"; Note: {lines} of {source.name} that became no job\n".encode())
        if is_parquet(source):
            file.writelines(f"; row {row}: {reasons[row]}\n".encode() for row in sorted(reasons))
            return
        for number, line in numbered_lines(source):
            if number in reasons:
                file.write(f"; line {number}: {reasons[number]}\n".encode() + line + b"\n")
