"""Tests of SK alone."""
