"""Tests of P3 alone."""
