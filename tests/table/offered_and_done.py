"""Check that the table takes exactly what it offers, in every state that a test reaches."""

from __future__ import annotations

from typing import Any

import msgspec

from controller.api.bodies import encode_hook
from controller.table import events, operations
from controller.table.decide import decide
from controller.table.events import AnyEvent
from controller.table.feature import Group
from controller.table.inputs import AnyInput, PersonActed
from controller.table.offers import ANOTHER, Offer, decisions, groups, offers
from controller.table.operations import Operation
from controller.table.perform import name_of
from controller.table.permissions import PERMISSIONS
from controller.table.phases import Service
from controller.table.state import TableState

# Facts may be stated in any order; restrictions start with those in force.
PERSON_SAYS = {"facts", "closed_boxes", "fewer_wagers", "one_box"}


def fields_of(operation: Operation) -> dict[str, Any]:
    fields: dict[str, Any] = msgspec.to_builtins(operation, enc_hook=encode_hook)
    return fields


def assert_offers_hold(state: TableState) -> int:
    """Check that the table accepts every allowed offer and refuses every other one for the reason given. Return the
    number of offers.
    """
    found = offers(state)
    assert sum(offer.primary for offer in found) <= 1
    tried = [] if state.settings is None else [*groups(state), *decisions(state)]
    assert len(tried) == len(found)
    for offer, group in zip(found, tried, strict=True):
        assert offer.arguments == {name: fields_of(group.samples[0])[name] for name in offer.arguments}
        assert bool(offer.code) is bool(offer.sentence) is not offer.allowed
        assert offer.asked == 0 or offer.twice
        if not group.untried:
            _assert_holds(state, offer, group)
    return len(found)


def _assert_holds(state: TableState, offer: Offer, group: Group) -> None:
    refusals = [_refused(state, sample, offer) for sample in group.samples]
    if offer.allowed:
        assert "" in refusals, f"{offer} is refused as {refusals}"
    else:
        assert "" not in refusals, f"{offer} is taken"
        assert refusals[0] in (offer.code, "role")


def _refused(state: TableState, operation: Operation, offer: Offer) -> str:
    """Return the code with which the table refuses the operation to a person of that rank, or "" if it is taken."""
    off_duty = PERMISSIONS[type(operation)].off_duty
    person = ANOTHER if off_duty else state.duty.dealer or ANOTHER
    done = decide(state, PersonActed("tried", person, offer.role, state.round.number, operation)).events
    refused = [event for event in done if isinstance(event, events.OperationRefused)]
    return refused[0].code if refused else ""


def assert_was_offered(before: TableState, given: AnyInput, numbered: tuple[tuple[int, AnyEvent], ...]) -> bool:
    """Check that an operation that the table took was offered as allowed. Return whether there was such an offer."""
    if not isinstance(given, PersonActed) or not numbered or not isinstance(numbered[0][1], events.OperationTaken):
        return False
    operation = given.operation
    matching = [offer for offer in offers(before) if offer.allowed and is_of(offer, operation)]
    assert matching or needs_no_offer(before, operation), (
        f"{operation} was not offered in {before.phase}, {before.service}"
    )
    return bool(matching)


def needs_no_offer(state: TableState, operation: Operation) -> bool:
    """Return whether the operation is taken without being offered to a person at a screen."""
    match operation:
        case operations.EnrolScreen():  # a browser asks for it before it is enrolled as a screen
            return True
        case operations.RejectExcess():  # chips over a maximum, at a place without such chips
            return not state.layout.bets
        case operations.ReturnToService():  # the table is already in service
            return state.service is Service.IN_SERVICE and not state.device.stops
    return False


def is_of(offer: Offer, operation: Operation) -> bool:
    said = fields_of(operation)
    known = {name: value for name, value in offer.arguments.items() if name not in PERSON_SAYS}
    return offer.operation == name_of(operation) and all(said.get(name) == value for name, value in known.items())
