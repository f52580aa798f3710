"""Tests of cardlink: docs/cardlink.md against the code, both ends over bad lines, and noise against each end."""
