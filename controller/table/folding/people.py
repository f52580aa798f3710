"""Which answers are kept."""

from __future__ import annotations

from msgspec.structs import replace

from controller.table import events
from controller.table.folding.setters import sets
from controller.table.model import Answer, Entered
from controller.table.state import TableState


@sets(events.OperationTaken)
def _operation_taken(state: TableState, event: events.OperationTaken, entry: int) -> TableState:
    """Whatever else is done in between takes back that somebody asked for the round to be abandoned."""
    answer = Answer(event.operation_id, event.operation, event.person, state.round, entry)
    entered = state.entered
    if event.given is not None:
        entered = (*entered, Entered(entry, event.person, event.role, event.given))
    asked = state.abandon_asked if event.operation == "abandon_round" else ()
    return replace(state, answers=(*state.answers, answer), entered=entered, abandon_asked=asked)


@sets(events.OperationRefused)
def _operation_refused(state: TableState, event: events.OperationRefused, entry: int) -> TableState:
    answer = Answer(event.operation_id, event.operation, event.person, state.round, entry, event.code, event.sentence)
    return replace(state, answers=(*state.answers, answer))


@sets(events.DealerCame)
def _dealer_came(state: TableState, event: events.DealerCame, entry: int) -> TableState:
    return replace(state, dealer=event.dealer)


@sets(events.DealerLeft)
def _dealer_left(state: TableState, event: events.DealerLeft, entry: int) -> TableState:
    return replace(state, dealer="")


@sets(events.HandedOver)
def _handed_over(state: TableState, event: events.HandedOver, entry: int) -> TableState:
    return replace(state, dealer=event.to_dealer)
