"""What the words of people need of a table: the scenarios play one, `cardshoe operate` talks to one that runs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from controller.people_words.tokens import DEALER, By
from controller.rules.dealing_order import Place
from controller.table import operations
from controller.table.operations import AnyOperation


class NothingDoneError(Exception):
    """A line came to nothing, in a sentence without its full stop."""


def nth(cell: str, number: int) -> str:
    return cell if number == 1 else f"{cell} of number {number}"


class Subject(Protocol):
    """An open irregularity that a line is about."""

    @property
    def id(self) -> int: ...

    @property
    def revision(self) -> int: ...


class TableOfWords(Protocol):
    """A table at which lines are done. What the table does not accept raises an error of the implementation."""

    def enter(self, operation: AnyOperation, by: By = DEALER) -> None:
        """A person enters an operation."""

    def enter_decision(self, operation: operations.ConfirmIrregularity | operations.Rule, by: By) -> None:
        """A person decides about an irregularity; a void is asked for twice."""

    def twice(self, operation: AnyOperation, by: By = DEALER) -> None:
        """A person enters what takes effect when it is entered again."""

    # -- what lies there

    def about(self) -> Subject:
        """The open irregularity that a line is about. Raises `NothingDoneError`."""

    def about_choice(self) -> Subject:
        """The one that waits for bettors' choices, else the one that a line is about."""

    def turn_to(self, cell: str, number: int) -> None:
        """What follows is about the open irregularity of this cell, of several the one of that number, from 1.

        Raises `NothingDoneError`.
        """

    def open_irregularities(self) -> tuple[int, ...]:
        """Their ids."""

    def moves_due(self) -> bool:
        """Whether cards are to be moved before play goes on, and all is decided."""

    def choosers(self) -> Sequence[tuple[Place, str]]:
        """Who has to choose: the place and the bettor, who may be empty."""

    def entries(self) -> Sequence[tuple[int, operations.Operation]]:
        """What may be corrected: the entries of this round, the last one last."""

    # -- what has to do with the device: the scenarios' own obeys, and at a running table people use theirs

    def load(self) -> None:
        """A fresh deck is put in and shuffled."""

    def put_in(self, deck: str) -> None:
        """A deck is put in, and a person says which."""

    def place_your_bets(self) -> None:
        """The announcement, with the wagers or boxes that are known."""

    def next_round(self) -> None:
        """A fresh deck, and the announcement."""

    def occupy(self, boxes: tuple[int, ...]) -> None:
        """The boxes that take part."""

    def lay(self, wager: operations.PlaceWager) -> None:
        """A bettor who is not entered yet is entered first; he stands."""

    def begin(self) -> None:
        """A fresh deck, bets and "No more bets"."""

    def first_card(self) -> None:
        """The First Card is drawn and lies open."""

    def deal(self, times: int) -> None:
        """So many sets are lifted, or cards drawn, that are due."""

    def deal_all(self) -> None:
        """Whatever is still due, until something stops the deal."""

    def open_all(self) -> None:
        """Hands that are not open yet."""

    def settle(self) -> None:
        """The chips are paid."""

    def finish(self) -> None:
        """From wherever the deal is to the end of the round."""
