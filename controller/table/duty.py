"""Who deals: on duty, off duty, and the table handed over with everything that is open.

It is kept and shown, and restricts nothing: people may act for each other, and every operation names whoever did it.
"""

from __future__ import annotations

from controller.table import events, operations
from controller.table.decision import Decision, RefusedError
from controller.table.inputs import PersonActed
from controller.table.model import Irregularity
from controller.table.state import TableState


def verify_dealer_on(state: TableState, given: PersonActed, operation: operations.DealerOn) -> None:
    _verify_nothing_open(state)
    _verify_another(state, given)
    if state.duty.dealer:
        raise RefusedError("on-duty", f"{state.duty.dealer} is on duty; take the table over instead.")


def dealer_on(decision: Decision, given: PersonActed, operation: operations.DealerOn) -> None:
    decision.emit(events.DealerCame(given.person))


def verify_dealer_off(state: TableState, given: PersonActed, operation: operations.DealerOff) -> None:
    """Whoever else stands there may enter that the dealer left."""
    _verify_nothing_open(state)
    if not state.duty.dealer:
        raise RefusedError("off-duty", "Nobody is on duty.")


def dealer_off(decision: Decision, given: PersonActed, operation: operations.DealerOff) -> None:
    decision.emit(events.DealerLeft(decision.state.duty.dealer))


def verify_take_over(state: TableState, given: PersonActed, operation: operations.TakeOver) -> None:
    """Whoever comes names what is open: so it is known that it was seen."""
    _verify_another(state, given)
    if sorted(operation.open) != sorted(found.id for found in state.open):
        listed = ", ".join(map(_named, state.open))
        sentence = f"Name every open irregularity, once: {listed}." if listed else "Nothing is open; name nothing."
        raise RefusedError("open", sentence)


def take_over(decision: Decision, given: PersonActed, operation: operations.TakeOver) -> None:
    state = decision.state
    ids = tuple(found.id for found in state.open)
    decision.emit(events.HandedOver(state.duty.dealer, given.person, ids, state.round.number, state.phase))


def _verify_another(state: TableState, given: PersonActed) -> None:
    if state.duty.dealer == given.person:
        raise RefusedError("on-duty", f"{given.person} is on duty already.")


def _verify_nothing_open(state: TableState) -> None:
    if state.open:
        raise RefusedError("open", "An irregularity is open; bring it to its end, or let somebody take the table over.")


def _named(found: Irregularity) -> str:
    """An irregularity by its id, and by its row's number where it has one."""
    at = f" at {found.place}" if found.place else ""
    return f"{found.id} ({found.row.id}{at})"
