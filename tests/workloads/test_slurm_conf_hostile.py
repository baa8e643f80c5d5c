"""Any bytes for a slurm.conf or gres.conf: a cluster that TOML keeps, or one sentence with file and line."""

from __future__ import annotations

import random
import time

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hpcsim import Cluster, registry
from hpcsim.commands.cluster_from import cluster_text
from hpcsim.errors import ClusterError
from tests.workloads.test_any_bytes import mutated

CONF = rb"""# all that is read
ClusterName=site
SchedulerType=sched/backfill
SchedulerParameters=bf_max_job_test=50,bf_window=1440
PriorityType=priority/multifactor
PriorityDecayHalfLife=0-4
PriorityWeightFairshare=50000
PriorityWeightPartition=1000
PriorityMaxAge=0-5
PriorityFlags=NO_FAIR_TREE
SuspendTime=300
NodeName=DEFAULT RealMemory=48000 Sockets=2 CoresPerSocket=6 ThreadsPerCore=1
NodeName=n[1-4],m[01-04] Feature="IB,x y" Weight=3 \
  MemSpecLimit=10 CoreSpecCount=1
NodeName=g[1-2]_r[1-2] Gres=gpu:a100:2,nvme:1 State=UNKNOWN Reason="none \# here"
DownNodes=n2 State=DOWN
NodeSet=fast Feature=IB
PartitionName=DEFAULT MaxTime=2-0
PartitionName=normal Nodes=ALL Default=YES PriorityJobFactor=2 State=UP
PartitionName="de bug" Nodes=fast,g1_r1 MaxTime=30 MaxNodes=2 PriorityTier=4
"""
GRES = b"AutoDetect=off\nNodeName=n[1-2],z9 Name=gpu Count=2\nName=gpu File=/dev/nvidia[0-3]\n"
MUTATIONS = 2_000


def survives(folder, conf, gres):
    """Derive; let nothing through but a cluster that its text keeps, or a sentence that names file and line."""
    (folder / "slurm.conf").write_bytes(conf)
    (folder / "gres.conf").write_bytes(gres)
    try:
        derived = registry.make("clusters", "slurm", path=folder / "slurm.conf", gres=folder / "gres.conf")
    except ClusterError as error:
        refusal = error
    else:
        kept_by_toml(derived)
        assert all(remark.line and remark.text.isprintable() for remark in derived.remarks)
        return derived
    assert refusal.path in {str(folder / "slurm.conf"), str(folder / "gres.conf")}
    assert f"{refusal.path}:{refusal.line}: " in str(refusal)
    assert str(refusal).isprintable()
    return None


def kept_by_toml(derived):
    assert Cluster.from_toml(cluster_text("its source", derived)) == derived.cluster


def test_the_files_themselves_are_read(tmp_path):
    derived = survives(tmp_path, CONF, GRES)
    assert derived.cluster.nodes == 11
    assert [partition.name for partition in derived.cluster.partitions] == ["normal", "de bug"]


def test_thousands_of_mutations(tmp_path):
    rng = random.Random(20240101)
    started, kept = time.process_time(), 0
    for number in range(MUTATIONS):
        kept += (
            survives(tmp_path, *((mutated(rng, CONF), GRES) if number % 3 else (CONF, mutated(rng, GRES)))) is not None
        )
    assert kept > MUTATIONS / 20
    assert time.process_time() - started < 60


@pytest.mark.nightly
@pytest.mark.parametrize("seed", range(10))
def test_tens_of_thousands_of_mutations(tmp_path, seed):
    rng = random.Random(seed)
    for _ in range(5 * MUTATIONS):
        survives(tmp_path, mutated(rng, CONF), mutated(rng, GRES))


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(conf=st.binary(max_size=300), gres=st.binary(max_size=100))
def test_any_bytes(tmp_path, conf, gres):
    survives(tmp_path, conf, gres)


WORDS = st.one_of(
    st.text(max_size=12), st.sampled_from(["", "ALL", "DEFAULT", "-1", "UNLIMITED", "n[1-3]", "1e9", "é"])
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_any_text_for_any_value(tmp_path, data):
    """One value replaced by any text, quoted or not, the lines still whole."""
    parts = CONF.split(b"=")
    place = data.draw(st.integers(1, len(parts) - 1))
    text = data.draw(WORDS).encode()
    text = b'"' + text + b'"' if data.draw(st.booleans()) else text
    _, blank, rest = parts[place].partition(b" " if b" " in parts[place] else b"\n")
    parts[place] = text + blank + rest
    survives(tmp_path, b"=".join(parts), b"")
    survives(tmp_path, b"NodeName=a\n", GRES.replace(b"gpu", text))


def test_files_too_large_are_refused(tmp_path):
    path = tmp_path / "slurm.conf"
    path.write_bytes(b"NodeName=a\n" * (1 << 19))
    with pytest.raises(ClusterError, match=r"slurm.conf:1: slurm.conf is larger than 4 MiB"):
        registry.make("clusters", "slurm", path=path)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    text=st.one_of(
        st.binary(max_size=300), st.binary(max_size=60).map(lambda raw: b"; MaxProcs: 8\n; Computer: " + raw)
    )
)
def test_any_bytes_for_an_swf_header(tmp_path, text):
    path = tmp_path / "log.swf"
    path.write_bytes(text)
    try:
        derived = registry.make("clusters", "swf", path=path)
    except ClusterError as error:
        refusal = error
    else:
        kept_by_toml(derived)
        assert all(remark.text.isprintable() for remark in derived.remarks)
        return
    assert refusal.path == str(path)
    assert refusal.line is not None
