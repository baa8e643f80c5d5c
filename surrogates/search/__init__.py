"""Search engines: which parameters to try next."""
