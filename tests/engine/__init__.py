"""The engine through `Simulation`: time, decisions, stepping, and what must never happen."""
