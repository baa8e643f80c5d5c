"""Public job logs by name. Each is a function, registered under ``hpcsim.datasets``, that describes one file."""
