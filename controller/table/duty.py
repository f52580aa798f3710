"""Records who deals: going on and off duty, and taking the table over.

Once a dealer is on duty, no other dealer deals (`perform.verify`) until the table is taken over; people of a higher
rank may act for the dealer (RTP 6.2, NC 1.10), and every operation names the person who did it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from controller.table import events, operations, screens
from controller.table.decision import Decision, RefusedError
from controller.table.feature import ALWAYS, ANY_PHASE, Group, OperationRow, group, just
from controller.table.inputs import PersonActed
from controller.table.model import Irregularity
from controller.table.phases import BETWEEN_ROUNDS
from controller.table.state import TableState
from firmware_bridge.messages import Message, message


def verify_dealer_on(state: TableState, given: PersonActed, operation: operations.DealerOn) -> None:
    _verify_nothing_open(state)
    _verify_another(state, given)
    if state.duty.dealer:
        raise RefusedError(
            "on-duty", "The dealer on duty is {dealer}; take the table over instead.", dealer=state.duty.dealer
        )


def dealer_on(decision: Decision, given: PersonActed, operation: operations.DealerOn) -> None:
    decision.emit(events.DealerCame(given.person, given.uid))
    screens.change_dealer(decision, given)


def verify_dealer_off(state: TableState, given: PersonActed, operation: operations.DealerOff) -> None:
    """Verify that the dealer enters it, or a person of a higher rank; another dealer takes over the table instead."""
    _verify_nothing_open(state)
    if not state.duty.dealer:
        raise RefusedError("off-duty", "No dealer is on duty; there is nothing to enter.")


def dealer_off(decision: Decision, given: PersonActed, operation: operations.DealerOff) -> None:
    decision.emit(events.DealerLeft(decision.state.duty.dealer))
    screens.sign_off_all(decision, "off_duty")


def verify_take_over(state: TableState, given: PersonActed, operation: operations.TakeOver) -> None:
    """Verify that the new dealer names every open irregularity, which shows that all were seen."""
    _verify_another(state, given)
    if sorted(operation.open) != sorted(found.id for found in state.open):
        if not state.open:
            raise RefusedError("open", "No irregularity is open; take over without naming one.")
        listed = tuple(map(_listing, state.open))
        raise RefusedError("open", "Name every open irregularity, once: {irregularities:list}.", irregularities=listed)


def take_over(decision: Decision, given: PersonActed, operation: operations.TakeOver) -> None:
    state = decision.state
    ids = tuple(found.id for found in state.open)
    duty, number = state.duty, state.round.number
    decision.emit(events.HandedOver(duty.dealer, given.person, ids, number, state.phase, given.uid))
    screens.change_dealer(decision, given)


def _verify_another(state: TableState, given: PersonActed) -> None:
    if state.duty.dealer == given.person:
        raise RefusedError(
            "on-duty", "The dealer on duty is {person} already; there is nothing to enter.", person=given.person
        )


def _verify_nothing_open(state: TableState) -> None:
    if state.open:
        raise RefusedError(
            "open", "An irregularity is open; decide it first, or let another dealer take the table over."
        )


def _listing(found: Irregularity) -> Message:
    """Return an irregularity by its id, its row's number and its place."""
    if not found.place:
        return message("{id} ({row})", id=found.id, row=found.row.id)
    return message("{id} ({row} at {place})", id=found.id, row=found.row.id, place=found.place)


# -- permissions and offers


def _taken_over(state: TableState) -> Iterator[Group]:
    """Offer a takeover that names every open irregularity: the person who takes over ticks them off."""
    yield group(operations.TakeOver(tuple(found.id for found in state.open)), known=("open",))


# fmt: off
FEATURE: Final[tuple[OperationRow, ...]] = (
    OperationRow(
        operations.DealerOn, message("go on duty"), message("{who} went on duty."), verify_dealer_on, dealer_on,
        BETWEEN_ROUNDS, ALWAYS, off_duty=True, offers=just(operations.DealerOn()),
        where=lambda state: not state.duty.dealer),
    OperationRow(
        operations.DealerOff, message("go off duty"), message("{who} went off duty."), verify_dealer_off, dealer_off,
        BETWEEN_ROUNDS, ALWAYS, offers=just(operations.DealerOff()), where=lambda state: bool(state.duty.dealer)),
    OperationRow(
        operations.TakeOver, message("take the table over"), message("{who} took the table over."), verify_take_over,
        take_over, ANY_PHASE, ALWAYS, off_duty=True, offers=_taken_over),
)
# fmt: on
"""The permissions and offers of this feature."""
