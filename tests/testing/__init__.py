"""The kit that checks policies, and what it is made of."""
