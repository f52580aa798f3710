"""What a line of a scenario makes of words that are one operation: for the step itself, and for its correction."""

from __future__ import annotations

from typing import Any, Final

from controller.table import operations
from simulators.scenarios.words import KINDS, ROLES, UnreadableError, Words

WITNESS: Final = "a witness"


def because(words: Words, default: str) -> str:
    """The reason, to the end of the line; who gives it stands before."""
    text = words.tail("because")
    if text is None:
        return default
    if any(f" {' '.join(text)}".endswith(f" by {role}") for role in ROLES):
        raise UnreadableError("`because` takes all that follows; say by whom before it")
    return " ".join(text)


def handled(words: Words) -> operations.HandleCards:
    return operations.HandleCards(words.place(), words.maybe("viewed"))


def opened(words: Words) -> operations.ExposeHand:
    return operations.ExposeHand(words.place(), words.cards() or None)


def first_card(words: Words) -> operations.ShowFirstCard:
    return operations.ShowFirstCard(words.card())


def boxes(words: Words) -> operations.OccupyBoxes:
    return operations.OccupyBoxes(words.numbers("a box"))


def counted(words: Words) -> operations.CountCards:
    number = words.number("how many cards were counted")
    pile = words.take("a pile or a place") if words.maybe("in") else "stub"
    return operations.CountCards(pile, number, WITNESS)


def reported(words: Words) -> operations.ReportIrregularity:
    kind = words.one_of(KINDS, "kind of irregularity")
    place = words.maybe_place()
    more: dict[str, Any] = {}
    while words.left:
        if words.maybe("counted"):
            more["counted"] = words.number("how many cards were counted")
        elif words.maybe("card"):
            more["card"] = words.number("which card of the hand")
        elif words.maybe("earlier"):
            more["earlier"] = True
        else:
            break
    return operations.ReportIrregularity(kind, place, **more)
