"""Tests of single games, in folders named as in controller/games; `clauses.py` has the document's clause numbers."""
