"""Tests of the audit of shuffles."""
