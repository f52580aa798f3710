"""Tests of F3 alone."""
