"""Tests of single games, a folder a game beside controller/games; `clauses.py` has the document's clause numbers."""
