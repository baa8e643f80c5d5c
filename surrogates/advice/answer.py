"""Advice on one job outside a simulation: front, choice, intervals and why, in words and as plain data."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from hpcsim.advisor import Advice
from hpcsim.cluster import Cluster
from hpcsim.job import Job
from hpcsim.surrogates.advice.candidates import counts_of
from hpcsim.surrogates.advice.contexts import rows_or_frame
from hpcsim.surrogates.advice.experience import Experience
from hpcsim.surrogates.advice.front_advisor import FrontAdvisor, surrogate_of

WHY = {
    "advised": "it costs least by the rule among the counts that may be advised",
    "kept-no-gain": "no count that may be advised is better by the rule than the one asked for",
    "kept-no-support": "too little is known of jobs like this at other counts",
    "kept-deadline": "every other count breaks a bound: that of the rule, or the partition's longest limit",
    "kept-declined": "this user takes no advice",
}


@dataclass(frozen=True, slots=True, eq=False)
class Answer:
    """What an advisor says of one job.

    Attributes:
        job: as asked for.
        advice: the choice.
        rows: one a count considered: ``nodes run_s run_s_low run_s_high power_w power_w_low power_w_high
            energy_j supported is_on_front``.
    """

    job: Job
    advice: Advice
    rows: tuple[dict[str, Any], ...]

    @property
    def chosen(self) -> dict[str, Any]:
        """The row of the advised count."""
        return next(row for row in self.rows if row["nodes"] == self.advice.nodes)

    def to_dict(self) -> dict[str, Any]:
        """Return all of it as plain data."""
        return {
            "asked": {"nodes": self.job.nodes, "limit_s": self.job.limit_s},
            "nodes": self.advice.nodes,
            "limit_s": self.advice.limit_s,
            "reason": self.advice.reason,
            "why": self.why(),
            "chosen": self.chosen,
            "counts": list(self.rows),
        }

    def why(self) -> str:
        """Return the reason in a sentence."""
        words = WHY[self.advice.reason]
        verb = "Take" if self.advice.reason == "advised" else "Keep"
        return f"{verb} {self.advice.nodes} node{'s' if self.advice.nodes != 1 else ''}: {words}."


def answer(advisor: FrontAdvisor, job: Job, cluster: Cluster) -> Answer:
    """Return what *advisor* says of *job* on an empty *cluster*; its surrogate must be fitted.

    Nobody waits there, so that a rule which looks at the queue weighs the job alone.

    Raises:
        InvalidArgument: the surrogate has learned nothing.
    """
    model = surrogate_of(advisor.surrogate)
    counts = counts_of(job, cluster.nodes, advisor.most_counts)
    contexts = rows_or_frame(
        Experience(advisor.before).context(job, job.submit_s), takes_rows=getattr(model, "takes_rows", False)
    )
    found = model.predict(contexts, counts)
    advice = advisor.advise(job, _Empty(cluster, job.submit_s))  # type: ignore[arg-type]
    on_front = {nodes for nodes, _, _ in advice.front}
    columns = [found.mean[0, :, 0], found.lower[0, :, 0], found.upper[0, :, 0]]
    columns += [found.mean[0, :, 1], found.lower[0, :, 1], found.upper[0, :, 1]]
    rows = []
    for place, count in enumerate(counts.tolist()):
        run_s, low_s, high_s, power_w, low_w, high_w = (_plain(column[place]) for column in columns)
        known = {"run_s": run_s, "run_s_low": low_s, "run_s_high": high_s}
        known |= {"power_w": power_w, "power_w_low": low_w, "power_w_high": high_w}
        energy_j = None if run_s is None or power_w is None else run_s * power_w
        about = {"supported": bool(found.supported[0, place]), "is_on_front": count in on_front}
        rows.append({"nodes": count} | known | {"energy_j": energy_j} | about)
    return Answer(job, advice, tuple(rows))


def _plain(value: Any) -> float | None:
    return float(value) if np.isfinite(value) else None


class _Empty:
    """A machine on which nothing runs and nobody waits, as far as advisors look."""

    ends_seen = 0
    power_w = math.nan
    queue: tuple[Job, ...] = ()

    def __init__(self, cluster: Cluster, now_s: float) -> None:
        self.cluster, self.now_s = cluster, now_s

    def profile(self) -> Any:
        """Return all nodes free for ever."""
        from hpcsim.profile import Profile

        return Profile(self.now_s, self.cluster.nodes)
