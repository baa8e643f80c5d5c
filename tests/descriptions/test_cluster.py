"""Clusters: what they refuse, and that TOML gives back what was written."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hpcsim.cluster import Cluster, NodeGroup, Partition
from hpcsim.errors import ClusterError
from hpcsim.job import Job
from hpcsim.node_ids import MOST_NODES
from hpcsim.power import CapStep, NodePower, Tariff

names = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=8)
watts = st.floats(min_value=0, max_value=1e12)
amounts = watts | st.just(math.inf)
powers = st.none() | st.builds(NodePower, idle_w=watts, busy_w=watts, boot_s=watts, idle_timeout_s=amounts)
rates = st.lists(st.floats(-1e3, 1e3), min_size=1, max_size=3).map(tuple)
tariffs = st.none() | st.builds(Tariff, price_per_kwh=rates, co2_kg_per_kwh=rates, start_s=st.floats(-1e9, 1e9))
steps = st.lists(
    st.builds(CapStep, from_s=st.floats(-1e9, 1e9), power_cap_w=amounts), max_size=3, unique_by=lambda step: step.from_s
).map(lambda found: sorted(found, key=lambda step: step.from_s))
groups = st.lists(
    st.builds(
        NodeGroup,
        name=names,
        nodes=st.integers(1, 10**6),
        cores=st.integers(1, 256),
        gpus=st.integers(0, 16),
        memory_bytes=st.integers(0, 2**45),
        features=st.frozensets(names, max_size=3),
        allocation_sizes=st.lists(st.integers(1, 4096), max_size=4).map(tuple),
        power=powers,
    ),
    min_size=1,
    max_size=3,
    unique_by=lambda group: group.name,
).map(tuple)


@st.composite
def clusters(draw: Any) -> Cluster:
    """Draw any cluster."""
    chosen = draw(groups)
    of_group = st.sampled_from([group.name for group in chosen])
    partition = st.builds(
        Partition,
        name=names,
        groups=st.lists(of_group, min_size=1, max_size=3, unique=True).map(tuple),
        max_limit_s=amounts.filter(bool),
        max_nodes=st.none() | st.integers(1, 99),
    )
    partitions = st.lists(partition, max_size=3, unique_by=lambda p: p.name).map(tuple)
    return Cluster(
        groups=chosen,
        partitions=draw(partitions),
        name=draw(names),
        counted=draw(st.sampled_from(["nodes", "processors"])),
        power_cap_w=draw(amounts),
        power_cap_steps=tuple(draw(steps)),
        tariff=draw(tariffs),
    )


@given(clusters())
def test_toml_round_trip(cluster: Cluster) -> None:
    """Equal in every field, with any names, infinite amounts and absent ones."""
    assert Cluster.from_toml(cluster.to_toml()) == cluster


def test_files_round_trip(tmp_path: Path) -> None:
    """Through a file, with names outside ASCII."""
    cluster = Cluster.of_nodes(128, cores=64, gpus=4, memory_bytes=2**38, name="Curie « Genci » ☀")
    cluster.save(tmp_path / "cluster.toml")
    assert Cluster.load(tmp_path / "cluster.toml") == cluster


def test_of_processors_counts_processors() -> None:
    """Each processor is a node of one core, and says so."""
    cluster = Cluster.of_processors(100)
    assert (cluster.nodes, cluster.counted) == (100, "processors")
    assert "processors" in cluster.never_runs(Job(0, 1, 0, 101))


GROUP = "[[groups]]\nnodes = 4\n"
PARTITION = "[[partitions]]\nname = 'p'\ngroups = ['nodes']\n"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[[groups]]\nnodes = 4\nnods = 3\n", ["groups.0.nods", "Did you mean 'nodes'?", "Mend the key"]),
        ("[[groups]]\nnodes = 4\nmemory_byte = 3\n", ["memory_byte", "Did you mean 'memory_bytes'?"]),
        ("parttions = []\n" + GROUP, ["parttions", "Did you mean 'partitions'?"]),
        ("power_cap = 3\n" + GROUP, ["power_cap", "Did you mean 'power_cap_w'?"]),
        ("[[groups]]\nnodes = 'many'\n", ["groups.0.nodes", "Mend the value"]),
        ("[[groups]]\nnodes = 2.5\n", ["groups.0.nodes", "Mend the value"]),
        ("[[groups]]\nnodes = 0\n", ["has 0 nodes", "at least 1 node"]),
        ("[[groups]]\nnodes = 4\ncores = 0\n", ["0 cores", "1 core"]),
        ("name = 'x'\n", ["'groups'", "Field required"]),
        ("groups = []\n", ["no node group", "Cluster.of_nodes(N)"]),
        ("counted = 'cores'\n" + GROUP, ["counted", "'nodes' or 'processors'"]),
        (GROUP + GROUP, ["node group", "called 'nodes'", "its own name"]),
        (
            GROUP + "[[partitions]]\nname = 'p'\ngroups = ['node']\n",
            ["'node'", "Did you mean 'nodes'?", "Known groups"],
        ),
        (GROUP + PARTITION * 2, ["partition", "called 'p'"]),
        ("[[groups]]\nnods = 4\n", ["unknown key 'groups.0.nods'", "Did you mean 'nodes'?"]),
        ("[[groups]]\nnodes = true\n", ["'groups.0.nodes' is a boolean", "Mend the value"]),
        ("[[groups]]\nnodes = '4'\n", ["'groups.0.nodes' is the text '4'", "Mend the value"]),
        ("[[groups]]\nnodes = 4\nallocation_sizes = [true]\n", ["'groups.0.allocation_sizes.0' is a boolean"]),
        (GROUP + "[[partitions]]\nname = 'p'\ngroups = []\n", ["Partition 'p' has no node group", "at least one"]),
        (GROUP + PARTITION + "max_nodes = -3\n", ["Partition 'p' has max_nodes = -3", "at least 1"]),
        (GROUP + PARTITION + "max_limit_s = nan\n", ["Partition 'p' has max_limit_s = nan", "above 0"]),
        (GROUP + PARTITION + "max_limit_s = 0\n", ["Partition 'p' has max_limit_s = 0", "above 0"]),
        ("power_cap_w = nan\n" + GROUP, ["The cluster has power_cap_w = nan", "0 or more"]),
        ("power_cap_w = -5\n" + GROUP, ["The cluster has power_cap_w = -5", "0 or more"]),
        (GROUP + "power = {busy_w = -1}\n", ["Node power has busy_w = -1", "0 or more"]),
        ("nodes = = 3", ["not TOML", "line 1", "Mend that line"]),
        ("", ["'groups'", "Field required"]),
    ],
)
def test_bad_toml(text: str, words: list[str]) -> None:
    """The source, what is wrong where, and what to do."""
    with pytest.raises(ClusterError) as caught:
        Cluster.from_toml(text, source="machine.toml")
    for word in ["machine.toml", *words]:
        assert word in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    """Named, with what to check."""
    with pytest.raises(ClusterError, match=r"Cannot read the cluster file .*absent\.toml.* Check the path\."):
        Cluster.load(tmp_path / "absent.toml")


def test_a_file_that_is_no_text(tmp_path: Path) -> None:
    """Bytes that are no UTF-8."""
    (tmp_path / "binary.toml").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(ClusterError, match=r"Cannot read the cluster file .*binary\.toml"):
        Cluster.load(tmp_path / "binary.toml")


@pytest.mark.parametrize(
    ("job", "reason"),
    [
        (Job(0, 1, 0, 4), ""),
        (Job(0, 1, 0, 5), "wants 5 nodes, the most it can ever have is 4"),
        (Job(0, 1, 0, 1, partitions=("lnog",)), "no such partition: lnog"),
        (Job(0, 1, 0, 1, limit_s=101, partitions=("short",)), "limit 101 s exceeds the 100"),
        (Job(0, 1, 0, 3, limit_s=9, partitions=("short",)), "wants 3 nodes, partition short allows 2"),
        (Job(0, 1, 0, 3, limit_s=9, partitions=("short", "long")), ""),
        (Job(0, 1, 0, 1, gpus_per_node=2), "no node of partition"),
        (Job(0, 1, 0, 1, gpus_per_node=1), ""),
    ],
)
def test_why_a_job_never_runs(job: Job, reason: str) -> None:
    """The reason, or nothing where one of the partitions would do."""
    cluster = Cluster(
        groups=(NodeGroup(nodes=4, gpus=1),),
        partitions=(
            Partition(name="short", groups=("nodes",), max_limit_s=100, max_nodes=2),
            Partition(name="long", groups=("nodes",)),
        ),
    )
    found = cluster.never_runs(job)
    assert reason in found
    assert bool(found) == bool(reason)


def test_more_nodes_than_tables_can_count() -> None:
    """In one group, or in all together; one node less is served."""
    assert Cluster.of_nodes(MOST_NODES).nodes == MOST_NODES
    with pytest.raises(ClusterError, match=r"'nodes' has 2147483648 nodes\. Give at most 2147483647 nodes\."):
        Cluster.of_nodes(MOST_NODES + 1)
    with pytest.raises(ClusterError, match=r"The cluster has 2147483648 nodes\. Give at most"):
        Cluster(groups=(NodeGroup(nodes=MOST_NODES), NodeGroup(name="one", nodes=1)))


@pytest.mark.parametrize("nodes", [0, -3])
def test_a_cluster_without_nodes(nodes: int) -> None:
    """Refused where it is made."""
    with pytest.raises(ClusterError, match="at least 1 node"):
        Cluster.of_nodes(nodes)


@pytest.mark.parametrize("nodes", [True, "4", 2.0, None])
def test_node_counts_are_whole_numbers(nodes: Any) -> None:
    """Where a cluster is made in Python, too."""
    with pytest.raises(ClusterError, match=r"has nodes = .*\. Give a whole number\."):
        Cluster.of_nodes(nodes)


@pytest.mark.parametrize("text", ["nodes = 4", "[[groups]]\nnodes = 4\nmax_nodes = 2"])
def test_a_known_key_in_the_wrong_place_is_told_where_keys_go(text):
    """The nearest known key is the key itself, which is no help."""
    with pytest.raises(ClusterError, match=r"has no place here. A cluster file is a list of \[\[groups\]\]"):
        Cluster.from_toml(text)
