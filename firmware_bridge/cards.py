"""Cards, and cards that nobody may see yet.

A card is written rank first, suit second: ``KD``, ``TC`` or ``10C``, ``AS``. A card that lies face down is a
`Concealed`: it cannot be printed, formatted, pickled or serialised. Only the journal seals it, and only a rule of the
game exposes it.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final, NoReturn

from firmware_bridge.messages import MessageError, message

RANKS: Final = "A23456789TJQK"
SUITS: Final = "CDHS"
DECK_SIZE: Final = 52


class UnknownCardError(MessageError, ValueError):
    """Raised for a text or number that is not a card of a 52-card deck."""


class Card:
    """One of 52 cards. `rank` is 1 (ace) to 13 (king), `suit` one of C D H S. Each card is a single object.

    >>> Card.parse("10d").code, Card.parse("KS").rank
    ('TD', 13)
    """

    __slots__ = ("code", "number", "rank", "suit")
    code: str
    number: int
    rank: int
    suit: str

    def __new__(cls, *_: object) -> Card:
        raise TypeError("cards are not constructed: use Card.parse or Card.numbered")

    @staticmethod
    def parse(text: str) -> Card:
        """Return the card that a person wrote. Raise `UnknownCardError` with a sentence."""
        code = text.strip().upper().replace("10", "T", 1)
        card = _BY_CODE.get(code)
        if card is None:
            raise UnknownCardError(
                message("{text} is not a card; write rank and suit, as in KD, 10C or AS", text=repr(text))
            )
        return card

    @staticmethod
    def numbered(number: int) -> Card:
        """Return the card with this number on the wire: 1 to 52, clubs, diamonds, hearts, spades, each from the ace."""
        if not 1 <= number <= DECK_SIZE:
            raise UnknownCardError(
                message("{number} is not a card number; use 1 to {most}", number=number, most=DECK_SIZE)
            )
        return DECK[number - 1]

    def __repr__(self) -> str:
        return self.code

    def __reduce__(self) -> tuple[Any, ...]:
        return Card.parse, (self.code,)


def _build_deck() -> tuple[Card, ...]:
    deck: list[Card] = []
    for suit in SUITS:
        for rank, letter in enumerate(RANKS, start=1):
            card = object.__new__(Card)
            card.rank, card.suit, card.code, card.number = rank, suit, letter + suit, len(deck) + 1
            deck.append(card)
    return tuple(deck)


DECK: Final = _build_deck()
_BY_CODE: Final = {card.code: card for card in DECK}


class ConcealedCardError(TypeError):
    """Raised when something tries to show a card that nobody may see yet: always a bug in this program."""


class Concealed:
    """A recognised card that lies face down, with its place in the shuffled deck (`ordinal` 1 is the first out).

    `repr` shows the place and never the face. Only `expose` gives the face.
    """

    __slots__ = ("_card", "ordinal", "shuffle")

    def __init__(self, card: Card, shuffle: int, ordinal: int) -> None:
        self._card = card
        self.shuffle = shuffle
        self.ordinal = ordinal

    def expose(self) -> Card:
        """Return the face, to show the card when the rules do, or to seal it."""
        return self._card

    def has_same_face(self, other: Concealed) -> bool:
        """Return whether both are the same card of the deck, without revealing which."""
        return self._card is other._card

    def is_among(self, others: Iterable[Concealed | None]) -> bool:
        """Return whether one of the others is the same card of the deck, without revealing which. Every one is
        compared, so that the time does not depend on where the match is."""
        card, found = self._card, 0
        for other in others:
            found += other is not None and other._card is card
        return found > 0

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Concealed):
            return NotImplemented
        return (self._card, self.shuffle, self.ordinal) == (other._card, other.shuffle, other.ordinal)

    def __hash__(self) -> int:
        return hash((self.shuffle, self.ordinal))

    def __repr__(self) -> str:
        return f"<card {self.ordinal} of shuffle {self.shuffle}, concealed>"

    def __str__(self) -> NoReturn:
        raise ConcealedCardError("a concealed card cannot be printed")

    def __format__(self, spec: str) -> NoReturn:
        raise ConcealedCardError("a concealed card cannot be formatted")

    def __reduce_ex__(self, protocol: object) -> NoReturn:
        raise ConcealedCardError("a concealed card cannot be pickled or copied out")


class Exposed:
    """A card that was concealed and has been shown, with the place that its commitment names."""

    __slots__ = ("card", "ordinal", "shuffle")

    def __init__(self, card: Card, shuffle: int, ordinal: int) -> None:
        self.card = card
        self.shuffle = shuffle
        self.ordinal = ordinal

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Exposed):
            return NotImplemented
        return (self.card, self.shuffle, self.ordinal) == (other.card, other.shuffle, other.ordinal)

    def __hash__(self) -> int:
        return hash((self.card, self.shuffle, self.ordinal))

    def __repr__(self) -> str:
        return f"<{self.card!r}, card {self.ordinal} of shuffle {self.shuffle}>"


class Evidence:
    """The raw bytes of a device's report. They may reveal concealed cards, so they are kept only sealed.

    They are sealed as if there were at least `room` of them, since the length of a report may reveal its card.
    """

    __slots__ = ("_data", "room")

    def __init__(self, data: bytes, room: int = 0) -> None:
        self._data = data
        self.room = room

    def open(self) -> bytes:
        """Return the bytes, for sealing or for an audit."""
        return self._data

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Evidence) and self._data == other._data

    def __hash__(self) -> int:
        return hash(self._data)

    def __repr__(self) -> str:
        return "<evidence, sealed>"

    def __reduce_ex__(self, protocol: object) -> NoReturn:
        raise ConcealedCardError("evidence cannot be pickled or copied out")
