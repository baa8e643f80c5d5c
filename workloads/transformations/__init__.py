"""Workloads from workloads: cut, scaled, thinned, merged; each change stands in the provenance."""
