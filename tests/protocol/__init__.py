"""cardlink: docs/cardlink.md against the code, both ends against each other over bad lines, and noise against each."""
