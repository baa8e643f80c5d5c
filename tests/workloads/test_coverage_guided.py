"""No reader crashes or hangs on inputs that are bred for new paths through it; needs atheris, the extra ``fuzz``."""

from __future__ import annotations

import importlib.util
import subprocess
import sys

import pytest

from tests.workloads.log_samples import SAMPLES

SECONDS = 60

pytestmark = [
    pytest.mark.nightly,
    pytest.mark.skipif(importlib.util.find_spec("atheris") is None, reason="pip install 'hpcsim-des[fuzz]'"),
]


@pytest.mark.parametrize("name", ["slurm-conf", *sorted(SAMPLES)])
def test_bred_inputs(root, tmp_path, name):
    command = [sys.executable, "-m", "tests.workloads.coverage_guided", name, str(SECONDS), str(tmp_path)]
    done = subprocess.run(command, cwd=root, capture_output=True, text=True, timeout=SECONDS + 120, check=False)
    assert done.returncode == 0, done.stderr[-4000:]
    assert "Done " in done.stderr
