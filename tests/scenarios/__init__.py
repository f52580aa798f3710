"""Tests of the packaged scenarios, and of the language in which they are written."""
