"""Schedule the oracle's traces with the reference and write `digests.json`: ``python -m tests.oracle.make_digests``.

The digests let every test run compare whole schedules without the minutes that the reference takes.
They are hashes: nothing of a trace is stored. Our engine has no part in this script.
"""

from __future__ import annotations

import json
import sys

from tests.oracle.cases import DIGESTS, POLICIES, TRACES, digest, read_jobs, reference_starts, shared_folder


def main() -> None:
    """Recompute every digest."""
    shared = shared_folder()
    digests: dict[str, dict[str, str]] = {}
    for trace in TRACES:
        for case in POLICIES:
            jobs = read_jobs(shared, trace)
            starts = reference_starts(shared, jobs, trace.processors, case)
            digests.setdefault(trace.name, {"jobs": str(len(jobs))})[case] = digest(starts)
            sys.stderr.write(f"{trace.name} {case}: {len(jobs)} jobs\n")
    DIGESTS.write_text(json.dumps(digests, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
