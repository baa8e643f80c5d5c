"""What all tests share: where the shared traces are, and which Hypothesis profile is on.

``HPCSIM_NIGHTLY=1`` runs the tests marked ``nightly`` too and gives Hypothesis more examples. Tests
that need the shared folder are skipped where it is not, except in CI (``CI`` is set), where they fail.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

IS_NIGHTLY = bool(os.environ.get("HPCSIM_NIGHTLY"))

settings.register_profile("quick", max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("nightly", settings.get_profile("quick"), max_examples=2000)
settings.load_profile("nightly" if IS_NIGHTLY else "quick")


def pytest_configure(config: pytest.Config) -> None:
    """Declare the markers."""
    config.addinivalue_line("markers", "nightly: minutes long; run only with HPCSIM_NIGHTLY=1")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Skip nightly tests by day."""
    for item in items:
        if item.get_closest_marker("nightly") and not IS_NIGHTLY:
            item.add_marker(pytest.mark.skip(reason="nightly: set HPCSIM_NIGHTLY=1"))


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder of shared traces and independent schedules: HPCSIM_SHARED, or beside the repository."""
    repository = Path(__file__).resolve().parent.parent
    places = [Path(os.environ["HPCSIM_SHARED"])] if "HPCSIM_SHARED" in os.environ else []
    places += [repository.parent / "shared"]
    for place in places:
        if place.is_dir():
            return place
    reason = f"the shared traces are in none of {', '.join(map(str, places))}; set HPCSIM_SHARED"
    if os.environ.get("CI"):
        pytest.fail(reason)
    pytest.skip(reason)
