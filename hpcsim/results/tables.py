"""From the raw columns of a run to its tables, by whole columns and without a Python object a job."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from hpcsim.engine.columns import NOT_SUBMITTED, STATES, RunColumns
from hpcsim.power import Tariff
from hpcsim.results.advised import JOB_ADVICE_COLUMNS, advised_columns
from hpcsim.results.asked import Asked, text_column
from hpcsim.results.energy import JOB_ENERGY_COLUMNS, job_energy
from hpcsim.results.instants import instants
from hpcsim.results.lost_attempts import attempt_codes, attempt_ends_s, lost_node_s, queue_spans
from hpcsim.results.usage import busy_spans, held_nodes
from hpcsim.workload import Workload

if TYPE_CHECKING:
    import pandas as pd

JOB_COLUMNS = (
    *("row", "job_id", "submit_s", "eligible_s", "start_s", "end_s", "wait_s", "run_s", "limit_s", "nodes"),
    *("node_ids", "state", "state_reason", "attempts", "lost_node_s", "user_id", "partition"),
)
"""Columns of the table of jobs, in order."""

ATTEMPT_COLUMNS = ("row", "job_id", "attempt", "start_s", "end_s", "nodes", "node_ids", "state")
"""Columns of the table of attempts, in order."""

TIMELINE_COLUMNS = ("time_s", "used_nodes", "queue_length", "queued_node_s")
"""Columns of the timeline, in order."""

PROMISE_COLUMNS = ("time_s", "row", "job_id", "start_s")
"""Columns of the table of promises, in order."""

Column = NDArray[Any]
NEVER = np.array([np.nan])
"""Put behind a column of attempts, so that attempt -1 (none) has a time too."""


def tables(
    columns: RunColumns, workload: Workload, tariff: Tariff | None = None
) -> tuple[pd.DataFrame, pd.DataFrame, pd.DataFrame]:
    """Return the tables of jobs, attempts and instants, as `Result` describes them.

    The jobs' nodes, limits and names come from the workload, and from `RunColumns.added` for jobs
    that were submitted during the run. Jobs that were never submitted are left out.
    """
    state = np.frombuffer(columns.state, dtype=np.uint8)
    rows = np.flatnonzero(state != NOT_SUBMITTED).astype(np.int32)
    asked = Asked(workload, columns, len(state))
    timeline = _timeline(columns, asked, rows)  # first: what it needs meanwhile is more than what the others keep
    node_ids = _node_ids(columns)
    jobs = _jobs(columns, asked, state, rows, node_ids, tariff)
    return jobs, _attempts(columns, asked, node_ids), timeline


def promises(columns: RunColumns, workload: Workload) -> pd.DataFrame:
    """Return the table of promises, as `Result` describes it."""
    import pandas as pd

    rows = np.array(columns.promise_row, dtype=np.int32)
    asked = Asked(workload, columns, len(columns.state))
    table = {
        "time_s": np.array(columns.promise_at_s),
        "row": rows,
        "job_id": _ids(asked.column("job_id")[rows]),
        "start_s": np.array(columns.promise_start_s),
    }
    return pd.DataFrame({name: table[name] for name in PROMISE_COLUMNS}, copy=False)


def _jobs(
    columns: RunColumns, asked: Asked, state: Column, rows: Column, node_ids: Any, tariff: Tariff | None
) -> pd.DataFrame:
    import pandas as pd

    last = columns.attempt_of()[rows]
    eligible_s = np.frombuffer(columns.eligible_s)[rows]
    start_s = np.concatenate([np.frombuffer(columns.attempt_start_s), NEVER])[last]
    end_s = np.frombuffer(columns.ended_s)[rows]
    table = {
        "row": rows,
        "job_id": _ids(asked.column("job_id")[rows]),
        "submit_s": asked.column("submit_s", np.float64)[rows],
        "eligible_s": eligible_s,
        "start_s": start_s,
        "end_s": end_s,
        "wait_s": start_s - eligible_s,
        "run_s": end_s - start_s,
        "limit_s": asked.effective("limit_s", np.float64)[rows],
        "nodes": asked.effective("nodes", np.int32)[rows],
        "node_ids": text_column(_of_last_attempt(node_ids, last)),
        "state": _states(state[rows]),
        "state_reason": _reasons(columns.reasons, rows, len(state)),
        "attempts": _attempt_counts(columns, len(state))[rows],
        "lost_node_s": lost_node_s(columns, len(state))[rows],
        "user_id": asked.users(rows),
        "partition": asked.partitions(rows),
    }
    names: tuple[str, ...] = JOB_COLUMNS
    if columns.advice is not None:
        requested = asked.column("nodes", np.int32), asked.column("limit_s", np.float64)
        table |= advised_columns(columns.advice, *requested, rows)
        names += JOB_ADVICE_COLUMNS
    if columns.energy is not None:
        table |= job_energy(columns.energy, tariff, rows)
        names += JOB_ENERGY_COLUMNS
    return pd.DataFrame({name: table[name] for name in names}, copy=False)


def _attempts(columns: RunColumns, asked: Asked, node_ids: Any) -> pd.DataFrame:
    import pandas as pd

    rows = np.frombuffer(columns.attempt_row, dtype=np.int64).astype(np.int32)
    table = {
        "row": rows,
        "job_id": _ids(asked.column("job_id")[rows]),
        "attempt": _ordinals(rows),
        "start_s": np.array(columns.attempt_start_s),
        "end_s": attempt_ends_s(columns),
        "nodes": _held(columns, asked.effective("nodes", np.int32)[rows]),
        "node_ids": text_column(node_ids),
        "state": _states(attempt_codes(columns)),
    }
    return pd.DataFrame({name: table[name] for name in ATTEMPT_COLUMNS}, copy=False)


def _timeline(columns: RunColumns, asked: Asked, rows: Column) -> pd.DataFrame:
    import pandas as pd

    attempt_row = np.frombuffer(columns.attempt_row, dtype=np.int64)
    start_s = np.frombuffer(columns.attempt_start_s)
    nodes, limit_s = asked.effective("nodes"), asked.effective("limit_s", np.float64)
    area_node_s = np.where(np.isfinite(limit_s[rows]), nodes[rows] * limit_s[rows], 0)
    held = start_s, attempt_ends_s(columns), _held(columns, nodes[attempt_row])
    table = instants(
        *queue_spans(columns, rows, area_node_s),
        *(busy_spans(columns, held[0], held[1]) if columns.books == "shared" else held),
    )
    return pd.DataFrame({name: table[name] for name in TIMELINE_COLUMNS}, copy=False)


def _held(columns: RunColumns, asked_nodes: Column) -> Column:
    """Return the nodes that each attempt held: what was asked, unless the machine rounds requests up."""
    is_known = columns.books == "counting" and not columns.lost
    return asked_nodes if is_known else held_nodes(columns).astype(np.int32)


def _attempt_counts(columns: RunColumns, rows: int) -> Column:
    return np.bincount(np.frombuffer(columns.attempt_row, dtype=np.int64), minlength=rows).astype(np.int32)


def _ordinals(rows: Column) -> Column:
    """Return 1, 2, ... for the first, second, ... attempt of each row."""
    import pandas as pd

    if not len(rows) or np.bincount(rows).max() == 1:
        return np.ones(len(rows), dtype=np.int32)
    return (pd.Series(rows).groupby(rows).cumcount() + 1).to_numpy(dtype=np.int32)


def _node_ids(columns: RunColumns) -> Any:
    """Return the nodes of each attempt as Arrow text, without a Python string for each at one time."""
    import pyarrow as pa

    texts, kind = columns.node_ids(), pa.large_string()
    return pa.concat_arrays(
        [pa.array([], kind), *(pa.array(some, kind) for some in iter(lambda: list(islice(texts, 65_536)), []))]
    )


def _of_last_attempt(node_ids: Any, last: Column) -> Any:
    """Return the nodes of each job's last attempt, the empty text where it never started."""
    import pyarrow as pa
    import pyarrow.compute as pc

    return pc.fill_null(node_ids.take(pa.array(last, mask=last < 0)), "")


def _ids(job_ids: Column) -> Any:
    """Return job ids as numbers, or as text where the log has text."""
    import pandas as pd

    return job_ids if job_ids.dtype.kind in "iu" else pd.array(job_ids.astype(str).astype(object), dtype="str")


def _states(codes: Column) -> Any:
    import pandas as pd

    return pd.Categorical.from_codes(codes.astype(np.int8), categories=pd.Index([str(state) for state in STATES]))


def _reasons(reasons: dict[int, str], rows: Column, count: int) -> Any:
    """Return why each job ended so, as a categorical: most say nothing."""
    import pandas as pd

    known = {"": 0}
    codes = np.zeros(count, dtype=np.int32)
    for row, reason in reasons.items():
        codes[row] = known.setdefault(reason, len(known))
    return pd.Categorical.from_codes(codes[rows], categories=pd.Index(list(known)))
