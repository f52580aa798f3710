"""Lists what people can do now: every operation that makes sense, and for those that are refused the reason.

`offers` builds for each operation of the present phase samples of what a person could enter and asks `perform.verify`
about them, so an offer is allowed exactly if `decide` would accept it. What people add (a reason, a count, a name) is
filled in for the trial and is not part of the offer. Only public facts are used: samples of card entries name cards, so
no sample makes the table tell what the device read.
"""

from __future__ import annotations

from typing import Any, Final

import msgspec

from controller.roles import Role
from controller.table.decision import RefusedError
from controller.table.inputs import PersonActed
from controller.table.model import Asking
from controller.table.offered import Group, groups
from controller.table.offered_decisions import decisions
from controller.table.operations import AnyOperation, Operation
from controller.table.perform import name_of, verify, verify_moment
from controller.table.permissions import PERMISSIONS
from controller.table.primary_act import primary_act
from controller.table.rounds import REPEATED_WITHIN_NS
from controller.table.state import TableState
from firmware_bridge.messages import AnyText

ANOTHER: Final = "*"
"""A person of whom only the rank is known; no configured person has this id."""


class Offer(msgspec.Struct, frozen=True):
    """An operation that people can enter, or the reason why they cannot.

    `role`: the lowest rank that may. `twice`: it takes effect when it is entered again; `asked`: the entry of the first
    request, if there is one, with who entered it, at which screen, and when. `primary`: the act that comes next.
    `arguments`: the known fields of the operation; `needs`: the fields that a person adds.
    """

    operation: str
    allowed: bool
    code: str = ""
    sentence: AnyText = ""
    role: Role = Role.DEALER
    twice: bool = False
    asked: int = 0
    asked_by: str = ""
    asked_screen: str = ""
    asked_utc_ns: int = 0
    primary: bool = False
    arguments: dict[str, Any] = {}
    needs: tuple[str, ...] = ()


def offers(state: TableState) -> tuple[Offer, ...]:
    """Return everything that people can enter now, in the order of the operations; at most one of them is primary."""
    if state.settings is None:
        return ()
    first = primary_act(state)
    found: list[Offer] = []
    for group in (*groups(state), *decisions(state)):
        offer = _offer(state, group)
        leads = first is not None and first.is_met_by(offer.operation, offer.arguments) and not offer.asked
        if leads and not any(other.primary for other in found):
            offer = msgspec.structs.replace(offer, primary=True)
        found.append(offer)
    return tuple(found)


def signed_before(state: TableState, operation: AnyOperation, screen: str, repeats: int, utc_ns: int) -> str:
    """Return who signed the first request if this is the second: unchanged, soon after, at the same screen.

    Empty: nobody did, and the request needs its own signature. The offers show what it may contain.
    """
    for offer in offers(state) if screen and repeats else ():
        soon = utc_ns - offer.asked_utc_ns <= REPEATED_WITHIN_NS
        if (offer.asked, offer.asked_screen) == (repeats, screen) and soon and not offer.needs:
            words = {"operation": offer.operation, **msgspec.to_builtins(offer.arguments)}
            if msgspec.convert(words, AnyOperation) == operation:
                return offer.asked_by
    return ""


def _offer(state: TableState, group: Group) -> Offer:
    refused, role = _tried(state, group)
    asking = group.asking or Asking(0)
    operation = group.samples[0]
    return Offer(
        operation=name_of(operation),
        allowed=refused is None,
        code=refused.code if refused is not None else "",
        sentence=refused.message if refused is not None else "",
        role=role,
        twice=group.twice,
        asked=asking.entry,
        asked_by=asking.person,
        asked_screen=asking.screen,
        asked_utc_ns=asking.utc_ns,
        arguments=dict(group.known),
        needs=group.needs,
    )


def _tried(state: TableState, group: Group) -> tuple[RefusedError | None, Role]:
    """Return the first refusal if every sample is refused, and the lowest rank that may do it."""
    lowest = max(PERMISSIONS[type(group.samples[0])].role, group.role, key=list(Role).index)
    first: RefusedError | None = None
    for sample in group.samples:
        for role in (one for one in Role if one.reaches(lowest)):
            refused = _refusal(state, sample, role, untried=group.untried)
            if refused is None:
                return None, role
            if refused.code != "role":
                break
        first = first or refused
    return first, lowest


def _refusal(state: TableState, operation: Operation, role: Role, *, untried: bool) -> RefusedError | None:
    allowed = PERMISSIONS[type(operation)]
    person = ANOTHER if allowed.off_duty else state.duty.dealer or ANOTHER
    given = PersonActed("", person, role, state.round.number, operation)
    try:
        (verify_moment if untried else verify)(state, given)
    except RefusedError as refused:
        return refused
    return None
