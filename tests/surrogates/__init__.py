"""Tests of the surrogates of run time and power."""
