"""Writers: workloads, and finished runs, as files that other tools read."""
