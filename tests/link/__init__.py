"""Tests of links to devices: URLs, serial ports on real pseudo-terminals, and the link keeper under faults."""
