"""Tests of F3 only."""
