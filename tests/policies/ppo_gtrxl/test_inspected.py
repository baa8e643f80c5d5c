"""The record of a network's decisions: of the network that decides, and true to what can be worked out otherwise."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import hpcsim
from hpcsim import Cluster, simulate
from hpcsim.errors import Unsupported
from hpcsim.inspection import Inspected, Inspection
from hpcsim.policies.ppo_gtrxl.checkpoint import Checkpoint
from hpcsim.policies.ppo_gtrxl.network_config import NetworkConfig
from hpcsim.policies.ppo_gtrxl.policy import PPOGTrXL
from hpcsim.policies.ppo_gtrxl.transparent import TransparentNetwork
from hpcsim.policies.ppo_gtrxl.untrained import everything, network_config
from hpcsim.workload import Workload
from tests.policies.ppo_gtrxl.networks import forward_of, observations, shaken, small_config, step_of
from tests.policies.ppo_gtrxl.test_forward import VARIANTS

CAN_BE_SEEN = [each for each in VARIANTS if each.get("core") != "mlp" and not each.get("token_attention")]


@pytest.mark.parametrize("variant", CAN_BE_SEEN, ids=str)
def test_open_network_is_the_one_that_decides(variant: dict[str, Any]) -> None:
    """Written apart from the weights alone, it gives the same logits; 11 decisions pass over two segments' ends."""
    network = shaken(small_config(**variant))
    inputs = observations(network.config, 1, 11)
    forward, slow = forward_of(network), open_of(network)
    memory = forward.begin()
    for at in range(11):
        step = step_of(inputs, at)
        seen = slow.step(*(np.asarray(each[0], dtype=float) for each in step))
        np.testing.assert_allclose(seen.logits, forward.step(memory, step).logits[0], atol=1e-4)
        for look in seen.looks:
            np.testing.assert_allclose(look.attention.sum(axis=1), 1)


def open_of(network: Any) -> TransparentNetwork:
    return TransparentNetwork(network.config, {name: value.numpy() for name, value in network.state_dict().items()})


def test_hiding_the_past_is_a_network_that_has_just_begun() -> None:
    network = shaken(small_config())
    inputs = observations(network.config, 1, 7)
    slow = open_of(network)
    for at in range(7):
        step = [np.asarray(each[0], dtype=float) for each in step_of(inputs, at)]
        seen, fresh = slow.step(*step), open_of(network).step(*step)
        np.testing.assert_allclose(seen.alone, fresh.logits)
        assert (np.abs(seen.alone - seen.logits).max() > 1e-3) == (at > 0)


def test_a_query_sees_its_segment_and_the_memory_before() -> None:
    network = shaken(small_config())  # segments of 4, memory of 4
    inputs, slow = observations(network.config, 1, 10), open_of(network)
    seen = [
        slow.step(*(np.asarray(each[0], dtype=float) for each in step_of(inputs, at))).looks[0].attention.shape
        for at in range(10)
    ]
    assert seen == [(2, count) for count in (1, 2, 3, 4, 5, 6, 7, 8, 5, 6)]


def test_a_new_gate_lets_through_what_its_bias_says() -> None:
    config = small_config(gate="output")
    network = shaken(config)
    weights = {name: value.numpy() for name, value in network.state_dict().items()}
    for name in [name for name in weights if "gate" in name]:
        weights[name] = np.zeros_like(weights[name]) if name.endswith("weight") else np.full_like(weights[name], 2.0)
    step = step_of(observations(config, 1, 1), 0)
    (look,) = TransparentNetwork(config, weights).step(*(np.asarray(each[0], dtype=float) for each in step)).looks
    assert look.attention_gate == look.mlp_gate == pytest.approx(1 / (1 + math.exp(2)))


def test_factors_are_those_of_the_channels_that_react_to_a_feature() -> None:
    """Channel 0 reads feature 1 alone, channel 1 features 1 and 2 with weights 1 and 3; factors 0.5 and 1.5."""
    config = small_config(width=2, heads=1, recalibration="se", node_features=0)
    weights = {name: value.numpy() * 0 for name, value in shaken(config).state_dict().items()}
    weights["jobs.0.weight"] = np.eye(2, 5, k=1)
    weights["jobs.2.weight"] = np.array([[1.0, 0], [1.0, 3.0]])
    weights["recalibrate_jobs.excite.bias"] = np.log(np.array([0.5 / 1.5, 1.5 / 0.5]))
    seen = TransparentNetwork(config, weights).step(
        np.array([[1.0, 2, 1, 0, 0]]), np.zeros((1, 0)), np.zeros(4), np.zeros(1)
    )
    np.testing.assert_allclose(seen.job_factors[1:3], [(0.5 + 1.5) / 2, 1.5])
    assert np.isnan(seen.job_factors[[0, 3, 4]]).all(), "no channel reacts to these"


def crowded() -> Workload:
    workload: Workload = hpcsim.registry.make("models", "lublin", jobs=300, nodes=64, load=3, seed=1)
    return workload


def policy_of(folder: Path, config: NetworkConfig | None = None) -> PPOGTrXL:
    config = config or network_config()
    weights = {name: value.numpy() for name, value in shaken(config).state_dict().items()}
    Checkpoint(config=config, weights=weights, seen=everything(config)).save(folder / "net.safetensors")
    return PPOGTrXL(checkpoint=str(folder / "net.safetensors"), must_start_after_s=80_000)


@pytest.fixture(scope="module")
def record(tmp_path_factory: pytest.TempPathFactory) -> tuple[Any, PPOGTrXL, Inspection]:
    policy = policy_of(tmp_path_factory.mktemp("nets"))
    watched = policy.inspected()
    result = simulate(crowded(), Cluster.of_processors(64), watched)
    assert isinstance(watched, Inspected)
    return result, policy, watched.inspection()


def test_a_watched_policy_decides_as_ever(record: tuple[Any, PPOGTrXL, Inspection]) -> None:
    watched, policy, _ = record
    plain = simulate(crowded(), Cluster.of_processors(64), policy)
    assert (plain.jobs["start_s"] == watched.jobs["start_s"]).all()


def test_the_record_is_of_the_networks_decisions(record: tuple[Any, PPOGTrXL, Inspection]) -> None:
    result, policy, found = record
    simulate(crowded(), Cluster.of_processors(64), policy)
    counts = policy.counts
    assert len(found) == counts["asked"] - counts["starving"] - counts["out of distribution"] > 30
    jobs = result.jobs.set_index("job_id")
    chosen = jobs.loc[found.columns["job_id"]]
    assert (chosen["start_s"].to_numpy() >= found.columns["time_s"]).all()
    np.testing.assert_allclose(found.columns["wait_s"], found.columns["time_s"] - chosen["submit_s"].to_numpy())
    assert (found.columns["rule_area_node_s"] <= found.columns["area_node_s"]).all(), "saf's is the smallest there"
    np.testing.assert_allclose(np.nansum(found.attention, axis=2), 1)
    assert np.isnan(found.attention[0, :, 1:]).all()
    assert (found.columns["alone_job_id"] != found.columns["job_id"]).any()
    assert ((found.columns["moved"] >= 0) & (found.columns["moved"] <= 1)).all()
    assert found.gates.keys() == {"block 1, attention", "block 1, feed-forward"}
    assert found.factors["jobs"].shape == (len(found), 20)


def test_only_what_was_asked_for_is_recorded(tmp_path: Path) -> None:
    policy = policy_of(tmp_path)

    def recorded(**span: float) -> Inspection:
        watched: Any = policy.inspected(**span)
        simulate(crowded(), Cluster.of_processors(64), watched)
        found: Inspection = watched.inspection()
        return found

    whole = recorded()
    times_s = whole.columns["time_s"]
    since_s, until_s = times_s[len(times_s) // 3], times_s[2 * len(times_s) // 3]
    inside = (times_s >= since_s) & (times_s < until_s)
    part = recorded(since_s=since_s, until_s=until_s)
    assert 0 < len(part) < len(whole)
    np.testing.assert_array_equal(part.columns["time_s"], times_s[inside])
    np.testing.assert_array_equal(part.attention, whole.attention[inside])


def test_a_run_without_decisions_has_an_empty_record(tmp_path: Path) -> None:
    watched: Any = policy_of(tmp_path).inspected()
    simulate(Workload.of(submit_s=[0], run_s=[1], nodes=[1], limit_s=[1]), Cluster.of_processors(4), watched)
    assert len(watched.inspection()) == 0


@pytest.mark.parametrize("changes", [{"core": "mlp"}, {"core": "gru"}, {"token_attention": True}], ids=str)
def test_networks_without_attention_to_the_past_are_refused(tmp_path: Path, changes: dict[str, Any]) -> None:
    with pytest.raises(Unsupported, match="cannot be looked into"):
        policy_of(tmp_path, network_config(**changes)).inspected()
