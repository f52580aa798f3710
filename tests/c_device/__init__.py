"""Tests of cardlink against a device in C that shares no code with the host."""
