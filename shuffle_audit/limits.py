"""Limits of what is examined, where numpy is not needed to know them."""

from typing import Final

MOST_CARDS: Final = 416
"""Of the largest deck: eight decks of 52 in one."""
