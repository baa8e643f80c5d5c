"""Clusters from slurm.conf and gres.conf: the samples' values, worked out by hand from the files."""

from __future__ import annotations

import math

import pytest

from hpcsim import Cluster, registry
from hpcsim.commands.cluster_from import cluster_text
from hpcsim.errors import ClusterError

MIB = 2**20
NODE = "NodeName=n[1-4] CPUs=8 RealMemory=1000\n"


def derive(path, **options):
    return registry.make("clusters", "slurm", path=path, **options)


@pytest.fixture
def made(tmp_path):
    """Return a function that derives a cluster from texts: of slurm.conf, and of other files by name."""

    def make(text, *, gres=None, keep_down=False, **others):
        for name, content in others.items():
            (tmp_path / name).write_text(content)
        path = tmp_path / "slurm.conf"
        path.write_text(text)
        if gres is not None:
            (tmp_path / "gres.conf").write_text(gres)
        return derive(path, gres=None if gres is None else tmp_path / "gres.conf", keep_down=keep_down)

    return make


def shape(group):
    return group.name, group.nodes, group.cores, group.gpus, group.memory_bytes, set(group.features)


def told(derived):
    return [f"{remark.line}: {remark.text}" for remark in derived.remarks]


def test_micro(shared):
    derived = derive(shared / "samples/slurm_conf_micro.conf")
    small, big = 48_000 * MIB, 512_000 * MIB
    assert derived.cluster.name == "micro"
    assert [shape(group) for group in derived.cluster.groups] == [
        ("n[1-2]", 2, 12, 0, small, {"IB", "CPU-N"}),
        ("n[3-4]", 2, 12, 0, small, {"IB", "CPU-N"}),
        ("m[1-4]", 4, 12, 0, small, {"IB", "CPU-M"}),
        ("g1", 1, 12, 2, small, {"IB", "CPU-G"}),
        ("b1", 1, 12, 0, big, {"IB", "CPU-G", "BigMem"}),
    ]
    normal, debug = derived.cluster.partitions
    assert (normal.name, normal.groups) == ("normal", ("n[1-2]", "n[3-4]", "m[1-4]", "g1", "b1"))
    assert (debug.name, debug.groups) == ("debug", ("n[1-2]",))
    assert normal.max_limit_s == debug.max_limit_s == math.inf
    assert normal.max_nodes is debug.max_nodes is None
    assert derived.policy == "backfill"
    assert derived.settings == {
        "reservations": 1200,
        "depth": 1199,
        "order": "multifactor",
        "order.weight_age": 50_000,
        "order.weight_fair_share": 50_000,
        "order.weight_job_size": 200_000,
        "order.weight_partition": 1_000_000,
        "order.weight_qos": 20_000,
        "order.max_age_s": 5 * 3600,
        "order.half_life_s": 4 * 3600,
        "order.favor_small": False,
        "order.partition_priorities": {"normal": 1, "debug": 1},
    }
    assert {remark.line for remark in derived.remarks} == {4, 5, 6, 7, 11, 15, 17, 23, 24}


def test_gpu(shared):
    derived = derive(shared / "samples/slurm_conf_gpu.conf")
    (group,) = derived.cluster.groups
    assert shape(group) == ("rack[0-1]_gpu[01-04]", 8, 128, 4, (515_000 - 4_096) * MIB, {"a100", "ib"})
    (partition,) = derived.cluster.partitions
    assert (partition.name, partition.max_limit_s, partition.max_nodes) == ("gpu", 86_400, 4)
    assert derived.policy == "backfill"
    assert derived.settings == {"reservations": 500, "depth": 499}
    assert derived.notes[1:] == ("idle_timeout_s = 1800", "boot_s = 600")
    assert "13: NodeName=login01,vis[1,3-4]: 4 of its nodes left out: down, drained or future" in told(derived)
    assert "15: PartitionName=long: left out: its State is not UP" in told(derived)
    assert "16: PartitionName=int: left out: it has no node that is up" in told(derived)
    assert {remark.line for remark in derived.remarks} == {3, 4, 5, 7, 8, 9, 10, 11, 13, 14, 15, 16}


def test_gpu_with_what_is_down(shared):
    cluster = derive(shared / "samples/slurm_conf_gpu.conf", keep_down=True).cluster
    rack, login, vis = cluster.groups
    assert shape(login) == ("login01", 1, 32, 0, 128_000 * MIB, set())
    assert shape(vis) == ("vis[1,3-4]", 3, 32, 0, 128_000 * MIB, set())
    gpu, long, interactive = cluster.partitions
    assert gpu.groups == (rack.name,)
    assert long.groups == (rack.name, login.name, vis.name)
    assert (interactive.groups, interactive.max_limit_s, interactive.max_nodes) == ((vis.name,), 480 * 60, None)


def test_single(shared):
    derived = derive(shared / "samples/slurm_conf_single.conf")
    (group,) = derived.cluster.groups
    assert shape(group) == ("linux[1-32]", 32, 1, 0, 0, set())
    assert [partition.name for partition in derived.cluster.partitions] == ["debug"]
    assert {remark.line for remark in derived.remarks} == {2, 4}


def test_gres_sample(shared, made):
    """Eight nodes of two GPUs by Count, two of two by the device files; AutoDetect and other hosts are told."""
    text = "NodeName=g[001-008] CPUs=4\nNodeName=gn001 CPUs=4\nNodeName=gn[002-003] CPUs=4 Gres=gpu:tesla:1\n"
    derived = made(text, gres=(shared / "samples/gres.conf").read_text())
    assert [(group.name, group.gpus) for group in derived.cluster.groups] == [
        ("g[001-008],gn001", 2),
        ("gn[002-003]", 1),
    ]
    assert any("gives 2 GPUs to nodes to which slurm.conf gives 1; slurm.conf holds" in line for line in told(derived))
    assert any(line.startswith("1: AutoDetect=off") for line in told(derived))


@pytest.mark.parametrize("name", ["micro", "gpu", "single"])
def test_texts_are_read_back_as_equal_clusters(shared, tmp_path, name):
    derived = derive(shared / f"samples/slurm_conf_{name}.conf")
    path = tmp_path / "cluster.toml"
    path.write_text(cluster_text(name, derived))
    assert Cluster.load(path) == derived.cluster


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("90", 5400),
        ("1:30", 120),  # a minute and a half, rounded up
        ("1:30:00", 5400),
        ("2-12", 216_000),
        ("0-1:30", 5400),
        ("1-00:00:01", 86_460),
        ("infinite", math.inf),
        ("UNLIMITED", math.inf),
    ],
)
def test_forms_of_time(made, text, seconds):
    (partition,) = made(f"{NODE}PartitionName=p Nodes=ALL MaxTime={text}").cluster.partitions
    assert partition.max_limit_s == seconds


@pytest.mark.parametrize(
    ("text", "cores"),
    [
        ("", 1),
        ("Procs=6", 6),
        ("Boards=2 SocketsPerBoard=2 CoresPerSocket=8 ThreadsPerCore=2", 64),
        ("Sockets=2 CoresPerSocket=8", 16),
        ("CPUs=32 Sockets=2 CoresPerSocket=8 ThreadsPerCore=2 CoreSpecCount=2", 28),
        ("CPUs=32 CpuSpecList=0-1,16", 29),
    ],
)
def test_cores(made, text, cores):
    assert made(f"NodeName=a {text}").cluster.groups[0].cores == cores


@pytest.mark.parametrize(
    ("text", "gpus"),
    [("gpu", 1), ("gpu:3", 3), ("gpu:a100", 1), ("gpu:a:1,gpu:b:2(S:0,1)", 3), ("gpu:1K", 1024), ('""', 0), ("x:2", 0)],
)
def test_gpus(made, text, gpus):
    assert made(f"NodeName=DEFAULT Gres=gpu:7\nNodeName=a Gres={text}").cluster.groups[0].gpus == gpus


def test_defaults_hold_for_later_lines_and_replace_what_they_name(made):
    text = "NodeName=a CPUs=1\nNodeName=DEFAULT CPUs=2 RealMemory=10\nNodeName=b\nnodename=default cpus=3\nNODENAME=c\n"
    cluster = made(text).cluster
    assert [(g.name, g.cores, g.memory_bytes) for g in cluster.groups] == [
        ("a", 1, 0),
        ("b", 2, 10 * MIB),
        ("c", 3, 10 * MIB),
    ]


def test_comments_and_continued_lines(made):
    text = (
        "NodeName=a \\\n  CPUs=2 \\ # not the end\n  RealMemory=9 # CPUs=5\n#NodeName=b\n"
        'NodeName=c Reason="a\\#b c" CPUs=2 \\\n'
    )
    assert [(g.name, g.cores, g.memory_bytes) for g in made(text).cluster.groups] == [("a", 2, 9 * MIB), ("c", 2, 0)]
    with pytest.raises(ClusterError, match=r"slurm.conf:3: CPUs=x: wants a whole number from 1 on"):
        made("# one\n\nNodeName=a \\\n CPUs=x\n")


def test_the_lightest_nodes_come_first(made):
    cluster = made("NodeName=heavy[1-2] Weight=9\nNodeName=light Weight=2\nNodeName=plain\n").cluster
    assert [group.name for group in cluster.groups] == ["plain", "light", "heavy[1-2]"]


def test_partitions_over_the_same_nodes_and_sets_of_nodes(made):
    text = (
        "NodeName=n[1-4] Feature=new\nNodeName=m[1-2]\nNodeSet=fresh Feature=new\n"
        "PartitionName=DEFAULT MaxNodes=3\nPartitionName=one Nodes=fresh,m1\n"
        "PartitionName=two Nodes=n[3-4] MaxNodes=UNLIMITED\n"
    )
    cluster = made(text).cluster
    assert [group.name for group in cluster.groups] == ["n[1-2]", "n[3-4]", "m1", "m2"]
    assert [(p.name, p.groups, p.max_nodes) for p in cluster.partitions] == [
        ("one", ("n[1-2]", "n[3-4]", "m1"), 3),
        ("two", ("n[3-4]",), None),
    ]


def test_nodes_that_are_down(made):
    derived = made(f"{NODE}DownNodes=n[2-3] State=DOWN\n")
    assert [(group.name, group.nodes) for group in derived.cluster.groups] == [("n[1,4]", 2)]
    assert told(derived) == ["1: NodeName=n[1-4]: 2 of its nodes left out: down, drained or future"]


def test_other_schedulers(made):
    assert made(f"SchedulerType=sched/builtin\n{NODE}").policy == "fcfs"
    weighted = (
        "PriorityType=priority/multifactor\nPriorityWeightAge=5\nPriorityFavorSmall=YES\nPriorityFlags=NO_FAIR_TREE\n"
    )
    derived = made(f"SchedulerType=sched/builtin\n{weighted}{NODE}")
    assert derived.policy == "multifactor"
    assert derived.settings["weight_age"] == 5
    assert derived.settings["weight_fair_share"] == 0
    assert derived.settings["favor_small"] is True
    assert derived.remarks == ()
    basic = made(f"PriorityType=priority/basic\nPriorityWeightAge=5\n{NODE}")
    assert "order" not in basic.settings


def test_what_is_lost_is_told_with_its_line(made):
    text = (
        f"PreemptMode=REQUEUE\nTopologyPlugin=topology/tree\nSelctType=x\n{NODE}"
        "PartitionName=p Nodes=ALL PriorityTier=3 AllowQos=a,b OverSubscribe=YES:2 MinNodes=2\nSlurmctldPort=6817\n"
    )
    assert told(made(text)) == [
        "1: PreemptMode=REQUEUE: has no counterpart here, left out",
        "2: TopologyPlugin=topology/tree: has no counterpart here, left out",
        "3: SelctType=x: is a key that is not known, left out. Did you mean 'selecttype'?",
        "5: AllowQos=a,b: of p has no counterpart here, left out",
        "5: MinNodes=2: a least number of nodes has no counterpart here, left out",
        "5: PriorityTier=3: tiers have no counterpart here, left out",
        "5: OverSubscribe=YES:2: cores held by several jobs at once have no counterpart here, left out",
        "6: of no concern to a simulation, with their lines: SlurmctldPort (6)",
    ]


def test_included_files_are_read_where_they_stand(made):
    derived = made(
        "NodeName=DEFAULT CPUs=4\nInclude nodes.conf\nNodeName=b\n", **{"nodes.conf": "NodeName=a CPUs=2 Foo=1\n"}
    )
    assert [(group.name, group.cores) for group in derived.cluster.groups] == [("a", 2), ("b", 4)]
    assert [(remark.path.rpartition("/")[2], remark.line) for remark in derived.remarks] == [("nodes.conf", 1)]


@pytest.mark.parametrize("name", ["/etc/passwd", "../other.conf", "sub/nodes.conf", "link.conf"])
def test_files_outside_the_folder_stay_closed(made, tmp_path, name):
    outside = tmp_path.parent / "other.conf"
    outside.write_text("NodeName=secret\n")
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub/nodes.conf").write_text("NodeName=secret\n")
    (tmp_path / "link.conf").symlink_to(outside)
    with pytest.raises(ClusterError, match="is not in the folder of the file read and is left closed") as caught:
        made(f"{NODE}Include {name}\n")
    assert caught.value.line == 2
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("", 1, "describes no node that is up"),
        ("NodeName=a\nrubbish\n", 2, "'rubbish' is no Key=Value"),
        ("NodeName=a CPUs=0", 1, "wants a whole number from 1 on"),
        ("NodeName=a CPUs=2 CoreSpecCount=2", 1, "keeps 2 of its 2 CPUs from jobs"),
        ("NodeName=a RealMemory=5 MemSpecLimit=5", 1, "keeps all 5 MiB of the node from jobs"),
        ("NodeName=a\nNodeName=b,a", 2, "a is described in line 1 already"),
        ("NodeName=a[1-999999999]", 1, "names more than 100,000 hosts"),
        ("NodeName=a[0-9]b[0-999]c[0-999]", 1, "names more than 100,000 hosts"),
        ("NodeName=@all", 1, "is no list of hosts"),
        ("NodeName=a!b", 1, "is no list of hosts"),
        ("NodeName=a[3-1]", 1, "is no list of hosts"),
        ("NodeName=a State=SLEEPY", 1, "is no state of a node"),
        ("NodeName=a Gres=gpu:x:y", 1, "is no list of resources"),
        ("NodeName=a\nPartitionName=p Nodes=b", 2, "there is no node or node set b"),
        ("NodeName=a\nPartitionName=p Nodes=a MaxTime=soon", 2, "is no time"),
        ("NodeName=a\nPartitionName=p\nPartitionName=p", 3, "is described in line 2 already"),
        ("NodeName=a\nPriorityWeightAge=-1", 2, "wants a whole number from 0 on"),
        ("NodeName=a\nCPUs=1 NodeName=b", 2, "does not begin its line"),
        ("NodeName=a\nInclude slurm.conf", 2, "once more"),
        ("NodeName=a\nInclude none.conf", 2, "cannot read"),
    ],
)
def test_errors_name_file_and_line(made, text, line, words):
    with pytest.raises(ClusterError, match=r"slurm\.conf:") as caught:
        made(text)
    assert words in caught.value.cause
    assert caught.value.line == line
    assert caught.value.path.endswith("slurm.conf")


def test_files_that_are_not_there(tmp_path):
    with pytest.raises(ClusterError, match="No such file"):
        derive(tmp_path / "none")
    with pytest.raises(ClusterError, match="Is a directory"):
        derive(tmp_path)


@pytest.mark.parametrize(
    ("line", "cores"),
    [
        ("Sockets=2 CoresPerSocket=6 ThreadsPerCore=2", 24),
        ("Boards=2 SocketsPerBoard=2 CoresPerSocket=4", 16),
        ("Boards=2 Sockets=4 CoresPerSocket=4", 16),  # Sockets are the node's, not the board's
        ("Boards=2 CoresPerSocket=4", 8),
        ("CPUs=32 Sockets=2 CoresPerSocket=16 ThreadsPerCore=2 CoreSpecCount=2", 30),  # a CPU is a core
        ("CPUs=64 Sockets=2 CoresPerSocket=16 ThreadsPerCore=2 CoreSpecCount=2", 60),  # a CPU is a thread
        ("CPUs=64 CoresPerSocket=16 ThreadsPerCore=2 CoreSpecCount=2", 60),  # two sockets, by the CPUs
        ("CPUs=2 Sockets=2 CoresPerSocket=16", 2),  # a CPU is a socket
        ("CPUs=7", 7),
    ],
)
def test_cpus_of_a_node_by_slurms_own_rules(made, line, cores):
    derived = made(f"NodeName=n1 {line}\n")
    assert derived.cluster.groups[0].cores == cores
    assert not told(derived)


def test_cpus_that_match_nothing_give_way_to_sockets_cores_and_threads(made):
    derived = made("NodeName=n1 CPUs=128 Sockets=2 CoresPerSocket=32\n")
    assert derived.cluster.groups[0].cores == 64
    assert told(derived) == ["1: CPUs=128: matches neither sockets, cores nor threads; 64 by those, as Slurm has it"]


def test_a_list_of_hosts_may_go_on_in_the_next_line(made):
    derived = made(NODE + "NodeName=m[1-2] CPUs=8\nPartitionName=p Nodes=n[1-4],\\\nm[1-2] \\\n  MaxTime=5\n")
    (partition,) = derived.cluster.partitions
    assert (partition.groups, partition.max_limit_s) == (("n[1-4]", "m[1-2]"), 300)


def test_nodes_may_be_taken_down_before_they_are_described(made):
    derived = made("DownNodes=n[2-3] State=DOWN\n" + NODE)
    assert [shape(group)[:2] for group in derived.cluster.groups] == [("n[1,4]", 2)]
    assert "2: NodeName=n[1-4]: 2 of its nodes left out: down, drained or future" in told(derived)


@pytest.mark.parametrize("text", ["defer, bf_max_job_test=70", "max_job_bf=70", '"bf_window=10 , bf_max_job_test=70"'])
def test_scheduler_parameters_with_blanks_and_by_their_old_name(made, text):
    quoted = text if text.startswith('"') else f'"{text}"'
    assert made(NODE + f"SchedulerParameters={quoted}\n").settings == {"reservations": 70, "depth": 69}


def test_a_second_controller_is_no_remark(made):
    remarks = told(made("SlurmctldHost=a\nSlurmctldHost=b\n" + NODE))
    assert not [remark for remark in remarks if "given again" in remark]


BIG_SITE = """\
ClusterName="Big Site"
SelectType=select/linear
PriorityType=priority/multifactor
PriorityFlags=NO_FAIR_TREE
PriorityDecayHalfLife=7-0
PriorityFavorSmall=YES
PriorityMaxAge=14-12
PriorityWeightAge=2500
PriorityWeightFairshare=60000
PriorityWeightPartition=8000
FairShareDampeningFactor=5
SchedulerParameters=bf_max_job_test=5000
NodeName=DEFAULT Sockets=2 CoresPerSocket=64 RealMemory=240000
NodeName=nid[000001-001536] Features=milan,ib Weight=1
NodeName=DEFAULT RealMemory=490000
NodeName=nid[001537-001600],nid[001700-001731] Features=bigmem Weight=5
NodeName=nid[002001-002256] CoresPerSocket=32 Sockets=1 Gres=gpu:a100:4 Features=a100 Weight=20
NodeSet=gpunodes Feature=a100
NodeSet=big Nodes=nid[001537-001600]
PartitionName=DEFAULT MaxTime=2-00:00:00 PriorityJobFactor=100
PartitionName=regular Nodes=nid[000001-001536],big Default=YES MaxNodes=1024
PartitionName=large Nodes=nid[000001-001536] MaxTime=1-0 PriorityJobFactor=200
PartitionName=bigmem Nodes=big,nid[001700-001731]
PartitionName=gpu Nodes=gpunodes MaxTime=24:00:00
PartitionName=debug Nodes=nid[000001-000064],nid[002001-002004] MaxTime=30 MaxNodes=8 PriorityJobFactor=1000
"""


def test_overlapping_partitions_of_a_big_site(made):
    """Sizes by hand: 1,536 + 64 regular, 64 + 32 bigmem, 256 gpu, 64 + 4 debug."""
    derived = made(BIG_SITE)
    nodes = {group.name: group.nodes for group in derived.cluster.groups}
    partitions = derived.cluster.partitions
    sizes = {partition.name: sum(nodes[name] for name in partition.groups) for partition in partitions}
    assert sizes == {"regular": 1600, "large": 1536, "bigmem": 96, "gpu": 256, "debug": 68}
    assert derived.cluster.nodes == 1536 + 96 + 256
    assert [shape(group)[1:5] for group in derived.cluster.groups] == [
        (64, 128, 0, 240_000 * MIB),
        (1472, 128, 0, 240_000 * MIB),
        (64, 128, 0, 490_000 * MIB),
        (32, 128, 0, 490_000 * MIB),
        (4, 32, 4, 490_000 * MIB),
        (252, 32, 4, 490_000 * MIB),
    ]
    assert {p.name: (p.max_limit_s, p.max_nodes) for p in partitions} == {
        "regular": (172_800, 1024),
        "large": (86_400, None),
        "bigmem": (172_800, None),
        "gpu": (86_400, None),
        "debug": (1_800, 8),
    }
    assert derived.settings == {
        "reservations": 5000,
        "depth": 4999,
        "order": "multifactor",
        "order.weight_age": 2500,
        "order.weight_fair_share": 60_000,
        "order.weight_job_size": 0,
        "order.weight_partition": 8000,
        "order.weight_qos": 0,
        "order.max_age_s": 14.5 * 86_400,
        "order.half_life_s": 604_800,
        "order.favor_small": True,
        "order.dampening": 5,
        "order.partition_priorities": {"regular": 100, "large": 200, "bigmem": 100, "gpu": 100, "debug": 1000},
    }


def test_no_limit_as_minus_one(made):
    assert made(NODE + "PartitionName=p Nodes=ALL MaxTime=-1\n").cluster.partitions[0].max_limit_s == math.inf


def test_all_is_no_name_of_a_node(made):
    with pytest.raises(ClusterError, match="NodeName=ALL: is a word that Slurm keeps for itself"):
        made("NodeName=ALL CPUs=4\n")
