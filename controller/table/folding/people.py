"""Which answers are kept."""

from __future__ import annotations

from msgspec.structs import replace

from controller.table import events
from controller.table.folding.setters import sets
from controller.table.parts import Answer, Entered
from controller.table.state import TableState


@sets(events.OperationTaken)
def _operation_taken(state: TableState, event: events.OperationTaken, entry: int) -> TableState:
    answer = Answer(event.operation_id, event.operation, event.person, state.round, entry)
    entered = state.entered
    if event.given is not None:
        entered = (*entered, Entered(entry, event.person, event.role, event.given))
    return replace(state, answers=(*state.answers, answer), entered=entered)


@sets(events.OperationRefused)
def _operation_refused(state: TableState, event: events.OperationRefused, entry: int) -> TableState:
    answer = Answer(event.operation_id, event.operation, event.person, state.round, entry, event.code, event.sentence)
    return replace(state, answers=(*state.answers, answer))
