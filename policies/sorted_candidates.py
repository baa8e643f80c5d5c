"""The shadow pass of policies like EASY-SJBF: candidates stand sorted by a static order of their own.

They need not be sorted at each pass, and a deep queue of them is tested at once.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, cast

from hpcsim.job import Job
from hpcsim.policies.estimators import Requested
from hpcsim.policies.orders import FCFS
from hpcsim.policies.shadow import ShadowPass
from hpcsim.system import System
from hpcsim.waiting import WaitingJobs

if TYPE_CHECKING:
    from hpcsim.policies.backfill import Backfill


class SortedCandidatesPass(ShadowPass):
    """A shadow pass that takes its candidates from the sorted queue of the backfill order."""

    @staticmethod
    def serves(policy: Backfill) -> bool:
        """Tell whether this pass starts what a plain one starts.

        Equal keys stand by arrival in a sorted queue, and by the first order in a plain pass: the
        same only where that is FCFS. A sorted queue knows no depth.
        """
        behind = policy.backfill_order
        is_sorted = behind is not None and not behind.is_dynamic
        by_limits = type(policy.estimates) is Requested
        return is_sorted and by_limits and policy.depth is None and isinstance(policy.order, FCFS)

    def _behind(self, waiting: Sequence[Job], head_at: int, system: System) -> Sequence[Job]:
        """Return nothing: see `_chosen`."""
        return ()

    def _chosen(self, candidates: Sequence[Job], system: System) -> list[Job]:
        """Return the jobs that start beside the reservation; the head, which does not fit, is none of them."""
        behind = self._policy.backfill_order
        assert behind is not None
        waiting = cast("WaitingJobs", behind.in_order(system))
        chosen, self._extra = waiting.choose(system.free, system.now_s, self._latest_end_s, self._extra)
        return chosen
