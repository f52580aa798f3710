"""Limits of what is examined, usable without numpy."""

from typing import Final

MOST_CARDS: Final = 416
"""The largest deck: eight decks of 52."""
