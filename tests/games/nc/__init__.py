"""Tests of NC only."""
