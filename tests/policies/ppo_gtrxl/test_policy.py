"""The policy: the network's choice and nobody else's, guarded, with a memory of its own for each run."""

from __future__ import annotations

import math
import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import hpcsim
from hpcsim import Cluster, simulate
from hpcsim.commands.policy_specs import make_policy
from hpcsim.engine.simulation import Simulation
from hpcsim.errors import HpcsimError, InvalidArgument
from hpcsim.experiments.plug_ins import make
from hpcsim.policies.backfill import EasySJBF
from hpcsim.policies.learning.features import JOB_FEATURES
from hpcsim.policies.learning.heads import BACKFILLS, OrderedHeads, always_keeps
from hpcsim.policies.orders import FCFS, SAF
from hpcsim.policies.patience import Patient
from hpcsim.policies.ppo_gtrxl.checkpoint import Checkpoint
from hpcsim.policies.ppo_gtrxl.policy import PPOGTrXL
from hpcsim.policies.ppo_gtrxl.seen_ranges import SeenRanges
from hpcsim.policies.ppo_gtrxl.untrained import everything, network_config, untrained
from hpcsim.results.run import collect
from hpcsim.workload import Workload
from tests.policies.ppo_gtrxl.networks import shaken

Save = Callable[[Checkpoint], PPOGTrXL]


@pytest.fixture
def saved(tmp_path: Path) -> Save:
    def save(checkpoint: Checkpoint, **options: Any) -> PPOGTrXL:
        checkpoint.save(tmp_path / "network.safetensors")
        return PPOGTrXL(checkpoint=str(tmp_path / "network.safetensors"), **options)

    return save


def crowded(jobs: int = 300, nodes: int = 64, seed: int = 1) -> Workload:
    workload: Workload = hpcsim.registry.make("models", "lublin", jobs=jobs, nodes=nodes, load=3, seed=seed)
    return workload


def random_network(seed: int = 0) -> Checkpoint:
    """Return a network that decides by all it sees."""
    config = network_config()
    weights = {name: value.numpy() for name, value in shaken(config, seed).state_dict().items()}
    return Checkpoint(config=config, weights=weights, seen=everything(config))


@pytest.mark.parametrize("backfill", BACKFILLS)
def test_untrained_network_is_its_prior(saved: Save, backfill: str) -> None:
    policy = saved(untrained(network_config(prior="saf")), backfill=backfill)
    workload, cluster = crowded(), Cluster.of_processors(64)
    rule = simulate(workload, cluster, OrderedHeads(order=SAF(), backfill=backfill, keeps_heads=always_keeps(backfill)))
    mine = simulate(workload, cluster, policy, check=True)
    assert mine.jobs["start_s"].tolist() == rule.jobs["start_s"].tolist()
    assert policy.counts["asked"] > 20
    assert policy.counts["out of distribution"] == policy.counts["no number"] == 0


@pytest.mark.parametrize(("told", "does"), [(None, False), (True, True), (False, False)])
def test_under_easy_it_is_asked_anew_unless_told_otherwise(saved: Save, told: bool | None, does: bool) -> None:
    policy = saved(untrained(network_config(prior="saf")), keeps_heads=told)
    workload, cluster = crowded(), Cluster.of_processors(64)
    kept, anew = (
        simulate(workload, cluster, OrderedHeads(order=SAF(), keeps_heads=keeps)).jobs.start_s
        for keeps in (True, False)
    )
    assert not kept.equals(anew)
    assert simulate(workload, cluster, policy).jobs.start_s.equals(kept if does else anew)


def test_a_protocol_that_keeps_heads_keeps_those_of_a_network(saved: Save) -> None:
    policy = saved(random_network(), backfill="rlscheduler")
    kept = saved(random_network(), backfill="rlscheduler", keeps_heads=True)
    workload, cluster = crowded(), Cluster.of_processors(64)
    assert simulate(workload, cluster, policy).jobs.start_s.equals(simulate(workload, cluster, kept).jobs.start_s)


def test_network_decides_and_not_its_surroundings(saved: Save) -> None:
    workload, cluster = crowded(), Cluster.of_processors(64)
    starts = [simulate(workload, cluster, saved(random_network(seed))).jobs["start_s"].tolist() for seed in (0, 1, 0)]
    assert starts[0] == starts[2] != starts[1]


def test_memory_is_born_in_reset(saved: Save) -> None:
    policy = saved(random_network())
    workload, cluster = crowded(), Cluster.of_processors(64)
    first, second = (simulate(workload, cluster, policy).jobs["start_s"].tolist() for _ in range(2))
    assert first == second


def test_one_step_of_memory_for_each_decision_asked(saved: Save) -> None:
    """Those of the run before are forgotten."""
    policy = saved(random_network())
    for _ in range(2):
        simulate(crowded(), Cluster.of_processors(64), policy)
        assert policy._memory.steps == policy.counts["asked"] > 0


@pytest.mark.parametrize("nodes", [10, 256, 100_000])
def test_any_machine_will_do(saved: Save, nodes: int) -> None:
    result = simulate(crowded(200, nodes), Cluster.of_processors(nodes), saved(random_network()), check=True)
    assert (result.jobs["state"] == "COMPLETED").sum() > 150


@pytest.mark.parametrize("keeps", [True, False])
def test_cancelled_head_is_dropped(saved: Save, keeps: bool) -> None:
    """Four nodes, three of them held until 100 s. The smallest area, 4 nodes x 10 s, is the head.

    Beside it neither 2 nodes x 90 s fit nor may 1 node x 500 s start. Cancelled at 5 s, the head is 2 x 90,
    which leaves two nodes over at 100 s: the single node starts at once.
    """
    workload = Workload.of(
        submit_s=[0, 1, 1, 2], run_s=[100, 10, 10, 10], nodes=[3, 4, 2, 1], limit_s=[100, 10, 90, 500]
    )
    policy = saved(untrained(network_config(prior="saf")), keeps_heads=keeps)
    simulation = Simulation(workload, Cluster.of_nodes(4), policy)
    simulation.run(until=5)
    assert len(simulation.queue) == 3
    simulation.cancel(simulation.queue[0])
    simulation.run()
    assert collect(simulation).jobs["start_s"].tolist()[2:] == [100, 5]


@pytest.mark.parametrize("weights", [np.nan, np.inf])
def test_numbers_that_are_none_start_nothing(saved: Save, weights: float) -> None:
    """Weights that overflow in use are caught where they are used: the fallback decides, and is counted."""
    policy = saved(random_network())
    policy._forward._policy.second.bias[:] = weights
    workload, cluster = crowded(), Cluster.of_processors(64)
    mine = simulate(workload, cluster, policy)
    assert policy.counts["no number"] == policy.counts["asked"] > 20
    assert (
        mine.jobs["start_s"].tolist()
        == simulate(workload, cluster, OrderedHeads(order=FCFS())).jobs["start_s"].tolist()
    )


def test_far_from_its_training_the_fallback_decides(saved: Save) -> None:
    network = random_network()
    narrow = SeenRanges(
        network.seen.jobs, network.seen.nodes, (np.zeros(11, np.float32), np.full(11, 1e-3, np.float32))
    )
    policy = saved(replace(network, seen=narrow))
    workload, cluster = crowded(), Cluster.of_processors(64)
    mine = simulate(workload, cluster, policy)
    assert policy.counts["out of distribution"] == policy.counts["asked"] > 20
    assert (
        mine.jobs["start_s"].tolist()
        == simulate(workload, cluster, OrderedHeads(order=FCFS())).jobs["start_s"].tolist()
    )


def test_features_that_never_moved_in_training_are_not_heard(saved: Save) -> None:
    """Users are named in the second log alone; a network that knows none decides as without them."""
    network = random_network()
    least, largest = (side.copy() for side in network.seen.jobs)
    history = {"user_log_ratio", "user_count", "user_queue_share", "log_predicted", "log_last_two"}
    named = [at for at, (name, _) in enumerate(JOB_FEATURES) if name in history]
    assert len(named) == 5
    least[named] = largest[named] = 0
    policy = saved(replace(network, seen=SeenRanges((least, largest), network.seen.nodes, network.seen.globals)))
    workload, cluster = crowded(), Cluster.of_processors(64)
    columns = dict(workload.columns) | {"user_id": np.arange(len(workload)) % 5}
    with_users = replace(workload, columns=columns)
    assert simulate(with_users, cluster, policy).jobs["start_s"].tolist() == (
        simulate(workload, cluster, policy).jobs["start_s"].tolist()
    )
    assert policy.counts["out of distribution"] == 0


@pytest.mark.parametrize(("cap_s", "start_s"), [(None, 1010), (200.0, 220)])
def test_job_that_waits_too_long_comes_first(saved: Save, cap_s: float | None, start_s: float) -> None:
    """Four nodes; a job of 4 x 50 s, and 101 of 4 x 10 s, two of them at 0 s and one every 10 s after.

    The smallest area first, the long job waits for all others. At 200 s it has waited for 200 s, not more,
    and another becomes the head, which is kept; at 210 s the head is the long job, which starts at 220 s.
    """
    smalls = [0.0, *(10.0 * at for at in range(100))]
    workload = Workload.of(submit_s=[0, *smalls], run_s=[50] + [10] * 101, nodes=[4] * 102, limit_s=[50] + [10] * 101)
    network = untrained(network_config(prior="saf"))
    network = replace(network, view=replace(network.view, must_start_after_s=cap_s))
    policy = saved(network, keeps_heads=True, patience=math.inf)
    assert simulate(workload, Cluster.of_nodes(4), policy).jobs["start_s"].iloc[0] == start_s
    assert policy.counts["starving"] == (cap_s is not None)
    own = replace(policy, must_start_after_s=math.inf if cap_s else 200.0)  # the policy's own word goes first
    assert simulate(workload, Cluster.of_nodes(4), own).jobs["start_s"].iloc[0] == (1010 if cap_s else 220)


@pytest.mark.parametrize("keeps_heads", [False, True])
def test_whoever_is_overdue_comes_first(saved: Save, keeps_heads: bool) -> None:
    policy = saved(untrained(network_config(prior="saf")), keeps_heads=keeps_heads, patience=0.5)
    workload, cluster = crowded(jobs=1200), Cluster.of_processors(64)
    rule = OrderedHeads(order=Patient(order=SAF(), patience=0.5), keeps_heads=keeps_heads)
    mine = simulate(workload, cluster, policy).jobs["start_s"].tolist()
    assert mine == simulate(workload, cluster, rule).jobs["start_s"].tolist()
    assert policy.counts["starving"] > 0
    assert mine != simulate(workload, cluster, replace(policy, patience=math.inf)).jobs["start_s"].tolist()


@pytest.mark.parametrize("backfill", BACKFILLS)
def test_patience_is_two_but_for_the_published_protocol(saved: Save, backfill: str) -> None:
    policy = saved(untrained(network_config(prior="saf")), backfill=backfill)
    workload, cluster = crowded(jobs=1500), Cluster.of_processors(64)
    told = replace(policy, patience=math.inf if backfill.startswith("rlscheduler") else 2)
    assert simulate(workload, cluster, policy).jobs["start_s"].tolist() == (
        simulate(workload, cluster, told).jobs["start_s"].tolist()
    )
    assert policy.counts == told.counts
    assert bool(policy.counts["starving"]) is not backfill.startswith("rlscheduler")


def test_cap_that_is_no_time_is_refused() -> None:
    with pytest.raises(InvalidArgument, match="must_start_after_s is -1"):
        PPOGTrXL(must_start_after_s=-1)
    with pytest.raises(InvalidArgument, match="patience is -1"):
        PPOGTrXL(patience=-1)


@pytest.mark.parametrize("checkpoint", [5, 1.5, ["wait"], None])
def test_a_checkpoint_is_a_name_or_a_file(checkpoint: Any) -> None:
    with pytest.raises(HpcsimError, match=r"checkpoint is .*\. Give a file as text, or one of: slowdown"):
        PPOGTrXL(checkpoint=checkpoint)


def test_fallback_may_be_given_by_name() -> None:
    typed = make_policy("ppo-gtrxl", ["fallback=easy-sjbf"])
    assert isinstance(typed, PPOGTrXL)
    assert isinstance(typed.fallback, EasySJBF)
    assert isinstance(make("policies", "ppo-gtrxl", {"fallback": "easy-sjbf"}).fallback, EasySJBF)
    with pytest.raises(HpcsimError, match=r"fallback is .*\. Give one that backfills"):
        make_policy("ppo-gtrxl", ["fallback=fcfs"])


def test_unknown_checkpoint_is_named() -> None:
    with pytest.raises(HpcsimError, match=r"There is no checkpoint 'slowdwon'"):
        PPOGTrXL(checkpoint="slowdwon")


def test_using_a_network_loads_no_torch(saved: Save, root: Path, tmp_path: Path) -> None:
    saved(random_network())
    program = f"""
import sys, hpcsim
policy = hpcsim.make_policy("ppo-gtrxl", checkpoint={str(tmp_path / "network.safetensors")!r})
workload = hpcsim.registry.make("models", "lublin", jobs=50, nodes=64, seed=0)
hpcsim.simulate(workload, hpcsim.Cluster.of_processors(64), policy)
assert not {{"torch", "gymnasium"}} & set(sys.modules)
"""
    subprocess.run([sys.executable, "-c", program], check=True, env=os.environ | {"PYTHONPATH": str(root)})
