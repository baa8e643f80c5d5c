"""Surrogates of run time and power, and the advisors that use them."""

from __future__ import annotations

if __name__ != "hpcsim.surrogates":
    raise ImportError("Import this package as hpcsim.surrogates: under another name its classes would exist twice.")
