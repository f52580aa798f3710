"""Hands of three cards: points, pictures and ranking (TP 3.8, RTP 3.17, NC 3.2, Appendix C, P3 3.9, F3 item 7).

Suits never matter, and which picture it is never matters either.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from typing import Final

from firmware_bridge.cards import Card

HAND_SIZE: Final = 3
THREE_PICTURES: Final = 30
_POINT_WORDS: Final = ("Zero", "One", "Two", "Three", "Four", "Five", "Six", "Seven", "Eight", "Nine")
_PICTURE_WORDS: Final = ("Plain", "Single Picture", "Double Pictures")


def pictures(cards: Sequence[Card]) -> int:
    """How many are King, Queen or Jack; the ten is not one.

    >>> pictures([Card.parse("KD"), Card.parse("TC"), Card.parse("JS")])
    2
    """
    return sum(card.rank > 10 for card in cards)


def points(cards: Sequence[Card]) -> int:
    """The last digit of the sum; ten and pictures count nothing.

    >>> points([Card.parse("9D"), Card.parse("8C"), Card.parse("KS")])
    7
    """
    return sum(card.rank for card in cards if card.rank < 10) % 10


def rank_key(cards: Sequence[Card]) -> int:
    """The class of a hand, 0 (Plain Zero) to 30 (Three Pictures): higher beats lower, equal is a tie.

    >>> rank_key([Card.parse("KD"), Card.parse("JC"), Card.parse("QD")])
    30
    """
    if len(cards) != HAND_SIZE:
        raise ValueError(f"a hand has {HAND_SIZE} cards, not {len(cards)}")
    shown = pictures(cards)
    return THREE_PICTURES if shown == HAND_SIZE else 3 * points(cards) + shown


def class_name(key: int) -> str:
    """The name of a class as NC Appendix C orders them.

    >>> class_name(29), class_name(30)
    ('Double Pictures Nine', 'Three Pictures')
    """
    if key == THREE_PICTURES:
        return "Three Pictures"
    return f"{_PICTURE_WORDS[key % 3]} {_POINT_WORDS[key // 3]}"


class Outcome(StrEnum):
    """Of a box against the Dealer."""

    WIN = "win"
    LOSE = "lose"
    TIE = "tie"


def outcome(player: Sequence[Card], dealer: Sequence[Card]) -> Outcome:
    """Who has the higher ranking (NC 3.13.1 to 3.13.3)."""
    ours, theirs = rank_key(player), rank_key(dealer)
    if ours == theirs:
        return Outcome.TIE
    return Outcome.WIN if ours > theirs else Outcome.LOSE
