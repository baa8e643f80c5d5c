"""Advisors of tests: one that says what it is told to, one that raises, one that answers anything."""

from __future__ import annotations

from typing import Any

from hpcsim.advisor import Advice, Advisor
from hpcsim.job import Job, JobOutcome
from hpcsim.system import System


class Says(Advisor):
    """Answers each job by its id, as (nodes, limit in s); others decline."""

    answers: dict[Any, Any]

    def advise(self, job: Job, system: System) -> Advice:
        if job.job_id not in self.answers:
            return Advice(nodes=job.nodes, limit_s=job.limit_s, reason="kept-declined")
        nodes, limit_s = self.answers[job.job_id]
        return Advice(nodes=nodes, limit_s=limit_s, reason="advised")


class Answers(Advisor):
    """Answers with anything at all."""

    answer: Any

    def advise(self, job: Job, system: System) -> Any:
        return self.answer


class Raises(Advisor):
    """Raises whatever it is asked."""

    error: BaseException

    def advise(self, job: Job, system: System) -> Advice:
        raise self.error

    def on_end(self, job: Job, outcome: JobOutcome, system: System) -> None:
        raise self.error


class Erratic(Advisor):
    """Goes through its answers, one a question, again and again: counts, nonsense and errors."""

    answers: tuple[Any, ...]

    def reset(self, cluster: Any, rng: Any) -> None:
        self._asked = 0

    def advise(self, job: Job, system: System) -> Advice:
        answer = self.answers[self._asked % len(self.answers)]
        self._asked += 1
        if answer == "raise":
            raise RuntimeError("no model")
        system.fits(job)
        nodes = job.nodes if answer is None else answer
        return Advice(nodes=nodes, limit_s=job.limit_s * 2, reason="kept-declined" if answer is None else "advised")
