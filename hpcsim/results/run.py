"""Run a simulation whole: the engine in, a `Result` out."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from functools import partial
from time import perf_counter
from typing import Any

from hpcsim import registry
from hpcsim.advisor import Advisor
from hpcsim.cluster import Cluster
from hpcsim.engine.columns import NOT_SUBMITTED
from hpcsim.engine.job_power import PowerTrace
from hpcsim.engine.need import books_for
from hpcsim.engine.simulation import Simulation
from hpcsim.errors import InvalidDecision, PolicyFailed, StalledPolicy
from hpcsim.placement import Placement
from hpcsim.policy import Policy
from hpcsim.recorder import Recorder
from hpcsim.results.energy import power_table
from hpcsim.results.provenance import failed, provenance
from hpcsim.results.result import Result
from hpcsim.results.tables import promises, tables
from hpcsim.results.wait_recorder import WaitRecorder
from hpcsim.speedup import SpeedUp
from hpcsim.workload import Workload


def simulate(
    workload: Workload,
    cluster: Cluster,
    policy: Policy | str,
    *,
    seed: int = 0,
    until: float | None = None,
    check: bool = False,
    recorders: Sequence[Recorder] = (),
    placement: Placement | None = None,
    grace_s: float = 0,
    kill_at_limit: bool = True,
    feedback: bool = False,
    advisor: Advisor | str | None = None,
    advice_budget_s: float | None = None,
    scaling: SpeedUp | None = None,
    power_trace: PowerTrace = "series",
    explain: bool = False,
) -> Result:
    """Simulate *workload* on *cluster* under *policy*, and return what happened.

    Args:
        workload: the jobs, with the run times that the engine alone reads.
        cluster: the machine.
        policy: a policy, or the registry name of one that needs no parameters (``"easy"``).
        seed: root of all randomness; the same seed gives the same bytes of tables and summary.
        until: stop when the clock reaches this many seconds of the log's own time; jobs that are
            open then are UNFINISHED, and those not yet submitted are counted in the provenance.
        check: watch the engine's invariants while it runs.
        recorders: observers of the run.
        placement: which free nodes a job gets; default: the lowest ids.
        grace_s: seconds that a job may run over its limit before it is killed.
        kill_at_limit: False lets jobs outlive their limits.
        feedback: honour the log's dependencies and think times.
        advisor: node-count advice at submission, by an advisor or its registry name; without one each
            job runs at the node count it asks for.
        advice_budget_s: seconds of wall-clock time that an answer of the advisor may take; a later one is
            discarded and counted, and the provenance says that the run is not reproducible.
        scaling: how moldable jobs scale of whose run times at other counts the workload knows nothing;
            without it they keep their counts.
        power_trace: which record of a job's power is simulated where the log has several: its
            ``"series"``, its ``"mean"`` or its ``"max"``.
        explain: keep why each job waits, for `Result.explain`, where nodes differ, are shared or have power;
            costs time in deep queues. On other machines that is told from the tables anyway.

    Raises:
        InvalidDecision, PolicyFailed, StalledPolicy: the policy misbehaved; ``error.partial`` is
            the `Result` until then.
        UnknownName: no policy has this name.
        Unsupported: the cluster, the workload or an option needs what this version has not.
    """
    advisor = registry.make("advisors", advisor) if isinstance(advisor, str) else advisor
    options: dict[str, Any] = {
        "check": check,
        "placement": _shown(placement),
        "grace_s": grace_s,
        "kill_at_limit": kill_at_limit,
        "feedback": feedback,
        "advisor": _shown(advisor),
        "scaling": _shown(scaling),
    } | ({} if advice_budget_s is None else {"advice_budget_s": advice_budget_s})
    witness = WaitRecorder() if explain and books_for(workload, cluster) != "counting" else None
    clock = perf_counter()
    simulation = Simulation(
        workload,
        cluster,
        registry.make("policies", policy) if isinstance(policy, str) else policy,
        seed=seed,
        check=check,
        recorders=[*recorders, witness] if witness else recorders,
        placement=placement,
        grace_s=grace_s,
        kill_at_limit=kill_at_limit,
        feedback=feedback,
        advisor=advisor,
        advice_budget_s=advice_budget_s,
        scaling=scaling,
        power_trace=power_trace,
    )
    options |= {"power_trace": power_trace} if cluster.has_power else {}
    finish = partial(collect, simulation, seed=seed, until_s=until, options=options, waits=witness)
    return _run(simulation, until, finish, clock)


def _run(simulation: Simulation, until_s: float | None, finish: Callable[[], Result], clock: float) -> Result:
    """Run to the end and return what *finish* makes of it, with how long it took since *clock*."""
    timings: dict[str, Any] = {"began": datetime.now(UTC).isoformat(timespec="seconds")}
    try:
        simulation.run(until_s)
    except (InvalidDecision, PolicyFailed, StalledPolicy) as error:
        cut = error.partial = finish()
        cut.provenance, cut.timings = failed(cut.provenance, error), timings | {"simulate_s": perf_counter() - clock}
        raise
    timings["simulate_s"] = perf_counter() - clock
    result = finish()
    result.timings = timings | _latency(simulation) | {"total_s": perf_counter() - clock}
    return result


def _shown(plug_in: object) -> str | None:
    return None if plug_in is None else repr(plug_in)


def _latency(simulation: Simulation) -> dict[str, float]:
    """Return how long answers of the advisor took; nothing where there is none."""
    advice = simulation.columns.advice
    return {} if advice is None else advice.latency()


def collect(
    simulation: Simulation,
    *,
    seed: int = 0,
    until_s: float | None = None,
    options: dict[str, Any] | None = None,
    waits: WaitRecorder | None = None,
) -> Result:
    """Close the books of *simulation* and return its result; for those who step it themselves.

    *seed*, *until_s* and *options* go into the provenance; *waits* is one of the run's recorders.
    """
    workload = simulation.workload
    columns = simulation.finish()
    not_submitted = columns.state.count(NOT_SUBMITTED)
    record = provenance(simulation, seed=seed, until_s=until_s, options=options or {}, not_submitted=not_submitted)
    record["books"] = columns.books
    if columns.advice is not None:
        record["advice"] = columns.advice.describe()
    cluster = simulation.cluster
    jobs, attempts, timeline = tables(columns, workload, cluster.tariff)
    return Result(
        jobs,
        attempts,
        timeline,
        promises=promises(columns, workload),
        ingest=workload.ledger.to_dict(),
        provenance=record,
        power=None if columns.energy is None else power_table(columns.energy, cluster),
        waits=None if waits is None else waits.table(jobs, record["clock_s"]),
    )
