"""Descriptions of machines from a site's own files. Each is a function, registered under ``hpcsim.clusters``."""
