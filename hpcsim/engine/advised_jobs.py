"""The life of jobs in a run with an advisor: each is advised as it is submitted, and again when somebody asks."""

from __future__ import annotations

from hpcsim.engine.advice import AdviceDesk
from hpcsim.engine.jobs import JobLife
from hpcsim.job import Job


class AdvisedLife(JobLife):
    """Queues the effective job in place of the one that was submitted.

    Attributes:
        desk: where advice is asked for.
    """

    desk: AdviceDesk

    def admit(self, job: Job) -> None:
        """Put the effective job into the queue, or reject it: judged is what would run, not what was asked."""
        effective = self.desk.effective(job)
        if effective is not job:
            self.truth.move(effective)
        super().admit(effective)

    def advise_again(self, job: Job) -> Job:
        """Ask about a waiting job again; it keeps its place in the queue. Returns the job that waits now.

        A promise made to the job as it was is void. The new job may turn out never to run; it is rejected.
        """
        effective = self.desk.effective(job)
        if effective == job:
            return job
        self.truth.move(effective)
        self._keeper.replace(effective)
        self.promised.pop(job.row, None)
        if self._checker:
            self._checker.changed(effective, self.env._now)
        self._observers.tell(self._observers.change, job, effective, self._system)
        self.look_again()
        reason = self._never_runs(effective)
        if reason:
            self.reject(effective, reason)
        return effective
