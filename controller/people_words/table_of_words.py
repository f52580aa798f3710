"""The table on which words act: scenarios play a table, and `cardshoe operate` talks to a running table."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from controller.people_words.tokens import DEALER, By
from controller.rules.dealing_order import Place
from controller.table import operations
from controller.table.operations import AnyOperation
from firmware_bridge.messages import AnyText, MessageError, message


class NothingDoneError(MessageError):
    """Reports that a line had no effect, in a sentence without its full stop."""


def nth(cell: str, number: int) -> AnyText:
    return cell if number == 1 else message("{cell} number {number}", cell=cell, number=number)


class OpenMatter(Protocol):
    """An open irregularity that a line is about."""

    @property
    def id(self) -> int: ...

    @property
    def revision(self) -> int: ...


class TableOfWords(Protocol):
    """A table on which lines act. An act that the table refuses raises an error of the implementation."""

    def enter(self, operation: AnyOperation, by: By = DEALER) -> None:
        """Enter an operation as a person."""

    def enter_decision(self, operation: operations.ConfirmIrregularity | operations.Rule, by: By) -> None:
        """Decide about an irregularity as a person. A void is requested twice."""

    def twice(self, operation: AnyOperation, by: By = DEALER) -> None:
        """Enter an operation twice, since it takes effect when it is repeated."""

    # -- open irregularities and entries

    def about(self) -> OpenMatter:
        """Return the open irregularity that a line is about. Raises `NothingDoneError`."""

    def about_choice(self) -> OpenMatter:
        """Return the irregularity that waits for bettors' choices, else the one that a line is about."""

    def turn_to(self, cell: str, number: int) -> None:
        """Select the open irregularity of this cell for the following lines; `number` selects one of several, from 1.

        Raises `NothingDoneError`.
        """

    def open_irregularities(self) -> tuple[int, ...]:
        """Return the ids of the open irregularities."""

    def moves_due(self) -> bool:
        """Return whether everything is decided and cards must be moved before play continues."""

    def choosers(self) -> Sequence[tuple[Place, str]]:
        """Return who has to choose: the place and the bettor, who may be empty."""

    def entries(self) -> Sequence[tuple[int, operations.Operation]]:
        """Return the entries of this round that may be corrected, in order."""

    # -- acts with the device: a scenario's device obeys; at a running table people use the real one

    def load(self) -> None:
        """Put in a fresh deck and shuffle it."""

    def put_in(self, deck: str) -> None:
        """Put in a deck, and have a person enter which deck it is."""

    def place_your_bets(self) -> None:
        """Announce the round, with the wagers or boxes that are known."""

    def next_round(self) -> None:
        """Put in a fresh deck, and announce the round."""

    def occupy(self, boxes: tuple[int, ...]) -> None:
        """Name the boxes that take part."""

    def lay(self, wager: operations.PlaceWager) -> None:
        """Place a bet. A bettor who is not entered yet is entered first, without a seat."""

    def begin(self) -> None:
        """Put in a fresh deck, place bets and close them."""

    def first_card(self) -> None:
        """Draw the First Card and show it."""

    def deal(self, times: int) -> None:
        """Lift so many sets, or draw so many cards, that are due."""

    def deal_all(self) -> None:
        """Deal everything that is still due, until something stops the deal."""

    def open_all(self) -> None:
        """Turn over the hands that are not turned over yet."""

    def settle(self) -> None:
        """Pay the chips."""

    def finish(self) -> None:
        """Play from the present point of the deal to the end of the round."""
