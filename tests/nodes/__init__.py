"""Machines whose nodes differ, and the power they draw."""
