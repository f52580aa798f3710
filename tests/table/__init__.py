"""Tests of decide and evolve: totality, replay, every feature."""
