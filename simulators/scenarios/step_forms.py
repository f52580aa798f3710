"""What the words of steps share: what a word is, and readers of operations that a correction names as well."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, NamedTuple, TypeAlias

from controller.table import operations
from simulators.scenarios.course import Course
from simulators.scenarios.tokens import KINDS, ROLES, Tokens, UnreadableError

WITNESS: Final = "a witness"
Act: TypeAlias = Callable[[Course], None]


class Word(NamedTuple):
    """`read` takes what follows the word; it raises `UnreadableError` where that says nothing known."""

    form: str
    meaning: str
    read: Callable[[Tokens], Act]


def plain(act: Act) -> Callable[[Tokens], Act]:
    """A word that nothing follows."""
    return lambda tokens: act


def because(tokens: Tokens, default: str) -> str:
    """The reason, to the end of the line; who gives it stands before."""
    text = tokens.tail("because")
    if text is None:
        return default
    if any(f" {' '.join(text)}".endswith(f" by {role}") for role in ROLES):
        raise UnreadableError("`because` takes all that follows; say by whom before it")
    return " ".join(text)


def handled(tokens: Tokens) -> operations.HandleCards:
    return operations.HandleCards(tokens.place(), tokens.maybe("viewed"))


def opened(tokens: Tokens) -> operations.ExposeHand:
    return operations.ExposeHand(tokens.place(), tokens.cards() or None)


def first_card(tokens: Tokens) -> operations.ShowFirstCard:
    return operations.ShowFirstCard(tokens.card())


def boxes(tokens: Tokens) -> operations.OccupyBoxes:
    return operations.OccupyBoxes(tokens.numbers("a box"))


def counted(tokens: Tokens) -> operations.CountCards:
    number = tokens.number("how many cards were counted")
    pile = tokens.take("a pile or a place") if tokens.maybe("in") else "stub"
    return operations.CountCards(pile, number, WITNESS)


def reported(tokens: Tokens) -> operations.ReportIrregularity:
    kind = tokens.one_of(KINDS, "kind of irregularity")
    place = tokens.maybe_place()
    more: dict[str, Any] = {}
    while tokens.left:
        if tokens.maybe("counted"):
            more["counted"] = tokens.number("how many cards were counted")
        elif tokens.maybe("card"):
            more["card"] = tokens.number("which card of the hand")
        elif tokens.maybe("earlier"):
            more["earlier"] = True
        else:
            break
    return operations.ReportIrregularity(kind, place, **more)
