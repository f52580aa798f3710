"""Tests of P3 only."""
