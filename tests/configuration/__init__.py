"""Tests of configurations."""
