"""The surrogate study: which surrogate, inputs, sample and search engine give advice that is worth taking.

One factor at a time around a base cell, so that a difference has one cause; every cell on every seed. It
reproduces, and grades by the truth, what Ahmed, Banday, Jones and Islam (arXiv 2601.15399) graded by itself.
"""

from __future__ import annotations

from hpcsim.experiments.surrogate_study.plan import PRESETS, Cell, Preset, cells
from hpcsim.experiments.surrogate_study.study import run_study

__all__ = ["PRESETS", "Cell", "Preset", "cells", "run_study"]
