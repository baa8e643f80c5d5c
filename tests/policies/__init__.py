"""Policies, checked by hand: each expected schedule is worked out in the test's docstring."""
