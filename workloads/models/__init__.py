"""Models: seeded generators of workloads that no machine has run."""
