"""The verdict in words: what a reader should take away, first, and what limits it."""

from __future__ import annotations

from collections.abc import Mapping

from hpcsim.errors import ResultError
from hpcsim.results.comparison import compare
from hpcsim.results.quantities import count, duration, percentage
from hpcsim.results.result import Result

ALIKE = 0.005
"""Mean waits that differ by less than this share are called equal."""


def verdict(results: Mapping[str, Result]) -> list[str]:
    """Return the verdict as one sentence, and a sentence for each thing that limits it."""
    return [_headline(results), *_limits(results)]


def _headline(results: Mapping[str, Result]) -> str:
    waits_s = {name: result.summary()["mean_wait_s"] for name, result in results.items()}
    known = {name: wait_s for name, wait_s in waits_s.items() if wait_s is not None}
    if not known:
        return "No job started."
    best, worst = min(known, key=lambda name: known[name]), max(known, key=lambda name: known[name])
    used = {name: percentage(results[name].summary()["utilisation"]) for name in known}
    if len(results) == 1:
        jobs = count(results[best].summary()["jobs_started"], "job")
        return f"Under {best}, {jobs} waited {duration(known[best])} on average; the machine was {used[best]} used."
    if known[worst] - known[best] <= ALIKE * known[worst]:
        return f"The mean wait is the same under all of {', '.join(known)}: {duration(known[best])}."
    less = percentage(1 - known[best] / known[worst])
    return (
        f"Jobs wait least under {best}: {duration(known[best])} on average, {less} less than under {worst} "
        f"({duration(known[worst])}); the machine is {used[best]} used, against {used[worst]}."
    )


def _limits(results: Mapping[str, Result]) -> list[str]:
    notes = []
    cut = [name for name, result in results.items() if not result.is_complete]
    if cut:
        notes.append(f"Not simulated to the end: {', '.join(cut)}.")
    try:
        compare(results)
    except ResultError as error:
        notes.append(f"Compare with care: {error.cause}")
    seers = [name for name, result in results.items() if result.provenance["policy"]["clairvoyant"]]
    if seers:
        notes.append(f"Sees true run times, which no real scheduler can: {', '.join(seers)}.")
    if any(result.provenance["workload"]["limits"] != "requested" for result in results.values()):
        notes.append("The log has no requested times: limits are the run times, so that policies plan perfectly.")
    return notes
