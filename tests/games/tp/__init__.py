"""Tests of TP alone."""
