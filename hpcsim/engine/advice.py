"""Ask an advisor about a job, and make of its answer the job that the queue holds.

An advisor is somebody else's model: whatever it raises or answers, the run goes on with the request.
"""

from __future__ import annotations

import math
import operator
from numbers import Real
from time import perf_counter
from typing import Any

import numpy as np

from hpcsim.advisor import REASONS, Advice, Advisor, Reason
from hpcsim.cluster import Cluster
from hpcsim.engine.advice_log import AdviceLog
from hpcsim.engine.observers import Observers
from hpcsim.engine.scalings import Scalings
from hpcsim.job import Job, JobOutcome
from hpcsim.node_ids import MOST_NODES
from hpcsim.system import System


class AdviceDesk:
    """Where each job passes on its way into the queue, if a run has an advisor."""

    def __init__(self, advisor: Advisor, scalings: Scalings, log: AdviceLog, budget_s: float = math.inf) -> None:
        """*budget_s* is how long an answer may take by the wall clock; a later one is discarded."""
        self._budget_s = budget_s
        self._advisor = advisor
        self._scalings = scalings
        self._log = log
        self._system: System

    def open(self, cluster: Cluster, rng: np.random.Generator, system: System) -> None:
        """Prepare the advisor for a run; *system* is the view that it gets.

        Raises:
            PolicyFailed: its `reset` raised an error: nothing runs yet that could go on.
        """
        self._system = system
        Observers.tell([self._advisor.reset], cluster, rng)

    def effective(self, job: Job) -> Job:
        """Return the job to queue for *job*, which may have been advised before; the reason is logged.

        Rigid jobs are those without other counts, or whose run time elsewhere nobody knows.
        """
        asked = job.requested or job
        reason, effective = self._judge(asked)
        self._log.record(effective, reason)
        return effective

    def asked_again(self, asked: Job) -> None:
        """Note that a job is back as its user asked for it: advice had killed it."""
        self._log.requeued += 1
        self._log.effective.pop(asked.row, None)

    def heard(self, job: Job, outcome: JobOutcome, _: System) -> None:
        """Let the advisor learn from a finished job; it sees the system by its own view."""
        try:
            self._advisor.on_end(job, outcome, self._system)
        except (Exception, SystemExit) as error:  # noqa: BLE001 - an advisor never breaks a run
            self._log.errors += 1
            self._log.blame(f"on_end raised {type(error).__name__}: {error}")

    def _judge(self, asked: Job) -> tuple[Reason, Job]:
        if (
            not any(count != asked.nodes for count in asked.allowed_nodes)
            or self._scalings.run_ratio(asked, asked.nodes) is None
        ):
            return "kept-rigid", asked
        try:
            advice, lateness = self._asked(asked)
            fault = lateness or fault_of(advice, asked)
            if fault:
                return self._refuse(fault, asked)
            if advice.propensity < 1:
                self._log.propensity[asked.row] = float(advice.propensity)
            if advice.reason != "advised":
                return advice.reason, asked
            nodes, limit_s = operator.index(advice.nodes), _plain(advice.limit_s)
        except (Exception, SystemExit) as error:  # noqa: BLE001 - an advisor never breaks a run
            return self._refuse(f"raised {type(error).__name__}: {error}", asked)
        if self._scalings.run_ratio(asked, nodes) is None:
            return "kept-rigid", asked
        return "advised", asked if (nodes, limit_s) == (asked.nodes, asked.limit_s) else asked.advised(nodes, limit_s)

    def _asked(self, asked: Job) -> tuple[Advice, str]:
        """Return the answer, and what is to be said of its time if it came too late."""
        began_s = perf_counter()
        advice = self._advisor.advise(asked, self._system)
        took_s = perf_counter() - began_s
        self._log.wall_s.append(took_s)
        if took_s <= self._budget_s:
            return advice, ""
        self._log.late += 1
        return advice, f"answered after {took_s:.3g} s, the budget is {self._budget_s:g} s"

    def _refuse(self, fault: str, asked: Job) -> tuple[Reason, Job]:
        self._log.blame(f"About job {asked.job_id} it {fault}")
        return "kept-error", asked


def fault_of(advice: Any, asked: Job) -> str:
    """Return what is wrong with the advice about *asked*, as "advised ...", or the empty string."""
    if not isinstance(advice, Advice):
        return f"answered with a {type(advice).__name__}, not with Advice"
    if not (isinstance(advice.reason, str) and advice.reason in REASONS):
        return f"gave the reason {_shown(advice.reason)}, which is none of {', '.join(REASONS)}"
    fault = _fault_of_count(advice, asked) or _fault_of_propensity(advice.propensity)
    return fault if fault or advice.reason != "advised" else _fault_of_limit(advice.limit_s, asked)


def _fault_of_count(advice: Advice, asked: Job) -> str:
    nodes: Any = advice.nodes
    if isinstance(nodes, bool | np.bool_) or not hasattr(nodes, "__index__"):
        return f"advised {_shown(nodes)} nodes, which is no whole number"
    count = operator.index(nodes)
    if advice.reason != "advised":
        return "" if count == asked.nodes else f"kept the request and said {count} nodes in place of {asked.nodes}"
    is_allowed = 1 <= count <= MOST_NODES and (count == asked.nodes or count in asked.allowed_nodes)
    return "" if is_allowed else f"advised {count} nodes, which the job does not allow"


def _fault_of_limit(limit_s: Any, asked: Job) -> str:
    if isinstance(limit_s, bool | np.bool_) or not isinstance(limit_s, Real):
        return f"advised a limit of {_shown(limit_s)}, which is no time"
    seconds = float(limit_s)
    return "" if seconds > 0 or seconds == asked.limit_s else f"advised a limit of {limit_s} s"


def _fault_of_propensity(propensity: Any) -> str:
    is_share = isinstance(propensity, Real) and not isinstance(propensity, bool) and 0 < float(propensity) <= 1
    return "" if is_share else f"gave its answer the probability {_shown(propensity)}"


def _plain(limit_s: Any) -> float:
    """Return a limit as a plain number, whole seconds as they were."""
    return int(limit_s) if hasattr(limit_s, "__index__") else float(limit_s)


def _shown(value: Any) -> str:
    text = " ".join(repr(value).split())
    return text if len(text) <= 60 else f"{text[:57]}..."
