"""Readers: one function a format, ``read(path, **options) -> Workload``."""
