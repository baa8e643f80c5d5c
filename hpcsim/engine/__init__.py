"""The engine: the only part of hpcsim that knows SimPy."""

from __future__ import annotations
