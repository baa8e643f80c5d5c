"""Readers and writers of job logs, and workload models."""

from __future__ import annotations

if __name__ != "hpcsim.workloads":
    raise ImportError("Import this package as hpcsim.workloads: under another name its classes would exist twice.")
