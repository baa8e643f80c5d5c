"""Coverage-guided mutation of one reader's sample: ``python -m tests.workloads.coverage_guided NAME SECONDS FOLDER``.

A script of its own, since atheris ends the process. It ends with 0 unless a reader lets something
through but a workload, a cluster, or a sentence with file and line; the input is then left in FOLDER.
"""

from __future__ import annotations

import sys
from pathlib import Path

import atheris

with atheris.instrument_imports(include=["hpcsim.workloads"]):
    import hpcsim.workloads.clusters.slurm
    import hpcsim.workloads.readers.sniffing  # noqa: F401 - takes all text readers along

from tests.workloads import test_any_bytes, test_slurm_conf_hostile
from tests.workloads.log_samples import SAMPLES


def main(name: str, seconds: str, folder: str) -> None:
    """Mutate the sample of a reader, or of ``slurm-conf``, for so many seconds."""
    place = Path(folder)
    corpus = place / "corpus"
    corpus.mkdir(exist_ok=True)
    (corpus / "sample").write_bytes(SAMPLES.get(name, test_slurm_conf_hostile.CONF))

    def one_input(text: bytes) -> None:
        if name == "slurm-conf":
            test_slurm_conf_hostile.survives(place, text, test_slurm_conf_hostile.GRES)
            return
        (place / "log").write_bytes(text)
        test_any_bytes.survives(name, place / "log")

    options = [f"-max_total_time={seconds}", f"-artifact_prefix={place}/", "-timeout=30", "-rss_limit_mb=4096"]
    atheris.Setup([sys.argv[0], *options, str(corpus)], one_input)
    atheris.Fuzz()


if __name__ == "__main__":
    main(*sys.argv[1:])
