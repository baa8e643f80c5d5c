"""Advice on node counts by a surrogate and a rule, or by the truth: what advisors are made of."""
