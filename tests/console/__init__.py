"""Tests of the console: its words and, in a browser, regions, sizes, lost contact, displays."""
