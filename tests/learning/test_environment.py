"""The environment as Gymnasium and its users meet it."""

from __future__ import annotations

import subprocess
import sys
import warnings
from typing import Any

import numpy as np
import pytest

from hpcsim.cluster import Cluster
from hpcsim.errors import InvalidArgument, InvalidDecision, WorkloadError
from hpcsim.workload import Workload
from tests.learning.test_observation import some_jobs
from tests.schedules import jobs

gymnasium = pytest.importorskip("gymnasium")

from gymnasium.utils.env_checker import check_env  # noqa: E402 - needs Gymnasium

from hpcsim.policies.learning.environment import SchedulingEnv  # noqa: E402
from hpcsim.policies.learning.rule_agents import RuleAgent, play  # noqa: E402
from hpcsim.policies.learning.sequences import Windows  # noqa: E402

IDS = ("hpcsim/Schedule-v0", "hpcsim/ScheduleStartOrWait-v0")
MACHINE = Cluster.of_nodes(16)


def env_of(workload: Workload | None = None, cluster: Cluster = MACHINE, **options: Any) -> SchedulingEnv:
    return SchedulingEnv(some_jobs() if workload is None else workload, cluster, **{"length": None} | options)


def valid(env: SchedulingEnv, rng: np.random.Generator) -> int:
    return int(rng.choice(np.flatnonzero(env.action_masks())))


@pytest.mark.parametrize("env_id", IDS)
def test_gymnasium_finds_no_fault(env_id: str) -> None:
    """The checker draws actions without looking at masks."""
    env = gymnasium.make(env_id, on_invalid="fallback")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check_env(env.unwrapped)


@pytest.mark.parametrize("semantics", ["commit", "start-or-wait"])
@pytest.mark.parametrize("time_s", [12_000, 18_000])
def test_an_agent_is_told_nothing_of_the_future(semantics: str, time_s: float) -> None:
    """Jobs that cannot have ended yet run for longer, those yet to come ask for more: all is as it was until then."""

    def told(workload: Workload) -> list[tuple[float, bytes]]:
        env = env_of(workload, semantics=semantics, with_metrics=False)
        seen, info = env.reset()
        found, is_over = [], False
        while not is_over:
            found.append((info["now_s"], b"".join(seen[name].tobytes() for name in sorted(seen))))
            seen, _, is_over, _, info = env.step(int(info["action_mask"].argmax()))
        return found

    workload, changed = some_jobs(), some_jobs()
    is_open = workload.submit_s + np.minimum(workload.run_s, workload.limit_s) > time_s
    changed.columns["run_s"] = np.where(is_open, np.maximum(workload.run_s, workload.limit_s), workload.run_s)
    is_to_come = workload.submit_s > time_s
    changed.columns["limit_s"] = np.where(is_to_come, 2 * workload.limit_s, workload.limit_s)
    assert ((changed.run_s > workload.run_s) & is_open & ~is_to_come).any()
    before, after = told(workload), told(changed)
    until = [each for each in before if each[0] <= time_s]
    assert len(until) > 1
    assert until == [each for each in after if each[0] <= time_s]
    assert before != after


def test_gymnasium_imports_the_module_that_an_id_names() -> None:
    """And neither hpcsim nor its list of policies loads gymnasium, nor does what a trained policy needs."""
    code = """
import sys, hpcsim
hpcsim.registry.names("policies"), hpcsim.make_policy("easy")
import hpcsim.policies.learning.observation, hpcsim.policies.learning.heads
assert not {"gymnasium", "torch", "hpcsim.policies.learning.environment"} & set(sys.modules)
import gymnasium
env = gymnasium.make("hpcsim.policies.learning.environment:hpcsim/Schedule-v0", length=8)
print(env.reset(seed=1)[1]["sequence"][2])
assert "torch" not in sys.modules
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.stdout.strip(), done.returncode) == ("8", 0), done.stderr


@pytest.mark.parametrize("semantics", ["commit", "start-or-wait"])
def test_all_that_is_seen_is_in_the_space(semantics: str) -> None:
    env, rng = env_of(semantics=semantics, window=8), np.random.default_rng(0)
    seen, info = env.reset()
    is_over = False
    while not is_over:
        assert env.observation_space.contains(seen)
        assert seen["mask"].tolist() == info["action_mask"].tolist() == env.action_masks().astype(int).tolist()
        assert env.action_masks().dtype == np.bool_
        seen, _, is_over, is_cut, info = env.step(valid(env, rng))
        assert not is_cut
    assert env.observation_space.contains(seen)
    assert not seen["mask"].any()
    assert info["metrics"]["jobs_completed"] == 80
    with pytest.raises(InvalidArgument, match="The episode is over"):
        env.step(0)


def test_what_was_returned_is_never_changed() -> None:
    env, rng = env_of(), np.random.default_rng(0)
    seen, info = env.reset()
    kept = {name: array.copy() for name, array in seen.items()}, info["action_mask"].copy()
    assert not any(np.shares_memory(seen[name], getattr(env.observation, name)) for name in seen)
    for array in seen.values():
        np.add(array, 1, out=array)
    assert env.action_masks().tolist() == kept[1].astype(bool).tolist()
    written = {name: array.copy() for name, array in seen.items()}
    for _ in range(20):
        env.step(valid(env, rng))
    assert all(np.array_equal(seen[name], written[name]) for name in seen)


FINGERPRINT = """
import hashlib, numpy as np
from hpcsim.policies.learning.environment import SchedulingEnv
from hpcsim.policies.learning.sequences import Windows
from hpcsim import Cluster, registry
workload = registry.make("models", "lublin", jobs=300, nodes=64, load=2.0, seed=5)
env = SchedulingEnv(Windows(workload, 60, stretch=(0.7, 1.1)), Cluster.of_nodes(64))
digest = hashlib.sha256()
rng = np.random.default_rng(3)
seen, info = env.reset(seed=7)
for episode in range(3):
    over = False
    while not over:
        for name in sorted(seen):
            digest.update(seen[name].tobytes())
        seen, reward, over, _, info = env.step(int(rng.choice(np.flatnonzero(env.action_masks()))))
        digest.update(repr(reward).encode())
    seen, info = env.reset()
print(digest.hexdigest())
"""


def test_a_seed_is_the_same_in_every_process() -> None:
    found = set()
    for hash_seed in ("1", "2"):
        done = subprocess.run(
            [sys.executable, "-c", FINGERPRINT],
            capture_output=True,
            text=True,
            check=True,
            env={"PYTHONHASHSEED": hash_seed, "OMP_NUM_THREADS": "1"},
        )
        found.add(done.stdout)
    assert len(found) == 1


def test_seeds_choose_sequences_and_options_pin_them() -> None:
    env = env_of(length=20)
    first = [env.reset(seed=3)[1]["sequence"], env.reset()[1]["sequence"]]
    assert [env.reset(seed=3)[1]["sequence"], env.reset()[1]["sequence"]] == first
    assert first[0] != first[1]
    assert env.reset(options={"start": 11, "length": 7})[1]["sequence"] == (0, 11, 7, 1.0)
    pinned = Windows(some_jobs(), 5).at(2)
    assert env.reset(options={"sequence": pinned})[1]["sequence"] == (0, 2, 5, 1.0)
    _, info = play(env, RuleAgent("sjf").act, options={"start": 11, "length": 7})
    assert info["metrics"]["jobs_submitted"] == 7


@pytest.mark.parametrize(
    ("options", "fault"),
    [
        ({"begin": 1}, "There is no option 'begin'"),
        ({"strat": 1}, "Did you mean 'start'"),
        ({"start": 75, "length": 6}, "There are no 6 jobs from job 75 on in a workload of 80"),
        ({"start": -1}, "There are no 20 jobs from job -1 on"),
        ({"start": 0.5}, "from job 0.5 on"),
        ({"source": 1}, "There is no workload 1"),
        ({"stretch": 0.0}, "The stretch is 0.0"),
        ({"sequence": 3}, "The option sequence is 3"),
    ],
)
def test_options_that_make_no_sense(options: dict[str, Any], fault: str) -> None:
    with pytest.raises(InvalidArgument, match=fault):
        env_of(length=20).reset(options=options)


def test_invalid_actions() -> None:
    """Three wait behind a; the first of them is what an invalid action falls back to."""
    workload, cluster = jobs("a 0 10 10 2\n b 0 9 9 2\n c 0 8 8 2"), Cluster.of_nodes(2)
    env = env_of(workload, cluster, window=4)
    env.reset()
    for action in (3, -1, 4, 0.5, np.array([0, 1])):
        with pytest.raises(InvalidDecision, match=r"which is not valid. Valid are 0-2: see action_masks\(\)"):
            env.step(action)
    env = env_of(workload, cluster, window=4, on_invalid="fallback")
    env.reset()
    _, _, _, _, info = env.step(3)
    assert info["invalid_actions"] == 1
    assert [run.job.job_id for run in env.system.running] == ["a"]


def test_start_or_wait_by_hand() -> None:
    """2 nodes. a (1 node, 10 s) and b (2 nodes) at 0: on an idle machine WAIT is no answer, and b fits at first.

    a starts; b fits no more, c comes at 5 and fits: the agent waits. At 10 a ends: b and c both fit.
    """
    env = env_of(jobs("a 0 10 10 1\n b 0 5 5 2\n c 5 5 5 1"), Cluster.of_nodes(2), semantics="start-or-wait", window=4)
    _, info = env.reset()
    assert info["action_mask"].tolist() == [1, 1, 0, 0, 0]
    _, reward, _, _, info = env.step(0)
    assert (env.system.now_s, info["action_mask"].tolist()) == (5, [0, 1, 0, 0, 1])
    assert reward == pytest.approx(-5 / 10)
    _, _, _, _, info = env.step(4)
    assert (env.system.now_s, info["action_mask"].tolist()) == (10, [1, 1, 0, 0, 0])
    _, _, is_over, _, info = env.step(0)
    assert is_over
    assert info["metrics"]["mean_wait_s"] == pytest.approx((0 + 10 + 10) / 3)


def test_start_or_wait_shows_what_fits_when_more_wait_than_the_window_holds() -> None:
    table = "\n".join(["a 0 100 100 3", *(f"w{at} 1 1 1 2" for at in range(6)), "n 2 50 50 1"])
    env = env_of(jobs(table), Cluster.of_nodes(4), semantics="start-or-wait", window=2, skip_forced=False)
    env.reset(options={"start": 0})
    env.step(0)
    assert [job and job.job_id for job in env.observation.queue or ()] == ["n", None]


def test_forced_decisions_are_skipped_or_not() -> None:
    """Nobody ever has a choice here, so the one decision asked for is the first; unskipped, all three."""
    table = "a 0 1 1 1\n b 5 1 1 1\n c 9 1 1 1"
    _, info = play(env_of(jobs(table), Cluster.of_nodes(1), skip_forced=False), RuleAgent("fcfs").act)
    assert info["decisions"] == 3
    _, info = play(env_of(jobs(table), Cluster.of_nodes(1)), RuleAgent("fcfs").act)
    assert info["decisions"] == 3  # an episode without a choice puts all to the agent
    _, info = play(env_of(jobs(table + "\n d 9 1 1 1"), Cluster.of_nodes(1)), RuleAgent("fcfs").act)
    assert info["decisions"] == 1


def test_jobs_wider_than_the_machine_are_rejected_by_it() -> None:
    workload = jobs("a 0 10 10 9\n b 0 10 10 1\n c 0 10 10 1")
    _, info = play(env_of(workload, Cluster.of_nodes(2)), RuleAgent("fcfs").act)
    assert (info["metrics"]["jobs_rejected"], info["metrics"]["jobs_completed"]) == (1, 2)
    with pytest.raises(WorkloadError, match="None of the 1 jobs of this sequence can ever run on a machine of 2 nodes"):
        env_of(jobs("a 0 10 10 9"), Cluster.of_nodes(2)).reset()


def test_an_episode_can_be_cut() -> None:
    env = env_of(max_decisions=3)
    env.reset()
    ends = [env.step(0)[2:4] for _ in range(3)]
    assert ends == [(False, False), (False, False), (False, True)]
    with pytest.raises(InvalidArgument, match="The episode is over"):
        env.step(0)


@pytest.mark.parametrize(
    ("options", "fault"),
    [
        ({"semantics": "comit"}, "semantics is 'comit'. Did you mean 'commit'"),
        ({"backfill": "fast"}, "backfill is 'fast'"),
        ({"semantics": "start-or-wait", "backfill": "easy"}, "nothing is backfilled"),
        ({"on_invalid": "ignore"}, "on_invalid is 'ignore'"),
        ({"window": 0}, "window is 0"),
        ({"beta_per_s": -1}, "beta_per_s is -1"),
        ({"max_decisions": 0}, "max_decisions is 0"),
        ({"length": 81}, "A sequence of 81 jobs cannot be cut from a workload of 80. Give length=80"),
        ({"length": 0}, "The length is 0"),
        ({"workload": Workload.of(submit_s=[], run_s=[], nodes=[])}, "There are no jobs"),
        ({"cluster": None}, "The size of the machine is not known"),
        ({"render_mode": "human"}, "render_mode is 'human'"),
    ],
)
def test_arguments_that_make_no_sense(options: dict[str, Any], fault: str) -> None:
    whole = {"workload": some_jobs(), "cluster": MACHINE, "length": None} | options
    with pytest.raises(InvalidArgument, match=fault):
        SchedulingEnv(whole.pop("workload"), whole.pop("cluster"), **whole)


def test_before_a_reset_it_says_so() -> None:
    with pytest.raises(InvalidArgument, match="No episode has begun"):
        env_of().action_masks()


@pytest.mark.parametrize("kind", ["SyncVectorEnv", "AsyncVectorEnv"])
def test_vectors_of_environments(kind: str) -> None:
    """Two at once go the way of one alone with the same seed."""
    make = [lambda: env_of(length=30, on_invalid="fallback")] * 2
    vector = getattr(gymnasium.vector, kind)(make)
    alone = env_of(length=30, on_invalid="fallback")
    try:
        seen, info = vector.reset(seed=[4, 4])
        one, _ = alone.reset(seed=4)
        for _ in range(15):
            for name in one:
                assert np.array_equal(seen[name][0], one[name])
                assert np.array_equal(seen[name][1], one[name])
            action = int(info["action_mask"][0].argmax())
            seen, _, _, _, info = vector.step(np.array([action, action]))
            one, _, is_over, _, _ = alone.step(action)
            if is_over:
                break
    finally:
        vector.close()


def test_sb3_contrib_learns_in_it() -> None:
    maskable = pytest.importorskip("sb3_contrib")
    model = maskable.MaskablePPO("MultiInputPolicy", env_of(length=30), n_steps=32, batch_size=32, seed=0)
    model.learn(64)
