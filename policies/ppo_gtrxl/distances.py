"""Sinusoidal encodings of how many decisions ago something was."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def sinusoids(distances: int, width: int) -> NDArray[np.float32]:
    """Return encodings of the distances 0, 1, ..., [*distances*, *width*]: sines, then cosines.

    Source: Vaswani et al., "Attention is all you need", 2017, in the layout of Transformer-XL.
    """
    frequencies = 1.0 / 10_000 ** (np.arange(0, width, 2) / width)
    angles = np.arange(distances)[:, None] * frequencies
    return np.concatenate([np.sin(angles), np.cos(angles)], axis=-1)[:, :width].astype(np.float32)
