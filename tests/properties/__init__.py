"""Properties that hold for every workload, checked with Hypothesis."""
