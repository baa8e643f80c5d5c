"""`hpcsim cluster from-slurm` and `from-swf`: what a person types, and what the files are good for."""

from __future__ import annotations

import json
import shlex

import pytest

from hpcsim import Cluster

CONF = """\
ClusterName=site
PriorityType=priority/multifactor
PriorityWeightAge=1000
PriorityWeightPartition=10
PreemptMode=REQUEUE
NodeName=node[001-040] CPUs=128 RealMemory=560000 Gres=gpu:4
PartitionName=general Nodes=ALL MaxTime=7-0 Default=YES PriorityJobFactor=5
PartitionName=long Nodes=ALL MaxTime=30-0
PartitionName="very large" Nodes=ALL
"""


@pytest.fixture
def conf(tmp_path):
    path = tmp_path / "slurm.conf"
    path.write_text(CONF)
    return path


def test_toml_and_what_is_lost_are_kept_apart(cli, conf):
    done = cli("cluster", "from-slurm", conf)
    assert done.exit_code == 0
    cluster = Cluster.from_toml(done.stdout)
    assert (cluster.name, cluster.nodes) == ("site", 40)
    assert f"{conf}:5: PreemptMode=REQUEUE: has no counterpart here, left out" in done.stderr
    assert "slurm.conf: 40 nodes." in done.stderr


def test_gres_file(cli, conf, tmp_path):
    (tmp_path / "gres.conf").write_text("Name=gpu File=/dev/nvidia[0-3]\n")
    conf.write_text(CONF.replace(" Gres=gpu:4", ""))
    assert Cluster.from_toml(cli("cluster", "from-slurm", conf).stdout).groups[0].gpus == 0
    done = cli("cluster", "from-slurm", conf, "--gres", tmp_path / "gres.conf")
    assert Cluster.from_toml(done.stdout).groups[0].gpus == 4


def test_a_raw_sacct_dump_runs_on_it_under_the_policy_named(cli, conf, tmp_path, shared):
    """Of the sample's eight jobs that ran, three are of partition general and one of long; the others' are missing."""
    dump = shared / "samples/sacct_parsable2_with_steps.txt"
    machine = tmp_path / "cluster.toml"
    machine.write_text(cli("cluster", "from-slurm", conf).stdout)
    easy = json.loads(cli("run", dump, "--cluster", machine, "--policy", "easy", "--json").stdout)
    assert (easy["jobs_submitted"], easy["jobs_started"]) == (8, 4)
    typed = next(line for line in machine.read_text().splitlines() if "hpcsim run" in line)
    words = shlex.split(typed.removeprefix("#").replace("LOG", str(dump)).replace("FILE", str(machine)))
    assert 'order.partition_priorities={general = 5.0, long = 1.0, "very large" = 1.0}' in words
    nearest = cli(*words[1:], "--json")
    assert nearest.exit_code == 0
    assert json.loads(nearest.stdout)["jobs_started"] == 4


def test_errors_are_one_sentence(cli, conf):
    conf.write_text(CONF + "NodeName=x CPUs=many\n")
    done = cli("cluster", "from-slurm", conf)
    assert done.exit_code == 2
    assert done.stdout == ""
    assert done.stderr == f"Error: {conf}:10: CPUs=many: wants a whole number from 1 on. Mend that line.\n"


def test_swf_header(cli, trace):
    done = cli("cluster", "from-swf", trace)
    cluster = Cluster.from_toml(done.stdout)
    assert cluster == Cluster.of_processors(4)
    assert "MaxNodes (4) has no counterpart" in done.stderr


def test_swf_samples(cli, shared):
    """By the headers: KTH's MaxProcs is 100, SDSC's 128, Curie's 93312, whose header has no `Computer`."""
    names = ("KTH-SP2-1996-2.1-cln", "SDSC-SP2-1998-4.2-cln", "CEA-Curie-2011-2.1-cln")
    texts = [cli("cluster", "from-swf", shared / f"samples/head200-{name}.swf").stdout for name in names]
    found = [(cluster.name, cluster.nodes) for cluster in map(Cluster.from_toml, texts)]
    assert found == [("IBM SP2", 100), ("IBM SP2", 128), ("cluster", 93312)]


def test_an_swf_log_without_a_size(cli, write_log):
    path = write_log([(1, 0, 10, 1)], header="; Version: 2.2\n")
    done = cli("cluster", "from-swf", path)
    assert done.exit_code == 2
    assert "neither MaxProcs nor MaxNodes" in done.stderr


def test_jobs_without_a_limit_get_the_partitions(cli, conf, tmp_path):
    machine, dump = tmp_path / "cluster.toml", tmp_path / "dump.txt"
    machine.write_text(cli("cluster", "from-slurm", conf).stdout)
    row = "2024-01-01T00:00:00|2024-01-01T00:00:00|2024-01-01T00:01:00|COMPLETED|1"
    dump.write_text(
        "JobID|Submit|Start|End|State|NNodes|Partition|Timelimit\n"
        f"1|{row}|general|Partition_Limit\n2|{row}|very large|UNLIMITED\n3|{row}|long|10:00\n"
    )
    done = cli("run", dump, "--cluster", machine, "--json")
    assert json.loads(done.stdout)["jobs_started"] == 3
    assert "1 job without a limit: the largest of the partition holds." in done.stderr
