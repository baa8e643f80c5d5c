"""Lines of 21 fields, as Alea and the public Frontier logs have them; values by hand from the sample."""

from __future__ import annotations

import pytest

from hpcsim.errors import WorkloadError

ALEA = "0 100 0 56011 64 1 1024 64 86400 68719476736 1 62 1 1 -1 1 1 1 {1241,1241} q_1d 1:ppn=64:x86_64:cl_a#excl"
FRONTIER = "12 100 20 3600 280000 -1 -1 280000 7200 -1 1 5 2 -1 1 1 -1 -1 20000 3500 system:excl:2500x112"
PLAIN = "13 200 0 60 64 -1 -1 64 90 -1 1 1 1 1 -1 -1 -1 -1"
HEADER = "; MaxNodes: 9408\n; MaxProcs: 1053696\n"


def test_frontier(read_text):
    """280,000 cores are 2,500 nodes of 112; 20,000 GPUs are 8 a node; the soft limit is 3,500 s."""
    workload = read_text(HEADER + FRONTIER, dialect="frontier")
    assert (workload.counted, workload.machine_nodes) == ("nodes", 9408)
    assert (workload.nodes[0], workload.cores_per_node[0], workload.gpus_per_node[0]) == (2500, 112, 8)
    assert (workload.soft_limit_s[0], workload.limit_s[0], workload.recorded_nodes[0]) == (3500, 7200, 280000)


def test_alea(read_text):
    workload = read_text(ALEA, dialect="alea")
    assert (workload.nodes[0], workload.cores_per_node[0], workload.partitions[0]) == (1, 64, ("q_1d",))
    assert "gpus_per_node" not in workload.columns


@pytest.mark.parametrize(("dialect", "line"), [("alea", ALEA), ("frontier", FRONTIER)])
def test_a_line_without_the_fields_says_no_nodes(read_text, dialect, line):
    workload = read_text(f"{PLAIN}\n{line}\n{line} more\n", dialect=dialect)
    assert len(workload) == 2
    assert "no-processors" in [rule.rule for rule in workload.ledger.rules]


def test_without_a_dialect_the_fields_are_noted(read_text):
    workload = read_text(f"{FRONTIER}\n{PLAIN}")
    assert (workload.nodes.tolist(), workload.counted) == ([280000, 64], "processors")
    assert next(rule.rule for rule in workload.ledger.rules) == "extra-fields"


def test_an_unknown_dialect(read_text):
    with pytest.raises(WorkloadError, match=r"no dialect 'frontie'\. Did you mean 'frontier'"):
        read_text(PLAIN, dialect="frontie")
