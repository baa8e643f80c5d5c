"""What a check found: the sentence, the moment, and the smallest workload that shows it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from hpcsim.decision import Decision, WakeAt
from hpcsim.job import Job
from hpcsim.system import RunningJob
from hpcsim.testing.trial import Moment, Scenario, Step, step_of
from hpcsim.workload import Workload

_COLUMNS = ("submit_s", "run_s", "limit_s", "nodes", "user_id")


@dataclass(frozen=True)
class Violation:
    """A rule that a policy broke on a scenario.

    Attributes:
        sentence: what happened.
        scenario: the workload and the machine on which it happens, where there is one.
        moment: the machine at that instant, where there is one.
        decision: the decision taken then.
        remedy: what to do about it.
    """

    sentence: str
    scenario: Scenario | None = None
    moment: Moment | None = None
    decision: str = ""
    remedy: str = ""

    def __str__(self) -> str:
        lines = [f"{self.sentence} {self.remedy}".strip()]
        if self.decision:
            lines.append(f"Decision: {self.decision}")
        if self.moment is not None:
            lines += _moment_lines(self.moment)
        return "\n".join([*lines, *(_scenario_lines(self.scenario) if self.scenario else ())])

    @property
    def size(self) -> tuple[float, ...]:
        """How large the scenario is; see `Scenario.size`."""
        return self.scenario.size if self.scenario else ()


def describe_step(step: Step, workload: Workload) -> str:
    """Return a decision that was taken, as its policy would have written it, the job by its id."""
    job_id = workload.columns["job_id"][step.row] if step.row >= 0 else ""
    return _written(step.kind, job_id, step.detail)


def describe_decision(decision: Decision, now_s: float) -> str:
    """Return a decision as `describe_step` does."""
    step = step_of(decision, now_s)
    return _written(step.kind, "" if isinstance(decision, WakeAt) else decision.job.job_id, step.detail)


def _written(kind: str, job_id: Any, detail: Any) -> str:
    if kind == "WakeAt":
        return f"WakeAt({_number(detail)})"
    if kind == "Reserve":
        return f"Reserve(job {job_id}, {'inf' if detail is None else _number(detail)})"
    return f"{kind}(job {job_id}{'' if detail is None else f', {detail!r}'})"


def _moment_lines(moment: Moment) -> list[str]:
    running = ", ".join(_running(entry) for entry in moment.running) or "nothing"
    return [
        f"Clock:    {_number(moment.now_s)} s, {_nodes(moment.free)} free; running: {running}",
        f"Queue:    {', '.join(_waiting(job) for job in moment.queue) or 'empty'}",
    ]


def _waiting(job: Job) -> str:
    return f"job {job.job_id} ({_nodes(job.nodes)}, limit {_number(job.limit_s)} s)"


def _running(entry: RunningJob) -> str:
    return f"job {entry.job.job_id} ({_nodes(entry.job.nodes)}, until {_number(entry.limit_end_s)} s at most)"


def _scenario_lines(scenario: Scenario) -> list[str]:
    workload, nodes = scenario.workload, scenario.cluster.nodes
    if not len(workload):
        return [f"Workload: empty, on Cluster.of_nodes({nodes})"]
    columns = {name: workload.columns[name].tolist() for name in _COLUMNS if name in workload.columns}
    rows = [("job", *columns), *zip(map(str, workload.columns["job_id"]), *_texts(columns.values()), strict=True)]
    table = ["  ".join(f"{cell:>8}" for cell in row) for row in rows]
    arguments = ", ".join(f"{name}={_list(values)}" for name, values in columns.items())
    return [f"Workload, on Cluster.of_nodes({nodes}):", *table, f"Again:    Workload.of({arguments})"]


def _texts(columns: Any) -> list[list[str]]:
    return [[_number(value) for value in column] for column in columns]


def _list(values: Sequence[float]) -> str:
    return "[" + ", ".join("math.inf" if value == float("inf") else _number(value) for value in values) + "]"


def _nodes(count: int) -> str:
    return f"{count} node" if count == 1 else f"{count} nodes"


def _number(value: float) -> str:
    return str(int(value)) if float(value).is_integer() else repr(float(value))
