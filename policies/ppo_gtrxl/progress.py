"""What a training tells while it goes on: a line an update, a CSV table, and TensorBoard where it is installed."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from hpcsim.policies.ppo_gtrxl.checkpoint import write_whole

Say = Callable[[str], None]

COLUMNS = (
    *("update", "decisions", "cost", "learning_rate", "entropy_bonus"),
    *("policy_loss", "value_loss", "entropy", "kl", "clipped", "explained_variance", "ratio_error", "steps"),
    *("cpu_s", "validation", "validation_average"),
)
"""Columns of ``progress.csv``; costs and validations are over the better of SJF and SAF, and over SAF."""


class Progress:
    """Tells of one training into *folder* and by *say*; of how many *updates*, or 0 where that is not known."""

    def __init__(self, folder: Path, updates: int, say: Say) -> None:
        self._folder, self._updates, self._say = folder, updates, say
        self._writer = _tensorboard(folder)

    def tell(self, rows: Sequence[dict[str, float]]) -> None:
        """Tell of the last of *rows*; the table is written with all of them."""
        row = rows[-1]
        text = io.StringIO()
        table = csv.DictWriter(text, COLUMNS)
        table.writeheader()
        table.writerows(rows)
        write_whole(self._folder / "progress.csv", text.getvalue().encode())
        if self._writer is not None:
            for name in COLUMNS[1:]:
                if name in row:
                    self._writer.add_scalar(name, row[name], int(row["update"]))
        self._say(line_of(row, self._updates))

    def close(self) -> None:
        """Close what is open."""
        if self._writer is not None:
            self._writer.close()


def line_of(row: dict[str, float], updates: int) -> str:
    """Return the line of one update; *updates* is how many there will be, 0 where that is not known."""
    parts = [
        f"update {row['update']:.0f}{f'/{updates}' if updates else ''}",
        f"{row['decisions']:,.0f} decisions",
        f"cost {row['cost']:.3f}",
        f"KL {row['kl']:.1e}",
        f"entropy {row['entropy']:.3f}",
        f"explained variance {row['explained_variance']:.2f}",
        f"{row['cpu_s']:.0f} CPU s",
    ]
    if "validation" in row:
        parts.append(f"validation {row['validation']:.4f} of SAF, averaged weights {row['validation_average']:.4f}")
    return ", ".join(parts)


def _tensorboard(folder: Path) -> Any:
    """Return a writer for TensorBoard, or None where it is not installed."""
    try:
        from torch.utils.tensorboard import SummaryWriter
    except ImportError:
        return None
    return SummaryWriter(str(folder / "tensorboard"))
