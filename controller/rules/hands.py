"""Hands of three cards: points, pictures and ranking (TP 3.8, RTP 3.17, NC 3.2, Appendix C, P3 3.9, F3 item 7).

Suits never matter, and neither does which picture a card is.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from typing import Final

from msgspec.structs import replace

from controller.games.specification import ClassNames
from firmware_bridge.cards import Card
from firmware_bridge.messages import SLOT, Argument, Message, message

HAND_SIZE: Final = 3
TEN: Final = 10
THREE_PICTURES: Final = 30
_POINT_WORDS: Final = (
    message("Zero"),
    message("One"),
    message("Two"),
    message("Three"),
    message("Four"),
    message("Five"),
    message("Six"),
    message("Seven"),
    message("Eight"),
    message("Nine"),
)


def pictures(cards: Sequence[Card]) -> int:
    """Count the kings, queens and jacks; a ten is not a picture.

    TP 1.1.1, RTP 1.1.2, NC 1.9, P3 1.1.2, F3 item 3.

    >>> pictures([Card.parse("KD"), Card.parse("TC"), Card.parse("JS")])
    2
    """
    return sum(card.rank > TEN for card in cards)


def points(cards: Sequence[Card]) -> int:
    """Return the last digit of the sum of the values; tens and pictures count zero.

    TP 3.8.1, 3.8.1.1, 3.9, 3.9.1, 3.9.2; RTP 3.17.1, 3.17.1.1, 3.18, 3.18.1, 3.18.2; NC 1.12, 3.2.1 to 3.2.3;
    P3 3.9.1, 3.9.1.1, 3.10, 3.10.1, 3.10.2; F3 item 2.

    >>> points([Card.parse("9D"), Card.parse("8C"), Card.parse("KS")])
    7
    """
    return sum(card.rank for card in cards if card.rank < TEN) % 10


def rank_key(cards: Sequence[Card]) -> int:
    """Return the class of a hand, 0 (Plain Zero) to 30 (Three Pictures). Higher beats lower; equal is a tie.

    TP 3.10 to 3.12, 3.14, 3.15; RTP 3.20 to 3.22; NC 3.3; P3 3.11, 3.11.1, 3.12 to 3.14, 3.16; F3 item 1, item 5.

    >>> rank_key([Card.parse("KD"), Card.parse("JC"), Card.parse("QD")])
    30
    """
    try:
        first, second, third = cards
    except ValueError:
        raise ValueError(f"a hand has {HAND_SIZE} cards, not {len(cards)}") from None
    return _KEYS[first.rank][second.rank][third.rank]


def _key_of_ranks(*ranks: int) -> int:
    shown = sum(rank > TEN for rank in ranks)
    return THREE_PICTURES if shown == HAND_SIZE else 3 * (sum(rank for rank in ranks if rank < TEN) % 10) + shown


# Precomputed because odds ask for millions of hands. Rank 0 does not occur; it keeps the index equal to the rank.
_KEYS: Final = tuple(
    tuple(tuple(_key_of_ranks(first, second, third) for third in range(14)) for second in range(14))
    for first in range(14)
)


def class_name(key: int, names: ClassNames) -> Message:
    """Return the name of a class as the document writes it.

    >>> from controller.games import game
    >>> [str(class_name(29, game(document).names)) for document in ("RTP", "NC", "F3")]
    ['Double Picture Nine', 'Double Pictures Nine', '2P9']
    """
    if key == THREE_PICTURES:
        return names.three
    pattern = (names.none, names.one, names.two)[key % 3]
    points: dict[str, Argument] = {"word": _POINT_WORDS[key // 3], "n": key // 3}
    return replace(pattern, args={slot: points[slot] for slot, _ in SLOT.findall(pattern.id)})


def hand_name(cards: Sequence[Card], names: ClassNames) -> Message:
    """Return the class of a hand as the document writes it (F3 item 4).

    >>> from controller.games import game
    >>> str(hand_name([Card.parse(text) for text in ("KD", "3C", "5S")], game("F3").names))
    'P8'
    """
    return class_name(rank_key(cards), names)


class Outcome(StrEnum):
    """The result of a box against the Dealer."""

    WIN = "win"
    LOSE = "lose"
    TIE = "tie"


def outcome(player: Sequence[Card], dealer: Sequence[Card]) -> Outcome:
    """Compare the rankings of both hands (NC 3.13.1 to 3.13.3)."""
    ours, theirs = rank_key(player), rank_key(dealer)
    if ours == theirs:
        return Outcome.TIE
    return Outcome.WIN if ours > theirs else Outcome.LOSE
