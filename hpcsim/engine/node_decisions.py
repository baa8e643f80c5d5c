"""The rules of decisions where nodes differ: a job gets nodes that it may use, of one partition."""

from __future__ import annotations

from collections.abc import Iterable

from hpcsim.decision import Decision, Start
from hpcsim.engine.decisions import Decider, named
from hpcsim.engine.node_ledger import NodeLedger
from hpcsim.job import Job
from hpcsim.node_ids import Interval, format_intervals


class NodeDecider(Decider):
    """Applies a decision on a machine whose nodes differ."""

    def apply(self, decision: Decision) -> None:
        """Check *decision* against the machine as it is now, and carry it out."""
        if type(decision) is not Start:
            super().apply(decision)
            return
        job = self._waiting(decision.job, "start")
        ledger = self._ledger
        if decision.node_ids is not None:
            self._life.start(job, self._named_nodes(job, decision.node_ids))
        elif ledger.fits(job):
            self._life.start(job, None)
        else:
            raise self._too_wide(job, f"which needs {job.nodes} nodes of certain kinds, and not so many are free")

    @property
    def _ledger(self) -> NodeLedger:
        ledger = self._life.ledger
        assert isinstance(ledger, NodeLedger)
        return ledger

    def _named_nodes(self, job: Job, node_ids: Iterable[int]) -> list[Interval]:
        intervals = self._checked(job, node_ids)
        refusal = self._ledger.refusal_of(job, intervals)
        if refusal:
            raise self._invalid(
                f"named the nodes {format_intervals(intervals)} for job {job.job_id}, {refusal}",
                "Name free nodes that it may use, or leave node_ids out.",
                "node-ids",
                job,
                self._free_nodes.count,
            )
        return intervals

    def _check_reserved(self, job: Job, node_ids: Iterable[int]) -> None:
        """Refuse a promise of nodes that the machine does not have."""
        self._checked(job, node_ids)

    def _checked(self, job: Job, node_ids: Iterable[int]) -> list[Interval]:
        ids, intervals = named(node_ids)
        if not intervals or len(set(ids)) != len(ids) or intervals[0][0] < 0 or intervals[-1][1] >= self._ledger.nodes:
            raise self._invalid(
                f"named {len(ids)} node ids for job {job.job_id}, which are not all nodes of this machine, each once",
                "Name nodes from 0 to the machine's last as whole numbers, or leave node_ids out.",
                "node-ids",
                job,
                self._free_nodes.count,
            )
        return intervals
