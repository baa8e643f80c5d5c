"""What all tests of the network share."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
import torch


@pytest.fixture(autouse=True)
def same_first_weights() -> Iterator[None]:
    """Let modules that a test makes begin with the same weights in every run."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        yield
