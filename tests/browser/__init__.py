"""The interactive report in a real browser."""
