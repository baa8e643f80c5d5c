"""What a Slurm configuration says that a cluster cannot: collected, and told by file and line."""

from __future__ import annotations

import re
from collections.abc import Iterable

from hpcsim.derived_cluster import Remark
from hpcsim.errors import closest
from hpcsim.node_ids import format_intervals, intervals_of
from hpcsim.workloads.clusters.conf_lines import Entry, printable, shortened

_OPERATION = re.compile(
    r"""
      (slurm|slurmctld|slurmd|slurmdbd|slurmsched|srun|auth|cred|crypto|mail|accounting|jobacct|jobcomp|job_)\w*
    | (plugin|proctrack|task|prolog|epilog|tcp|message|mpi|propagate|health|acctgather|switch|launch|log)\w*
    | (state|batch|communication|debug|cgroup|certmgr|tls|cli|core|reboot|unkillable|vsize|burst)\w*
    | (bcast|serializer|tree|hash|groupupdate|x11|maxdbd)\w*
    | (control(addr|machine)|backup(addr|controller)|port|nodeaddr|nodehostname|reason|comment|extra)
    | (grestypes|returntoservice|tmpfs|inactivelimit|minjobage|waittime|usepam|trackwckey|firstjobid|maxjobid)
    | (interactivestepoptions|httpparserplugin|urlparserplugin|privatedata|parameters|gpufreqdef)
    | (resumeprogram|suspendprogram|resumefailprogram|allowallocnodes|allowspecresourcesusage|fastschedule)
    """,
    re.ASCII | re.VERBOSE,
)
"""Keys about the running of Slurm itself: hosts, ports, files, logs, who may look."""

_SCHEDULING = frozenset(
    {
        *("preempttype", "preemptmode", "preemptparameters", "preemptexempttime", "topologyplugin", "topologyparam"),
        *("schedulertimeslice", "licenses", "overtimelimit", "killwait", "enforcepartlimits", "jobrequeue"),
        *("requeueexit", "requeueexithold", "maxjobcount", "maxarraysize", "maxstepcount", "maxtaskspernode"),
        *("priorityparameters", "prioritysiteparameters", "prioritysitefactorplugin", "prioritycalcperiod"),
        *("priorityusageresetperiod", "priorityweightassoc", "priorityweighttres", "federationparameters"),
        *("dependencyparameters", "suspendrate", "resumerate", "suspendexcnodes", "suspendexcparts"),
        *("suspendexcstates", "resvoverrun", "resvepilog", "resvprolog", "frontendname", "completewait"),
        *("nodefeaturesplugins", "extranodeinfo", "defmempernode", "defmempercpu", "defmempergpu", "defcpupergpu"),
        *("maxmempernode", "maxmempercpu", "tmpdisk", "topology", "cpubind", "restrictedcorespergpu"),
        *("defaulttime", "allowaccounts", "allowgroups", "allowqos", "denyaccounts", "denygroups", "denyqos", "qos"),
        *("alternate", "disablerootjobs", "exclusivetopo", "exclusiveuser", "gracetime", "hidden", "jobdefaults"),
        *(
            "lln",
            "maxcpuspernode",
            "maxcpuspersocket",
            "powerdownonidle",
            "reqresv",
            "rootonly",
            "selecttypeparameters",
        ),
        *("tresbillingweights", "suspendtime", "suspendtimeout", "resumetimeout"),
        *("autodetect", "cores", "links", "flags", "multiplefiles"),
    }
)
"""Keys that matter to scheduling and that a cluster cannot say."""


class Remarks:
    """Collects remarks; each is told once, in the order of its lines."""

    def __init__(self) -> None:
        self._remarks: list[Remark] = []
        self._operation: list[Entry] = []

    def add(self, entry: Entry, text: str) -> None:
        """Take a sentence about *entry*."""
        remark = Remark(entry.path, entry.line, printable(f"{entry.shown}={shortened(entry.value)}: {text}"))
        if remark not in self._remarks:
            self._remarks.append(remark)

    def left_out(self, entries: Iterable[Entry], known: Iterable[str], of: str = "") -> None:
        """Say that *entries* have no counterpart; those of no concern to a simulation are told together.

        *known* are the keys that are read in such a line, *of* says whose entries these are.
        """
        for entry in entries:
            if entry.key in _SCHEDULING:
                self.add(entry, f"{of}has no counterpart here, left out")
            elif _OPERATION.fullmatch(entry.key):
                self._operation.append(entry)
            else:
                self.add(entry, f"{of}is a key that is not known, left out.{closest(entry.key, known)}")

    def sorted(self) -> tuple[Remark, ...]:
        """Return all remarks, by file and line."""
        told = [*self._remarks]
        for path in dict.fromkeys(entry.path for entry in self._operation):
            where: dict[str, list[int]] = {}
            for entry in self._operation:
                if entry.path == path:
                    where.setdefault(entry.shown, []).append(entry.line)
            text = ", ".join(f"{shown} ({format_intervals(intervals_of(lines))})" for shown, lines in where.items())
            first = min(line for lines in where.values() for line in lines)
            told.append(Remark(path, first, f"of no concern to a simulation, with their lines: {text}"))
        return tuple(sorted(told, key=lambda remark: (remark.path, remark.line or 0)))
