"""`hpcsim surrogate predict`: what would these jobs take and draw at other node counts?"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from numpy.typing import NDArray

from hpcsim.commands import options
from hpcsim.commands.output import print_json, print_table, results_only
from hpcsim.commands.surrogate_plugins import contexts_of, load_model, outcomes_of
from hpcsim.commands.trace import read_trace
from hpcsim.errors import InvalidArgument
from hpcsim.results.quantities import count, duration, number
from hpcsim.surrogate import Prediction
from hpcsim.workload import Workload

SHOWN, MOST_COUNTS = 3, 100_000
MOST_NODES = 10**9
"""No machine is larger; beyond it a count is a slip of the hand."""


def surrogate_predict(
    model: Annotated[Path, typer.Argument(parser=options.path, metavar="MODEL", help="Folder of a fitted surrogate.")],
    trace: options.Trace,
    *,
    nodes: Annotated[str, typer.Option("--nodes", metavar="N,N,A-B", help="Node counts, as 1,2,4 or 1-64.")],
    job: Annotated[
        list[str] | None,
        typer.Option("--job", metavar="ID", help="Job of the log; repeatable. Else the last three."),
    ] = None,
    limit: options.Limit = None,
    file_format: options.Format = "auto",
    read: options.Read = None,
    json: options.Json = False,
) -> None:
    """Predict run time and power of jobs of a log at other node counts, with 90 % intervals.

    A job is seen as at its submission: with what had ended by then. Counts marked "beyond" are more than a factor of
    two away from all that its application had run at: the model extrapolates.
    """
    counts = parse_counts(nodes)
    surrogate = load_model(model)
    workload = read_trace(trace, file_format, read, limit=limit)
    rows = _rows(workload, job)
    with results_only():
        prediction = surrogate.predict(contexts_of(workload, outcomes_of(workload), rows), counts)
    if json:
        print_json([_plain(workload, prediction, place, row, counts) for place, row in enumerate(rows.tolist())])
        return
    for place, row in enumerate(rows.tolist()):
        asked, submit_s = int(workload.columns["nodes"][row]), float(workload.columns["submit_s"][row])
        title = f"Job {workload.columns['job_id'][row]}: asked for {count(asked, 'node')} at {number(submit_s)} s"
        headings = ("nodes", "run time", "90 %", "power", "90 %", "")
        print_table(title, headings, _lines(prediction, place, counts, asked), left=0)


def parse_counts(text: str) -> NDArray[np.int64]:
    """Return the node counts of ``1,2,4`` or ``1-64``, ascending, each once.

    Raises:
        InvalidArgument: it is something else.
    """
    counts: set[int] = set()
    for part in map(str.strip, text.split(",")):
        low, dash, high = (piece.strip() for piece in part.partition("-"))
        ends = (low, high) if dash else (low, low)
        if not all(end.isascii() and end.isdigit() for end in ends):
            raise InvalidArgument(f"'{part}' is no node count.", "Write whole numbers from 1, as 1,2,4 or 1-64.")
        if max(map(len, ends)) > len(str(MOST_NODES)) or int(ends[1]) > MOST_NODES:
            raise InvalidArgument(f"'{part}' is more nodes than any machine has.", f"Give at most {MOST_NODES:,}.")
        first, last = int(ends[0]), int(ends[1])
        if not 1 <= first <= last:
            raise InvalidArgument(f"'{part}' is no range of node counts.", "Write it upwards from 1, as 1-64.")
        if last - first + len(counts) >= MOST_COUNTS:
            raise InvalidArgument(f"'{text}' is too many node counts.", f"Give at most {MOST_COUNTS:,}.")
        counts.update(range(first, last + 1))
    return np.array(sorted(counts), dtype=np.int64)


def _rows(workload: Workload, wanted: list[str] | None) -> NDArray[np.int64]:
    if not len(workload):
        raise InvalidArgument("The log holds no job.", "Give one with jobs.")
    if not wanted:
        return workload.arrival_order()[-SHOWN:]
    ids = [str(job_id) for job_id in workload.columns["job_id"].tolist()]
    place = {job_id: row for row, job_id in reversed(list(enumerate(ids)))}
    for job_id in wanted:
        if job_id not in place:
            raise InvalidArgument(f"The log has no job '{job_id}'.", f"Its first jobs are {', '.join(ids[:3])}.")
    return np.array([place[job_id] for job_id in wanted], dtype=np.int64)


def _lines(prediction: Prediction, place: int, counts: NDArray[np.int64], asked: int) -> list[tuple[str, ...]]:
    lines: list[tuple[str, ...]] = []
    for at, nodes in enumerate(counts.tolist()):
        mean, low, high = (part[place, at] for part in (prediction.mean, prediction.lower, prediction.upper))
        said = [] if prediction.supported[place, at] else ["beyond"]
        said += ["asked"] if nodes == asked else []
        times = duration(mean[0]), f"{duration(low[0])} to {duration(high[0])}"
        watts = [
            f"{number(round(value))} W" if np.isfinite(value) else "not known" for value in (mean[1], low[1], high[1])
        ]
        powers = watts[0], f"{watts[1]} to {watts[2]}" if np.isfinite(mean[1]) else ""
        lines.append((f"{nodes:,}", *times, *powers, ", ".join(said)))
    return lines


def _plain(
    workload: Workload, prediction: Prediction, place: int, row: int, counts: NDArray[np.int64]
) -> dict[str, Any]:
    parts = {"mean": prediction.mean, "lower": prediction.lower, "upper": prediction.upper}
    figures: dict[str, Any] = {}
    for target, name in enumerate(("run_s", "power_w")):
        figures |= {f"{name}_{part}": values[place, :, target].tolist() for part, values in parts.items()}
    job_id = workload.columns["job_id"][row]
    known = {"job_id": job_id.item() if hasattr(job_id, "item") else job_id, "row": row}
    known |= {"asked_nodes": int(workload.columns["nodes"][row]), "nodes": counts.tolist()}
    return known | figures | {"supported": prediction.supported[place].tolist()}
