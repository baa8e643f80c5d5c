"""Experiments: several runs that answer one question."""
