"""What happened in a run: four tables, four records, and the figures that follow from them."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from hpcsim.errors import ResultError
from hpcsim.job import JobId
from hpcsim.results import storage
from hpcsim.results.advised import advice_figures
from hpcsim.results.energy import energy_figures, tariff_of
from hpcsim.results.quantities import count
from hpcsim.results.summary import Figure, summarise

if TYPE_CHECKING:
    import pandas as pd

    from hpcsim.results.explain import Explanation
    from hpcsim.results.plots import Plots


@dataclass(eq=False, repr=False)
class Result:
    """The outcome of one simulation.

    Times are in seconds of the log's own clock; node ids are written ``"0-127,130"``, both ends
    included. For one seed the tables and the summary are the same to the byte; wall-clock times and
    dates are in `timings` only.

    Attributes:
        jobs: one row a submitted job, in the workload's order: ``row job_id submit_s eligible_s
            start_s end_s wait_s run_s limit_s nodes node_ids state state_reason attempts lost_node_s
            user_id partition``. ``start_s`` is NaN for a job that never started, ``end_s`` for one
            that is UNFINISHED; ``wait_s`` runs from eligible to start. ``state`` is categorical.
        attempts: one row an allocation, in order of start: ``row job_id attempt start_s end_s nodes
            node_ids state``. ``attempt`` counts from 1 for each job.
        timeline: the machine after each instant with a change, until the next: ``time_s used_nodes
            queue_length queued_node_s`` (requested node-seconds of waiting jobs that have a limit).
        promises: one row a promise that the policy made, remade or withdrew (`Reserve`), in order:
            ``time_s row job_id start_s``, when, for whom, and the promised start (``inf``: withdrawn).
            It holds until the next one for the same job, or until that job leaves the queue.
        ingest: what the reader kept, changed and refused.
        provenance: seed, versions, policy, cluster, options, workload, and whether the run is
            complete: no error, every job of the workload submitted and ended.
        timings: wall-clock figures of the run.
        power: where the machine's power is described, what it drew from each instant until the next:
            ``time_s power_w jobs_w idle_w boot_w off_w cap_w``; else None. Then `jobs` has further
            columns, ``energy_j cost co2_kg``, and the summary the keys of
            `hpcsim.results.energy.ENERGY_KEYS`.

        waits: why each job waited, where the run was asked to record it (``explain=True``) on a machine
            of which it cannot be told afterwards: ``row from_s to_s cause blocker``; else None.

    Where the run has an advisor, `jobs` has further columns, ``requested_nodes requested_limit_s
    advice``, ``nodes`` and ``limit_s`` are those that it made of them, and the summary has the keys of
    `hpcsim.results.advised.ADVICE_KEYS`.
    """

    jobs: pd.DataFrame
    attempts: pd.DataFrame
    timeline: pd.DataFrame
    promises: pd.DataFrame
    ingest: dict[str, Any] = field(default_factory=dict)
    provenance: dict[str, Any] = field(default_factory=dict)
    timings: dict[str, Any] = field(default_factory=dict)
    power: pd.DataFrame | None = None
    waits: pd.DataFrame | None = None
    _summary: dict[str, Figure] | None = None

    def __repr__(self) -> str:
        extent = "" if self.is_complete else ", incomplete"
        machine = count(self.nodes, self.counted.removesuffix("s"))
        return f"<Result {self.policy_name}: {count(len(self.jobs), 'job')} on {machine}{extent}>"

    @property
    def policy_name(self) -> str:
        """Class name of the policy."""
        return str(self.provenance["policy"]["name"])

    @property
    def nodes(self) -> int:
        """Nodes (or processors) of the machine."""
        return int(self.provenance["nodes"])

    @property
    def counted(self) -> str:
        """What `nodes` counts, ``"nodes"`` or ``"processors"``."""
        return str(self.provenance["counted"])

    @property
    def is_complete(self) -> bool:
        """Whether the whole workload was simulated to its end, without an error."""
        return bool(self.provenance["complete"])

    def summary(self) -> dict[str, Figure]:
        """Return the headline figures; `hpcsim.results.summary.SUMMARY_KEYS` says what each means.

        None stands for a figure that is not defined, such as a mean over no jobs. They are computed
        once; a table that is changed later does not change them.
        """
        if self._summary is None:
            self._summary = summarise(self.jobs, self.timeline, self.nodes, self.provenance["clock_s"])
            if "advice" in self.jobs:
                self._summary |= advice_figures(self.jobs)
            if self.power is not None:
                self._summary |= energy_figures(self.power, tariff_of(self.provenance["cluster"]))
        return dict(self._summary)

    @property
    def plot(self) -> Plots:
        """Plots of this result as Matplotlib figures: ``result.plot.gantt()``; needs the extra ``report``."""
        from hpcsim.results.plots import Plots

        return Plots(self)

    def explain(self, job: JobId, *, is_row: bool = False) -> Explanation:
        """Return why a job waited: its wait, charged to the second to what held it back.

        *job* is the log's identifier, or with *is_row* the job's row. For all jobs at once see
        `hpcsim.results.explain.explain_all`.

        Raises:
            ResultError: the result has no such job, or several.
        """
        from hpcsim.results.explain import explain

        return explain(self, job, is_row=is_row)

    def save(self, folder: str | Path) -> None:
        """Write ``jobs attempts timeline promises`` (Parquet) and ``summary provenance ingest timings`` (JSON).

        ``power`` and ``waits`` (Parquet) are written where there are any.
        The folder appears whole or not at all; an earlier result in it is replaced.

        Raises:
            ResultError: *folder* is a file, holds anything but a result, or cannot be written.
        """
        tables = {"jobs": self.jobs, "attempts": self.attempts, "timeline": self.timeline, "promises": self.promises}
        if self.power is not None:
            tables["power"] = self.power
        if self.waits is not None:
            tables["waits"] = self.waits
        records = {"provenance": self.provenance, "ingest": self.ingest, "timings": self.timings}
        storage.write_folder(Path(folder), tables, {"summary": self.summary(), **records})

    @classmethod
    def load(cls, folder: str | Path) -> Self:
        """Read what `save` wrote.

        Raises:
            ResultError: a file is missing, truncated, or of something else; it is named.
        """
        path = Path(folder)
        tables = {name: storage.read_table(path, name) for name in storage.TABLES}
        summary, provenance, ingest, timings = (storage.read_record(path, name) for name in storage.RECORDS)
        power, waits = (storage.read_further(path, name) for name in storage.FURTHER)
        return cls(
            **tables,
            ingest=ingest,
            provenance=provenance,
            timings=timings,
            power=power,
            waits=waits,
            _summary=summary,
        )

    def to_csv(self, path: str | Path) -> None:
        """Write the table of jobs as CSV, for spreadsheets and other tools.

        Raises:
            ResultError: the file cannot be written.
        """
        try:
            self.jobs.to_csv(path, index=False, lineterminator="\n")
        except OSError as error:
            raise ResultError(f"Cannot write {path}: {error}.", "Check the path.") from error
