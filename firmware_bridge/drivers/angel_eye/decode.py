"""Decodes telegrams of the Angel Eye into observations (docs/other_devices.md, "Angel Eye II-EX").

Faces, and what depends on them (the result, the target of a card), stay in the evidence, since texts may be shown to
people. A telegram that public sources do not explain is reported as not understood, never guessed.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from firmware_bridge.cards import RANKS, Card
from firmware_bridge.drivers.one_way import card_drawn
from firmware_bridge.observations import AnyObservation, JamCleared, Jammed, Noted, NotUnderstood, Started

PAYLOAD_BIT: Final = 0x80
IN_ERROR_MODE: Final = 0x40

_SUITS: Final = {1: "D", 2: "C", 3: "S", 4: "H"}
_ERRORS: Final = {
    1: "a card cannot be read",
    2: "overdraw",
    3: "button mishandled",
    4: "reverse run at the exit",
    5: "reverse run midway",
    6: "card code error",
    7: "drawing time-out",
}
_NOT_UNDERSTOOD: Final = NotUnderstood("a telegram whose content is unknown")


def decode(data: bytes) -> AnyObservation:
    """Return the observation for the code and payload of one telegram. Never raises.

    >>> decode(b"C")
    Noted(what='cutting card drawn')
    """
    code, payload = data[:1], data[1:]
    read = _CODES.get(code)
    return _NOT_UNDERSTOOD if read is None else read(payload)


def _noted(what: str) -> Callable[[bytes], AnyObservation]:
    return lambda payload: Noted(what)


def _started(payload: bytes) -> AnyObservation:
    return Started("start of communication") if not payload else _NOT_UNDERSTOOD


def _drawn(payload: bytes) -> AnyObservation:
    """Return a card that left the shoe, in a game or outside one. It is unread without a valid rank and suit."""
    if len(payload) != 2 or not all(byte & PAYLOAD_BIT for byte in payload):
        return _NOT_UNDERSTOOD
    return card_drawn(card_of(payload[1]))


def card_of(byte: int) -> Card | None:
    """Return the card: bits 6-4 are the suit, bits 3-0 the rank, from 1 (ace)."""
    suit, rank = _SUITS.get(byte >> 4 & 7), byte & 0x0F
    return Card.parse(RANKS[rank - 1] + suit) if suit and 1 <= rank <= 13 else None


def _redrawn(payload: bytes) -> AnyObservation:
    return NotUnderstood("a card re-draw, on whose meaning public sources disagree")


def _error(payload: bytes) -> AnyObservation:
    """Return a jam for an error mode, in which the shoe waits for people. An error without it is not described."""
    zone = _zone(payload)
    if zone is None:
        return _NOT_UNDERSTOOD
    if not payload[0] & IN_ERROR_MODE:
        return NotUnderstood(f"an error without error mode: {zone}")
    return Jammed(zone)


def _error_cancelled(payload: bytes) -> AnyObservation:
    zone = _zone(payload)
    return _NOT_UNDERSTOOD if zone is None else JamCleared(zone)


def _zone(payload: bytes) -> str | None:
    if len(payload) != 1 or not payload[0] & PAYLOAD_BIT:
        return None
    error = payload[0] & 0x3F
    return _ERRORS.get(error, f"error {error}")


_CODES: Final[dict[bytes, Callable[[bytes], AnyObservation]]] = {
    b"S": _started,
    b"P": _noted("stand-by between rounds"),
    b"D": _drawn,
    b"d": _drawn,
    b"R": _redrawn,
    b"G": _noted("a result of another game"),
    b"C": _noted("cutting card drawn"),
    b"E": _error,
    b"e": _error_cancelled,
    b"L": _noted("key lock changed"),
    b"M": _noted("preset changed"),
}
