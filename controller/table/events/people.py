"""What people asked for, and the answers."""

from __future__ import annotations

from msgspec.structs import replace

from controller.roles import Role
from controller.table.events.base import Event
from controller.table.events.changes import with_duty
from controller.table.model import (
    Answer,
    Entered,
)
from controller.table.operations.corrections import Correctable
from controller.table.phases import Phase
from controller.table.state import TableState


class OperationTaken(Event, frozen=True, tag="operation_taken"):
    """`given`: the operation itself, where it may be corrected later."""

    operation_id: str
    operation: str
    person: str
    role: Role
    given: Correctable | None = None

    def apply(self, state: TableState, entry: int) -> TableState:
        """Whatever else is done in between takes back that somebody asked for the round to be abandoned."""
        answer = Answer(self.operation_id, self.operation, self.person, state.round.number, entry)
        entered = state.round.entered
        if self.given is not None:
            entered = (*entered, Entered(entry, self.person, self.role, self.given))
        asked = state.round.abandon_asked if self.operation == "abandon_round" else ()
        return replace(
            state, answers=(*state.answers, answer), round=replace(state.round, entered=entered, abandon_asked=asked)
        )


class OperationRefused(Event, frozen=True, tag="operation_refused"):
    """Changes nothing but the answers kept."""

    operation_id: str
    operation: str
    person: str
    code: str
    sentence: str

    def apply(self, state: TableState, entry: int) -> TableState:
        answer = Answer(
            self.operation_id, self.operation, self.person, state.round.number, entry, self.code, self.sentence
        )
        return replace(state, answers=(*state.answers, answer))


class DealerCame(Event, frozen=True, tag="dealer_came"):
    """This person deals from now on."""

    dealer: str

    def apply(self, state: TableState, entry: int) -> TableState:
        return with_duty(state, dealer=self.dealer)


class DealerLeft(Event, frozen=True, tag="dealer_left"):
    """Nobody is on duty from now on."""

    dealer: str

    def apply(self, state: TableState, entry: int) -> TableState:
        return with_duty(state, dealer="")


class HandedOver(Event, frozen=True, tag="handed_over"):
    """The table went from one person to another, with everything that was open; `from_dealer` empty: from nobody."""

    from_dealer: str
    to_dealer: str
    open: tuple[int, ...]
    of_round: int
    phase: Phase

    def apply(self, state: TableState, entry: int) -> TableState:
        return with_duty(state, dealer=self.to_dealer)
