"""A real Chromium, offline, and pages to open in it."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from hpcsim.cluster import Cluster
from hpcsim.policies import EASY, FCFS
from hpcsim.registry import make
from hpcsim.results.page.document import is_available, write_page
from hpcsim.results.run import simulate
from hpcsim.workload import Workload

SCRIPT = "<script>alert(1)</script>"
"""The name of a job, a user and a policy: it has to stay text."""

WINDOW = (1200, 900)


def _refuse(reason: str) -> None:
    """Skip, or fail where the pipeline has promised a browser."""
    if os.environ.get("CI"):
        pytest.fail(reason)
    pytest.skip(reason)


@pytest.fixture(scope="session")
def chromium() -> Iterator[Any]:
    """Start Chromium without a network; skip where it, its driver, selenium or Plotly is missing."""
    paths = [shutil.which(name) for name in ("chromium", "chromedriver")]
    if not all(paths):
        _refuse("no Chromium here (on Debian: apt-get install chromium chromium-driver)")
    try:
        from selenium import webdriver
        from selenium.webdriver.chrome.service import Service
    except ImportError:
        _refuse("selenium is not installed")
    if not is_available():
        _refuse("Plotly is not installed")
    options = webdriver.ChromeOptions()
    options.binary_location = paths[0]
    size = ",".join(map(str, WINDOW))
    for flag in ("headless=new", "no-sandbox", "disable-gpu", "disable-dev-shm-usage", f"window-size={size}",
                 "disable-background-networking", "host-resolver-rules=MAP * ~NOTFOUND"):  # fmt: skip
        options.add_argument(f"--{flag}")
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    driver = webdriver.Chrome(options=options, service=Service(paths[1]))
    driver.set_page_load_timeout(120)
    yield driver
    driver.quit()


class Page:
    """An open report, and what it did when it was opened."""

    def __init__(self, driver: Any, path: Path) -> None:
        self.driver = driver
        driver.get_log("browser"), driver.get_log("performance")
        driver.get(path.as_uri())

    def run(self, script: str, *arguments: Any) -> Any:
        """Run a script in the page and return its value."""
        return self.driver.execute_script(script, *arguments)

    def complaints(self) -> list[str]:
        """Return what stands on the console."""
        return [entry["message"] for entry in self.driver.get_log("browser")]

    def requests(self) -> list[str]:
        """Return the addresses that the page has asked for."""
        messages = [json.loads(entry["message"])["message"] for entry in self.driver.get_log("performance")]
        return [m["params"]["request"]["url"] for m in messages if m["method"] == "Network.requestWillBeSent"]

    def explain(self, job: str) -> str:
        """Ask the panel about a job, by keyboard, and return its answer."""
        field = self.driver.find_element("id", "why-job")
        field.clear()
        field.send_keys(job + "\n")
        text: str = self.driver.find_element("id", "why-answer").text
        return text


@pytest.fixture(scope="session")
def small_page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Four jobs, one of them named as a script, under FCFS and under a policy named as a script."""
    workload = Workload.of(
        job_id=["a", "b", SCRIPT, "d"],
        submit_s=[0, 0, 10, 20],
        run_s=[100, 50, 100, 30],
        limit_s=[100, 50, 100, 30],
        nodes=[3, 4, 1, 1],
        user_id=["alice", "bob", SCRIPT, "bob"],
    )
    runs = {"fcfs": FCFS(), SCRIPT: EASY()}
    results = {name: simulate(workload, Cluster.of_nodes(4), policy) for name, policy in runs.items()}
    path = tmp_path_factory.mktemp("page") / "small page é.html"
    write_page(results, path, title=f"Small {SCRIPT}")
    return path


@pytest.fixture(scope="session")
def large_page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """So many jobs that the Gantt chart is summed up."""
    workload = make("models", "poisson", jobs=4_000, nodes=64, load=0.7, seed=1)
    path = tmp_path_factory.mktemp("page") / "large.html"
    write_page({"easy": simulate(workload, Cluster.of_nodes(64), EASY())}, path, title="Large")
    return path
