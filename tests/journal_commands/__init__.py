"""Tests of the journal's commands."""
