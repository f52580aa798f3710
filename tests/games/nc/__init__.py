"""Tests of NC alone."""
