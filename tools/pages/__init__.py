"""Makers of the pages and files that `python -m tools.generate` writes. Each module says what its file is made of."""
