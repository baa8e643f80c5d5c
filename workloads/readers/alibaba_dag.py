"""Alibaba's task names: ``M5_3_4`` is task 5 of its job and waits for tasks 3 and 4."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

_IN_GRAPH = re.compile(r"[A-Za-z]+(\d{1,9})((?:_\d{1,9})*)", re.ASCII)


def parse_name(name: str) -> tuple[int, tuple[int, ...]] | None:
    """Return a task's own number and those it waits for; None for a name outside the graph (``task_Nzg3...``).

    Parts that are no numbers, as in ``R5_Stg1``, put the name outside as well.
    """
    match = _IN_GRAPH.fullmatch(name)
    if match is None:
        return None
    return int(match[1]), tuple(int(part) for part in match[2].split("_") if part)


def levels(names: Sequence[str]) -> list[int]:
    """Return for each task of one job the length of the longest chain that it waits for; 0 for the first ones.

    Dependencies on tasks that the job has not are left out, and so is one that would close a circle.
    """
    parsed = [parse_name(name) for name in names]
    needs: dict[int, set[int]] = {}
    for task in parsed:
        if task is not None:
            needs.setdefault(task[0], set()).update(task[1])
    depth: dict[int, int] = {}
    for number in sorted(needs):
        _measure(number, needs, depth)
    return [0 if task is None else depth[task[0]] for task in parsed]


def _measure(number: int, needs: Mapping[int, set[int]], depth: dict[int, int]) -> None:
    """Set the depth of a task and of all that it waits for, without recursion: chains may be long."""
    path, open_tasks = [number], {number}
    while path:
        task = path[-1]
        below = [need for need in needs[task] if need in needs and need not in open_tasks]
        waiting = [need for need in below if need not in depth]
        if waiting and task not in depth:
            path.append(waiting[0])
            open_tasks.add(waiting[0])
            continue
        depth.setdefault(task, max((depth[need] + 1 for need in below), default=0))
        open_tasks.discard(path.pop())
