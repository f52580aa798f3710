"""Tests of RTP alone."""
