"""Fixtures and Hypothesis profiles that every test shares."""

from __future__ import annotations

import os
from pathlib import Path

# Before NumPy or torch start their thread pools: two workers with a pool each only get in each other's way.
for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(variable, "1")

import pytest  # noqa: E402 - after the variables above
from hypothesis import HealthCheck, settings  # noqa: E402 - likewise

ROOT = Path(__file__).resolve().parents[1]

settings.register_profile(
    "ci",
    derandomize=True,  # a red run is red again at home
    max_examples=100,
    deadline=None,  # a busy machine is no fault of the code
    print_blob=True,
)
settings.register_profile(
    "nightly",
    max_examples=2_000,
    deadline=None,
    print_blob=True,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile(os.environ.get("HPCSIM_PROFILE", "ci"))


def pytest_configure(config: pytest.Config) -> None:
    """Let hpcsim's own warnings pass: real logs provoke them, and tests about them expect them by name."""
    config.addinivalue_line("filterwarnings", "ignore::hpcsim.errors.HpcsimWarning")


@pytest.fixture(scope="session")
def root() -> Path:
    """Return the folder of the checkout."""
    return ROOT


@pytest.fixture(scope="session")
def shared() -> Path:
    """Return the folder of real job logs, samples and reference schedules; skip where there is none.

    It is ``$HPCSIM_SHARED``, or ``shared`` beside the checkout. Under ``CI`` or with
    ``HPCSIM_REQUIRE_SHARED=1`` its absence is a failure, so that no test is lost unnoticed.
    """
    folder = Path(os.environ.get("HPCSIM_SHARED") or ROOT.parent / "shared")
    if (folder / "traces").is_dir():
        return folder.resolve()
    reason = f"{folder} has no job logs; name their folder with HPCSIM_SHARED"
    if _is_set("CI") or _is_set("HPCSIM_REQUIRE_SHARED"):
        pytest.fail(reason)
    pytest.skip(reason)


def _is_set(variable: str) -> bool:
    return os.environ.get(variable, "").lower() not in {"", "0", "false", "no"}
