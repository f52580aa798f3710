"""Types of words, and readers of operations that a correction names as well."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, Generic, NamedTuple, TypeAlias, TypeVar

from controller.people_words.table_of_words import TableOfWords
from controller.people_words.tokens import BOX, COUNT, DEALER, KINDS, ROLES, Tokens, UnreadableLineError
from controller.roles import Role
from controller.table import operations
from controller.table.operations import AnyOperation
from firmware_bridge.messages import AnyText, Message, message

WITNESS: Final = "a witness"
"""The witness if a line names none. A table with people accepts a count only with a named witness."""

TableT = TypeVar("TableT", contravariant=True)
Act: TypeAlias = Callable[[TableOfWords], None]


class Word(NamedTuple, Generic[TableT]):
    """A word of the lines. `read` takes what follows it, and raises `UnreadableLineError` if that is not known.

    `enters`: the operations that it enters, those first that the table must accept.
    """

    form: str
    meaning: AnyText
    read: Callable[[Tokens], Callable[[TableT], None]]
    enters: tuple[type[operations.Operation], ...] = ()


def plain(act: Callable[[TableT], None]) -> Callable[[Tokens], Callable[[TableT], None]]:
    """Return a word that nothing follows."""
    return lambda tokens: act


def entering(
    form: str,
    meaning: Message,
    kind: type[operations.Operation],
    make: Callable[[Tokens], AnyOperation] | None = None,
    *,
    by: Role | None = None,
    reason: Message | None = None,
) -> Word[TableOfWords]:
    """Return a word that enters one operation. `make` reads its fields; without it the operation has none.

    `by`: the rank that enters it if the line names none; None: always the dealer. `reason`: the one after `because` if
    the line gives none; None: the word has no reason.
    """

    def read(tokens: Tokens) -> Act:
        tokens.reason = "" if reason is None else because(tokens, reason)
        tokens.seen_by = witness(tokens) if "[witness NAME]" in form else ""
        who = DEALER if by is None else tokens.by(by)
        operation = make(tokens) if make is not None else kind()
        return lambda table: table.enter(operation, who)

    return Word(form, meaning, read, (kind,))


def because(tokens: Tokens, default: Message) -> str:
    """Read the reason, which is the rest of the line after `because`. The person who acts must come before it.

    The default is recorded in the language of the person who enters the line, like a phrase that a screen offers.
    """
    text = tokens.tail("because")
    if text is None:
        return tokens.say(default)
    if any(f" {' '.join(text)}".endswith(f" by {role}") for role in ROLES):
        raise UnreadableLineError(message("`because` reads the rest of the line; put `by ROLE` before it"))
    return " ".join(text)


def witness(tokens: Tokens) -> str:
    """Read `witness NAME` at the end."""
    words = tokens.tail("witness")
    if words is None:
        return WITNESS
    if not words:
        raise UnreadableLineError(message("the name of the witness is missing at the end"))
    return " ".join(words)


def handled(tokens: Tokens) -> operations.HandleCards:
    return operations.HandleCards(tokens.place(), tokens.maybe("viewed"))


def opened(tokens: Tokens) -> operations.ExposeHand:
    return operations.ExposeHand(tokens.place(), tokens.cards() or None)


def first_card(tokens: Tokens) -> operations.ShowFirstCard:
    return operations.ShowFirstCard(tokens.card())


def boxes(tokens: Tokens) -> operations.OccupyBoxes:
    return operations.OccupyBoxes(tokens.numbers(BOX))


def counted(tokens: Tokens) -> operations.CountCards:
    seen_by = tokens.seen_by or witness(tokens)  # a correction reads the whole entry
    number = tokens.number(COUNT)
    pile = tokens.take(message("a pile or a place")) if tokens.maybe("in") else "stub"
    return operations.CountCards(pile, number, seen_by)


def reported(tokens: Tokens) -> operations.ReportIrregularity:
    kind = tokens.one_of(KINDS, message("a kind of irregularity"))
    place = tokens.maybe_place()
    more: dict[str, Any] = {}
    while tokens.left:
        if tokens.maybe("counted"):
            more["counted"] = tokens.number(COUNT)
        elif tokens.maybe("card"):
            more["card"] = tokens.number(message("the number of the card in the hand"))
        elif tokens.maybe("earlier"):
            more["earlier"] = True
        else:
            break
    return operations.ReportIrregularity(kind, place, **more)
