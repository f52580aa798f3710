"""Reads a line of words token by token, with an error that lists the possible tokens."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Final, NamedTuple, TypeVar

from controller.games.specification import Choice, Facts, Kind, RulingAction
from controller.roles import Role
from controller.table.operations import Instruction, PlaceWager
from firmware_bridge.cards import Card, UnknownCardError
from firmware_bridge.messages import AnyText, Message, MessageError, message

ROLES: Final[Mapping[str, Role]] = {role.word: role for role in Role}
KINDS: Final[Mapping[str, Kind]] = {kind.value: kind for kind in Kind}
CHOICES: Final[Mapping[str, Choice]] = {choice.value: choice for choice in Choice}
ACTIONS: Final[Mapping[str, RulingAction]] = {action.value.replace("_", " "): action for action in RulingAction}
INSTRUCTIONS: Final[Mapping[str, Instruction]] = {one.value.replace("_", " "): one for one in Instruction}
FACTS: Final = tuple(name for name in Facts.__struct_fields__ if name != "noticed")
YES_OR_NO: Final[Mapping[str, bool]] = {"yes": True, "no": False}
MOST_TIMES: Final = 99  # more than the cards in a deck
_NUMBER: Final = re.compile(r"-?[0-9]{1,9}")  # ASCII digits, no more than any meaningful number has
_PLACE: Final = re.compile(r"D|B[1-9]")
ValueT = TypeVar("ValueT")

BETTOR: Final = message("a bettor")
BOX: Final = message("a box")
AMOUNT: Final = message("an amount")
BET: Final = message("the number of a bet")
CARD: Final = message("the number of a card")
CARDS: Final = message("the number of cards")
COUNT: Final = message("the number of cards that were counted")
WAGER: Final = message("a wager such as main")


class By(NamedTuple):
    """The person who acts: a rank, or a person by id if the table has people. `said`: the line names the person."""

    role: Role
    person: str = ""
    said: bool = False


DEALER: Final = By(Role.DEALER)


class UnreadableLineError(MessageError):
    """Reports a line with an unknown token. The message names the token and what could be in its place."""


class Tokens:
    """The tokens of a line, taken one after the other.

    `people`: `by` may also be followed by a person's id. `say` renders the reason of a line without one.
    """

    def __init__(self, words: Sequence[str], *, people: bool = False) -> None:
        self._left = list(words)
        self.say: Callable[[Message], str] = str
        self.people = people
        self.reason = self.seen_by = ""  # what ends the line, if the word has it

    @property
    def left(self) -> bool:
        return bool(self._left)

    def take(self, what: AnyText) -> str:
        """Take the next token; `what` says what it should be."""
        if not self._left:
            raise UnreadableLineError(message("{what} is missing at the end", what=what))
        return self._left.pop(0)

    def maybe(self, literal: str) -> bool:
        """Take these words if they come next; return whether they do."""
        wanted = literal.split()
        if self._left[: len(wanted)] != wanted:
            return False
        del self._left[: len(wanted)]
        return True

    def rest(self) -> tuple[str, ...]:
        taken, self._left = tuple(self._left), []
        return taken

    def tail(self, literal: str) -> tuple[str, ...] | None:
        """Take a word and everything after it, and return the latter; None if the word is not in the line."""
        if literal not in self._left:
            return None
        at = self._left.index(literal)
        taken, self._left = tuple(self._left[at + 1 :]), self._left[:at]
        return taken

    def number(self, what: AnyText) -> int:
        word = self.take(what)
        if not _NUMBER.fullmatch(word):
            raise UnreadableLineError(message("{what} must be a number, not '{word}'", what=what, word=word))
        return int(word)

    def times(self, what: AnyText) -> int:
        """Read a number of times, from 0 to `MOST_TIMES`."""
        found = self.number(what)
        if not 0 <= found <= MOST_TIMES:
            raise UnreadableLineError(
                message(
                    "{what} must be a number from 0 to {most}, not {number}", what=what, most=MOST_TIMES, number=found
                )
            )
        return found

    def numbers(self, what: AnyText) -> tuple[int, ...]:
        found = [self.number(what)]
        while self._left:
            found.append(self.number(what))
        return tuple(found)

    def place(self) -> str:
        word = self.take(message("a place"))
        if not _PLACE.fullmatch(word):
            raise UnreadableLineError(
                message("'{word}' is not a place; places are B1 to B9, and D for the Dealer or Banker", word=word)
            )
        return word

    def places(self) -> tuple[str, ...]:
        found = [self.place()]
        while self._left:
            found.append(self.place())
        return tuple(found)

    def maybe_place(self) -> str | None:
        return self.place() if self._left and _PLACE.fullmatch(self._left[0]) else None

    def card(self) -> Card:
        word = self.take(message("the code of a card"))
        try:
            return Card.parse(word)
        except UnknownCardError as error:
            raise UnreadableLineError(
                message("'{word}' is not a card; a card is written like KD or 10C", word=word)
            ) from error

    def cards(self) -> tuple[Card, ...]:
        found = []
        while self._left:
            found.append(self.card())
        return tuple(found)

    def one_of(self, known: Mapping[str, ValueT], what: AnyText) -> ValueT:
        """Read a value by its name, which may have several words; `_` may be written as a blank."""
        for name in sorted(known, key=len, reverse=True):
            if self.maybe(name) or self.maybe(name.replace("_", " ")):
                return known[name]
        word = self.take(what)
        raise UnreadableLineError(
            message("'{word}' is not {what}; known: {names:list}", word=word, what=what, names=tuple(known))
        )

    def wager(self) -> PlaceWager:
        """Read a bet: the bettor, the wager, the box and the amount."""
        bettor, wager = self.take(BETTOR), self.take(WAGER)
        box, amount = self.number(BOX), self.number(AMOUNT)
        return PlaceWager(bettor, wager, box, amount, self.maybe("overlooked"))

    def facts(self) -> dict[str, bool]:
        """Read pairs of a fact and yes or no."""
        stated = {}
        while self._left:
            fact = self.one_of(dict(zip(FACTS, FACTS, strict=True)), message("a fact"))
            stated[fact] = self.one_of(YES_OR_NO, message("an answer"))
        return stated

    def by(self, default: Role) -> By:
        """Read `by ROLE` or `by PERSON` at the end, or return the default."""
        words = self.tail("by")
        if words is None:
            return By(default)
        if self.people and words and " ".join(words) not in ROLES:
            return By(default, " ".join(words), said=True)
        return By(_whole(words, ROLES, message("a rank")), said=True)

    def done(self) -> None:
        """Verify that nothing more follows."""
        if self._left:
            raise UnreadableLineError(message("unexpected text at the end: '{words}'", words=" ".join(self._left)))


def _whole(words: Sequence[str], known: Mapping[str, ValueT], what: Message) -> ValueT:
    reading = Tokens(words)
    found = reading.one_of(known, what)
    reading.done()
    return found
