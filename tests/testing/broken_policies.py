"""Policies that break one rule of the kit and no other. At the top level, so that other processes can make them."""

from __future__ import annotations

import math
import random
from typing import Any

from hpcsim.decision import Reserve, Start
from hpcsim.policies import FCFS
from hpcsim.policy import Policy


class Sound(Policy):
    """First come, first served, written out; it breaks nothing."""

    guarantees = ("fcfs-order",)
    invariances = ("time-shift", "time-scale")

    def schedule(self, system: Any) -> Any:
        for job in system.queue:
            if not system.fits(job):
                return
            yield Start(job)


class MisspelledClaim(FCFS):
    guarantees = ("fcfs-ordre",)


class OneStringForATuple(FCFS):
    guarantees = "fcfs-order"  # type: ignore[assignment]


class StartsTwice(Policy):
    def schedule(self, system: Any) -> Any:
        for job in list(system.queue):
            if system.fits(job):
                yield Start(job)
                if len(system.running) > 2:
                    yield Start(job)


class IgnoresFree(Policy):
    def schedule(self, system: Any) -> Any:
        for job in system.queue:
            yield Start(job)


class NamesTakenNodes(Policy):
    """Puts every job on the first nodes, whoever holds them."""

    def schedule(self, system: Any) -> Any:
        for job in system.queue:
            if system.fits(job):
                yield Start(job, range(job.nodes))


class NeverStarts(Policy):
    def schedule(self, system: Any) -> Any:
        return ()


class LeavesLongJobs(Policy):
    def schedule(self, system: Any) -> Any:
        for job in system.queue:
            if system.fits(job) and job.limit_s < 10:
                yield Start(job)


class RaisesOnDeepQueues(Sound):
    def schedule(self, system: Any) -> Any:
        if len(system.queue) > 5:
            raise RuntimeError("too many")
        yield from super().schedule(system)


class ReadsTheHeadUnasked(Policy):
    """Looks at the head before it knows that there is one, also behind the last job of a pass."""

    def schedule(self, system: Any) -> Any:
        while system.fits(system.queue[0]):
            yield Start(system.queue[0])


class ReadsTheHeadFirst(Policy):
    """Asked with nobody waiting it fails; the engine never does that."""

    def schedule(self, system: Any) -> Any:
        head = system.queue[0]
        while head is not None and system.fits(head):
            yield Start(head)
            head = system.queue[0] if system.queue else None


class PairsOnly(Policy):
    """Starts nobody while only one waits."""

    def schedule(self, system: Any) -> Any:
        if len(system.queue) > 1:
            for job in system.queue:
                if system.fits(job):
                    yield Start(job)


class KeepsANodeFree(Policy):
    """`<` for `<=`: a job as wide as the machine never starts."""

    def schedule(self, system: Any) -> Any:
        for job in system.queue:
            if job.nodes < system.free or (system.running and system.fits(job)):
                yield Start(job)


class DemandsDistinctSubmits(Sound):
    def schedule(self, system: Any) -> Any:
        submits = [job.submit_s for job in system.queue]
        if len(set(submits)) < len(submits):
            raise ValueError("two jobs at one instant")
        yield from super().schedule(system)


class RenamesJobs(Sound):
    def schedule(self, system: Any) -> Any:
        for job in system.queue:
            object.__setattr__(job, "name", "seen")
        yield from super().schedule(system)


class EmptiesTheQueue(Sound):
    """Works around the engine: takes the last of many waiting jobs off the queue itself."""

    def schedule(self, system: Any) -> Any:
        yield from super().schedule(system)
        if len(system.queue) > 2:
            system.queue._slot.popitem()


class KeepsTheView(Sound):
    def schedule(self, system: Any) -> Any:
        self._view = system
        yield from super().schedule(system)


class KeepsTheQueue(Sound):
    def schedule(self, system: Any) -> Any:
        self._deep = [{"waiting": system.queue.__len__}]
        yield from super().schedule(system)


class FlipsACoin(Policy):
    def schedule(self, system: Any) -> Any:
        jobs = list(system.queue)
        random.shuffle(jobs)
        for job in jobs:
            if system.fits(job):
                yield Start(job)


class RemembersRuns(Policy):
    """Counts passes over all runs, and turns round after 20."""

    def __post_init__(self) -> None:
        self._passes = 0

    def schedule(self, system: Any) -> Any:
        self._passes += 1
        jobs = list(system.queue)
        for job in jobs if self._passes < 20 else reversed(jobs):
            if system.fits(job):
                yield Start(job)


class HasAHiddenParameter(Policy):
    """Decides by something that is no parameter."""

    def __post_init__(self) -> None:
        self.is_reversed = False

    def schedule(self, system: Any) -> Any:
        jobs = list(system.queue)
        for job in reversed(jobs) if self.is_reversed else jobs:
            if system.fits(job):
                yield Start(job)


def with_a_hidden_parameter() -> Policy:
    """Return one whose hidden parameter is set."""
    policy = HasAHiddenParameter()
    policy.is_reversed = True
    return policy


def defined_inside() -> Policy:
    """Return a policy whose class has no name to find it by."""

    class Inside(Sound):
        pass

    return Inside()


class AsksForRunTimes(Policy):
    def schedule(self, system: Any) -> Any:
        for job in sorted(system.queue, key=system.true_run_time_s):
            if system.fits(job):
                yield Start(job)


class PeeksAtRunTimes(Policy):
    """Shortest true run time first, out of the engine's own books."""

    def schedule(self, system: Any) -> Any:
        truth = system._EngineSystem__life.truth
        for job in sorted(system.queue, key=truth.run_s):
            if not system.fits(job):
                return
            yield Start(job)


class PeeksAtArrivals(Policy):
    """Starts nobody while another job is about to arrive."""

    def schedule(self, system: Any) -> Any:
        submits_s = system._EngineSystem__life.truth._workload.columns["submit_s"]
        if not any(system.now_s < submit_s <= system.now_s + 2 for submit_s in submits_s):
            yield from Sound().schedule(system)


class OvertakesInSecret(Policy):
    guarantees = ("fcfs-order",)

    def schedule(self, system: Any) -> Any:
        for job in system.queue:
            if system.fits(job):
                yield Start(job)


class DelaysTheHead(Policy):
    """Promises the head its shadow time, and lets anybody overtake it."""

    guarantees = ("no-head-delay",)

    def schedule(self, system: Any) -> Any:
        for job in system.queue:
            if system.fits(job):
                yield Start(job)
        if system.queue:
            head = system.queue[0]
            if system.promised.get(head.row) != system.earliest_start_s(head):
                yield Reserve(head, system.earliest_start_s(head))


class PromisesNothing(Sound):
    """First come, first served keeps every promise; it makes none."""

    guarantees = ("no-head-delay",)


class PromisesTheMoon(Sound):
    """Nobody is ever late by a promise for the year 3000."""

    guarantees = ("no-head-delay",)

    def schedule(self, system: Any) -> Any:
        yield from super().schedule(system)
        if system.queue and system.queue[0].row not in system.promised:
            yield Reserve(system.queue[0], system.now_s + 1e9)


class PromisesEverybodyTheMoon(Sound):
    """The same for all who wait."""

    guarantees = ("no-delay-of-any",)

    def schedule(self, system: Any) -> Any:
        yield from super().schedule(system)
        for job in system.queue:
            if job.row not in system.promised:
                yield Reserve(job, system.now_s + 1e9)


class ForgetsLaterPromises(Sound):
    """Promises everybody the end of all that runs, which only the first of them can count on."""

    guarantees = ("no-delay-of-any",)

    def schedule(self, system: Any) -> Any:
        yield from super().schedule(system)
        ends_s = max((entry.limit_end_s for entry in system.running), default=math.inf)
        for job in system.queue:
            if job.row not in system.promised:
                yield Reserve(job, ends_s)


class RestsEvenSeconds(Policy):
    """Starts at most one job in a pass of an even second."""

    invariances = ("time-shift",)

    def schedule(self, system: Any) -> Any:
        for job in system.queue:
            if system.fits(job):
                yield Start(job)
                if system.now_s % 2 == 0 and system.running:
                    return


class CallsFiveSecondsShort(Policy):
    invariances = ("time-scale",)

    def schedule(self, system: Any) -> Any:
        for job in sorted(system.queue, key=lambda job: job.limit_s > 5):
            if system.fits(job):
                yield Start(job)
