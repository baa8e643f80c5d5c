"""Descriptions and contracts: cluster, workload, node ids, profile, registry."""
