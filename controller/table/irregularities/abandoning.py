"""A round that cannot be finished, whatever the reason: a named person rules that it is void."""

from __future__ import annotations

from controller.table import events, operations
from controller.table.decision import Decision, RefusedError
from controller.table.inputs import PersonActed
from controller.table.irregularities.dispositions import void_round
from controller.table.state import TableState


def verify_abandon(state: TableState, given: PersonActed, operation: operations.AbandonRound) -> None:
    if not operation.authority.strip() or not operation.text.strip():
        raise RefusedError("ruling", "Say by whose authority the round is abandoned, and why.")


def abandon_round(decision: Decision, given: PersonActed, operation: operations.AbandonRound) -> None:
    """Asked twice, by the same person in the same words; anything else that is done in between begins anew."""
    asked = (given.person, operation.authority, operation.text)
    if decision.state.round.abandon_asked != asked:
        decision.emit(events.AbandonAsked(*asked))
    else:
        void_round(decision, given, "", operation.text, operation.authority)
