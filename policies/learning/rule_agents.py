"""Rules in the place of an agent: they act through the environment, on the jobs in its window."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from hpcsim import registry
from hpcsim.policy import Order

if TYPE_CHECKING:
    from hpcsim.policies.learning.environment import SchedulingEnv


class RuleAgent:
    """Chooses the first job of the window by an order; never waits while a valid job is there.

    FCFS, SJF and SAF find their job in any window, whatever the queue; of other orders the window
    may not hold it.

    Args:
        rule: an `Order`, or its registry name (``"sjf"``). Its key alone is asked, so it must need no
            hooks.
    """

    def __init__(self, rule: Order | str) -> None:
        self.order: Order = registry.make("orders", rule) if isinstance(rule, str) else rule

    def act(self, env: SchedulingEnv) -> int:
        """Return the action at *env*'s present decision. Ties go by arrival."""
        queue, system = env.observation.queue or (), env.system
        key = self.order.key
        best, action = None, len(queue)
        for slot, is_valid in enumerate(env.action_masks()[: len(queue)].tolist()):
            job = queue[slot]
            if job is None or not is_valid:
                continue
            rank = (key(job, system), job.submit_s, job.row)
            if best is None or rank < best:
                best, action = rank, slot
        return action


def play(env: SchedulingEnv, act: Callable[[SchedulingEnv], int], **reset: Any) -> tuple[float, dict[str, Any]]:
    """Play one episode with *act*; return (sum of rewards, last info). *reset* goes to `SchedulingEnv.reset`."""
    env.reset(**reset)
    total, is_over = 0.0, False
    info: dict[str, Any] = {}
    while not is_over:
        _, reward, terminated, truncated, info = env.step(act(env))
        total += reward
        is_over = terminated or truncated
    return total, info
