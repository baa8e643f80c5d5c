"""Why did my job wait? Its wait, charged to the second to the first cause that holds at each instant.

The causes and their order are those of `Cause`. Whether a job fits and breaks a promise is judged
by the state after the last instant at which anything happened: the nodes then free, the limits of
what runs, and the promises that the policy had made with `Reserve`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from hpcsim.errors import ResultError, closest
from hpcsim.job import JobId
from hpcsim.results.quantities import count, duration, percentage
from hpcsim.results.recorded_waits import holders_of, recorded, split_recorded, stretches_of
from hpcsim.results.schedule import Schedule, left_queue_s
from hpcsim.results.waiting_causes import CAUSES, MEANINGS, Cause, held_by_promises, split

if TYPE_CHECKING:
    import pandas as pd

    from hpcsim.results.result import Result

MOST_NAMED = 3
"""Holders of nodes, or of promises, that a sentence names."""

CAUSE_COLUMNS = {cause: f"{cause.replace('-', '_')}_s" for cause in CAUSES}
"""Column of each cause in the table of `explain_all`: seconds."""


class Stretch(NamedTuple):
    """A part of a wait with one cause, from *from_s* to *to_s* seconds; *blocker* holds the promise, if one does."""

    from_s: float
    to_s: float
    cause: Cause
    blocker: JobId | None = None


class Share(NamedTuple):
    """Seconds of a wait laid at the door of job *job_id* of *user_id* (None: not known)."""

    job_id: JobId
    user_id: int | str | None
    seconds: float


@dataclass(frozen=True, slots=True)
class Explanation:
    """Why one job waited.

    Attributes:
        row, job_id, nodes, limit_s, state: the job.
        policy: name of the policy.
        submit_s, left_s: from when to when it waited; it left by a start if `is_started`.
        parts: seconds charged to each cause; their sum is `waited_s`.
        stretches: the same, in order of time.
        holders: who held the nodes while too few were free: each second shared out by nodes held,
            the largest share first. They sum to the seconds of ``too-few-free``.
        blockers: whose promises a start would have broken, the longest first. They sum to the
            seconds of ``reservation``, but for those that no single promise can be named for.
    """

    row: int
    job_id: JobId
    nodes: int
    limit_s: float
    state: str
    policy: str
    submit_s: float
    left_s: float
    is_started: bool
    parts: dict[Cause, float]
    stretches: list[Stretch]
    holders: list[Share]
    blockers: list[Share]

    @property
    def waited_s(self) -> float:
        """Seconds from submit to leaving the queue."""
        return self.left_s - self.submit_s

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain data for JSON; times in seconds."""
        record = {name: getattr(self, name) for name in self.__slots__}
        lists = {name: [entry._asdict() for entry in record[name]] for name in ("stretches", "holders", "blockers")}
        return record | lists | {"waited_s": self.waited_s, "parts": {str(k): v for k, v in self.parts.items()}}

    def __str__(self) -> str:
        """Return the explanation in words, one line a cause, the longest first."""
        how = "started" if self.is_started else f"left the queue ({self.state})"
        head = (
            f"Job {self.job_id} ({count(self.nodes, 'node')}, limit {duration(self.limit_s)}) {how} "
            f"{duration(self.waited_s)} after its submit under {self.policy}."
        )
        return "\n".join([head, *(f"  {line}" for line in self.reasons())])

    def strip(self, cells: int) -> list[Cause]:
        """Return the wait in *cells* equal parts, each by the cause that holds longest in it; empty without one."""
        if not self.waited_s:
            return []
        held_s = [dict.fromkeys(CAUSES, 0.0) for _ in range(cells)]
        for stretch in self.stretches:
            from_cell, to_cell = ((at_s - self.submit_s) / self.waited_s * cells for at_s in stretch[:2])
            for index in range(int(from_cell), min(int(to_cell) + 1, cells)):
                held_s[index][stretch.cause] += min(to_cell, index + 1) - max(from_cell, index)
        return [max(cell, key=lambda cause: cell[cause]) for cell in held_s]

    def reasons(self) -> list[str]:
        """Return a sentence for each cause that held for some time, the longest first."""
        causes = sorted((cause for cause in CAUSES if self.parts[cause] > 0), key=lambda cause: -self.parts[cause])
        return [self._reason(cause) for cause in causes] or ["It did not wait."]

    def _reason(self, cause: Cause) -> str:
        seconds = self.parts[cause]
        named = {Cause.TOO_FEW_FREE: self.holders, Cause.RESERVATION: self.blockers}.get(cause, [])
        verb = {Cause.TOO_FEW_FREE: "held by", Cause.RESERVATION: "that is"}.get(cause, "")
        names = ", ".join(_named(share) for share in named[:MOST_NAMED])
        more = f" and {count(len(named) - MOST_NAMED, 'other')}" if len(named) > MOST_NAMED else ""
        tail = f"; {verb} {names}{more}" if names else ""
        return f"{duration(seconds)} ({percentage(seconds / self.waited_s)}): {MEANINGS[cause]}{tail}."


def explain(result: Result, job: JobId, *, is_row: bool = False) -> Explanation:
    """Return why *job* waited; see `Result.explain`."""
    at = _position(result, job, is_row)
    record = result.jobs.iloc[at]
    left_s = float(left_queue_s(result)[at])
    parts, stretches, holders, blockers = _account(result, at, float(record["eligible_s"]), left_s)
    return Explanation(
        row=int(record["row"]),
        job_id=_plain(record["job_id"]),
        nodes=int(record["nodes"]),
        limit_s=float(record["limit_s"]),
        state=str(record["state"]),
        policy=result.policy_name,
        submit_s=float(record["submit_s"]),
        left_s=left_s,
        is_started=not math.isnan(record["start_s"]),
        parts=dict(zip(CAUSES, parts.tolist(), strict=True)),
        stretches=stretches,
        holders=_shares(result, *holders),
        blockers=_shares(result, *blockers),
    )


Seconds = tuple[Any, Any]
"""Positions in the table of jobs, and seconds laid at the door of each."""


def _account(result: Result, at: int, eligible_s: float, left_s: float) -> tuple[Any, list[Stretch], Seconds, Seconds]:
    """Return the parts of one job's wait, its stretches, and who held nodes and whose promises were in the way."""
    waits, targets = recorded(result), np.array([at])
    if waits is not None:
        cuts = stretches_of(result, waits, at)
        held = [(cut[3], cut[1] - cut[0]) for cut in cuts if cut[3] >= 0]
        blockers = np.array([who for who, _ in held], dtype=np.int64), np.array([seconds for _, seconds in held])
        parts = split_recorded(result, waits, targets)[0]
        return parts, _merged(result, cuts), holders_of(result, cuts), blockers
    schedule = Schedule.of(result, eligible_s, left_s)
    stretches, too_few = _stretches(result, schedule, at)
    return split(schedule, targets)[0], stretches, _held(schedule, too_few), _promised(schedule, targets)


def explain_all(result: Result, positions: Sequence[int] | None = None) -> pd.DataFrame:
    """Return why jobs waited, one row a job: who it is, ``waited_s``, and the seconds of each cause.

    The columns of the causes are those of `CAUSE_COLUMNS`. *positions* in the table of jobs choose
    some of them; default: all.
    """
    targets = np.arange(len(result.jobs)) if positions is None else np.array(positions, dtype=np.int64)
    waits = recorded(result)
    parts = split(Schedule.of(result), targets) if waits is None else split_recorded(result, waits, targets)
    table = result.jobs[["row", "job_id", "user_id", "nodes", "limit_s", "state"]].iloc[targets].copy()
    table["waited_s"] = (left_queue_s(result) - result.jobs["submit_s"].to_numpy())[targets]
    for cause, column in CAUSE_COLUMNS.items():
        table[column] = parts[:, CAUSES.index(cause)]
    return table


def _position(result: Result, job: JobId, is_row: bool) -> int:
    """Return where *job* stands in the table of jobs."""
    jobs = result.jobs
    column = jobs["row" if is_row else "job_id"]
    found = np.flatnonzero(_equal(column, job))
    kind = "row" if is_row else "job"
    if not len(found):
        hint = "" if is_row else closest(str(job), column.astype(str).head(100_000))
        known = f"{count(len(jobs), 'job')}, such as {kind} {column.iloc[0]}" if len(jobs) else "no jobs"
        raise ResultError(f"The result has no {kind} {job}.{hint}", f"It has {known}.")
    if len(found) > 1:
        rows = ", ".join(str(row) for row in jobs["row"].iloc[found[:5]])
        raise ResultError(f"{len(found)} jobs are called {job}: rows {rows}.", "Name one by its row.")
    return int(found[0])


def _equal(column: pd.Series, job: JobId) -> Any:
    """Return where *column* holds *job*; on the command line a number comes as text."""
    if column.dtype.kind not in "iu":
        return (column.astype(str) == str(job)).to_numpy()
    text = str(job).strip()
    return column.to_numpy() == int(text) if text.removeprefix("-").isdecimal() else np.zeros(len(column), dtype=bool)


def _stretches(result: Result, schedule: Schedule, at: int) -> tuple[list[Stretch], Any]:
    """Return the parts of one job's wait in order, and the instants at which too few nodes were free."""
    first, last = int(schedule.first[at]), int(schedule.last[at])
    instants = np.arange(first, last)
    fits = schedule.free[instants] >= schedule.nodes[at]
    cuts: list[tuple[float, float, Cause, int]] = []
    if schedule.eligible_s[at] > schedule.submit_s[at]:
        cuts.append((float(schedule.submit_s[at]), float(schedule.eligible_s[at]), Cause.DEPENDENCY, -1))
    held = {
        int(instant): (float(from_s), int(blocker))
        for found in held_by_promises(schedule, np.array([at]))
        for instant, from_s, blocker in zip(found.instant, found.from_s, found.blocker, strict=True)
    }
    for instant, is_fitting in zip(instants.tolist(), fits.tolist(), strict=True):
        from_s, to_s = float(schedule.time_s[instant]), float(schedule.time_s[instant + 1])
        breaks_s, blocker = held.get(instant, (to_s, -1))
        if not is_fitting:
            cuts.append((from_s, to_s, Cause.TOO_FEW_FREE, -1))
        else:
            cuts += [(from_s, breaks_s, Cause.POLICY, -1), (breaks_s, to_s, Cause.RESERVATION, blocker)]
    return _merged(result, [cut for cut in cuts if cut[1] > cut[0]]), instants[~fits]


def _merged(result: Result, cuts: list[tuple[float, float, Cause, int]]) -> list[Stretch]:
    """Return *cuts* with neighbours of one cause and blocker joined, blockers by their job ids."""
    joined: list[tuple[float, float, Cause, int]] = []
    for cut in cuts:
        if joined and joined[-1][2:] == cut[2:]:
            joined[-1] = (joined[-1][0], *cut[1:])
        else:
            joined.append(cut)
    ids = result.jobs["job_id"]
    return [Stretch(*cut[:3], _plain(ids.iloc[cut[3]]) if cut[3] >= 0 else None) for cut in joined]


def _held(schedule: Schedule, instants: Any) -> tuple[Any, Any]:
    """Return who held nodes at *instants*, and for how many of those seconds by their share of the nodes held."""
    lengths_s = np.zeros(len(schedule.time_s))
    lengths_s[instants] = schedule.time_s[instants + 1] - schedule.time_s[instants]
    used = np.cumsum(
        np.bincount(schedule.held_from, schedule.nodes[schedule.held_by], len(lengths_s))
        - np.bincount(schedule.held_to, schedule.nodes[schedule.held_by], len(lengths_s))
    )
    a_node_s = np.concatenate([[0.0], np.cumsum(lengths_s / np.maximum(used, 1))])
    seconds = schedule.nodes[schedule.held_by] * (a_node_s[schedule.held_to] - a_node_s[schedule.held_from])
    return schedule.held_by, seconds


def _promised(schedule: Schedule, targets: Any) -> tuple[Any, Any]:
    """Return whose promises were in the way, and for how long each time."""
    found = list(held_by_promises(schedule, targets))
    blocker = np.concatenate([np.zeros(0, dtype=np.int64), *(part.blocker for part in found)])
    seconds = np.concatenate([np.zeros(0), *(part.to_s - part.from_s for part in found)])
    return blocker[blocker >= 0], seconds[blocker >= 0]


def _shares(result: Result, position: Any, seconds: Any) -> list[Share]:
    """Return the sum of seconds of each position that has any, the largest first."""
    known, at = np.unique(position, return_inverse=True)
    sums = np.bincount(at, weights=seconds, minlength=len(known))
    order = np.argsort(-sums, kind="stable")
    order = order[sums[order] > 0]
    jobs = result.jobs.iloc[known[order]]
    users = jobs["user_id"].astype(object).where(jobs["user_id"].notna(), None)
    return list(map(Share, jobs["job_id"].tolist(), users.tolist(), sums[order].tolist()))


def _named(share: Share) -> str:
    user = "" if share.user_id is None else f" of user {share.user_id}"
    return f"job {share.job_id}{user} ({duration(share.seconds)})"


def _plain(value: Any) -> Any:
    """Return a table's entry as a Python value, None where it is missing."""
    import pandas as pd

    if pd.isna(value):
        return None
    return value.item() if hasattr(value, "item") else value


def totals(table: pd.DataFrame, kind: str) -> pd.DataFrame:
    """Sum up what `explain_all` returned: ``"all"`` jobs in one row, by ``"width"``, or by ``"user"``.

    Columns ``jobs``, ``waited_s`` and those of `CAUSE_COLUMNS`; users with the longest waits come first.
    """
    import pandas as pd

    from hpcsim.results.agreement import size_classes

    figures = ["waited_s", *CAUSE_COLUMNS.values()]
    if kind == "all":
        groups = pd.Series("all", index=table.index)
    elif kind == "width":
        groups = size_classes(table["nodes"])
    else:
        groups = table["user_id"].astype("str").fillna("not known")
    grouped = table.groupby(groups, observed=True)
    found = grouped[figures].sum()
    found.insert(0, "jobs", grouped.size())
    return found.sort_values("waited_s", ascending=False, kind="stable") if kind == "user" else found
