"""What stands behind each `hpcsim` command: one module a command, and the parts that they share."""
