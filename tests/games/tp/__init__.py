"""Tests of TP only."""
