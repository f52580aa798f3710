"""Tests of RTP only."""
