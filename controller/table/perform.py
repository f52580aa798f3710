"""Carries out or refuses a person's operation. Every refusal is a sentence that names what comes first.

Each operation has one row in `permissions.PERMISSIONS`. `verify` raises the refusal, `can` says whether there is one,
and `person_acted` does the operation or records the refusal.
"""

from __future__ import annotations

from typing import Final

from msgspec.structs import replace

from controller.roles import Role
from controller.table import events
from controller.table.decision import Decision, RefusedError
from controller.table.feature import OperationRow
from controller.table.inputs import PersonActed
from controller.table.irregularities.questions import in_order, question
from controller.table.next_step import device_trouble, next_step, waiting
from controller.table.operations import Correctable, Operation
from controller.table.permissions import PERMISSIONS
from controller.table.phases import PHASE_WORDS, Phase, Service
from controller.table.screens import verify_screen
from controller.table.state import TableState
from firmware_bridge.messages import Message, message, sentences

FIRST_IN_PHASE: Final = {
    Phase.CLOSED: message("Open the table first."),
    Phase.IDLE: message('Announce "Place your bets" first.'),
    Phase.BETTING: message('Announce "No more bets" first, or cancel the start of the round.'),
    Phase.FIRST_CARD: message("Show the First Card first."),
    Phase.DEALING_SETS: message("Finish the deal first."),
    Phase.DEALING_SINGLES: message("Finish the deal first."),
    Phase.EXAMINING: message("Turn over {hand} first."),
    Phase.EXPOSING: message("Turn over the hands that are still in play first."),
    Phase.SETTLING: message("Settle and conclude the round first."),
    Phase.CONCLUDED: message('Announce "Place your bets" for the next round first.'),
    Phase.VOIDED: message('The round is void. Announce "Place your bets" for the next one first.'),
    Phase.MAINTENANCE: message("End the maintenance first."),
}


ASKED_FOR: Final = {
    "abandon_asked": message("{who} asked to void the round."),
    "conclusion_asked": message("{who} asked to conclude the round."),
    "void_asked": message("{who} asked to void the round."),
}
"""Descriptions, by the tag of the event, of a first request with an operation that is entered twice."""

DONE: Final = {str(operation.__struct_config__.tag): row.done for operation, row in PERMISSIONS.items()}
HAPPENED: Final = {
    str(event.__struct_config__.tag): event.outdates for event in events.ALL if event.outdates is not None
}


def name_of(operation: Operation) -> str:
    """Return the operation's name in the API and in the journal."""
    return str(operation.__struct_config__.tag)


def verify(state: TableState, given: PersonActed) -> None:
    """Raise `RefusedError` if the operation is not permitted now, or not for this person."""
    verify_moment(state, given)
    PERMISSIONS[type(given.operation)].verify(state, given, given.operation)


def verify_moment(state: TableState, given: PersonActed) -> None:
    """Verify rank, duty, phase, service and hold, which do not depend on the operation's contents."""
    allowed = PERMISSIONS[type(given.operation)]
    words = allowed.phrase
    verify_screen(state, given)
    if not given.role.reaches(allowed.role):
        raise RefusedError(
            "role", "Only a {role} or above may {act}; call the {role}.", role=allowed.role.named, act=words
        )
    _verify_duty(state, given, allowed)
    if state.phase not in allowed.phases:
        raise RefusedError(
            "phase",
            "Cannot {act} while the table is {phase}. {first}",
            act=words,
            phase=PHASE_WORDS[state.phase],
            first=allowed.first or _first_in(state),
        )
    if state.service not in allowed.when.services:
        raise RefusedError("service", _why_service(state, words))
    though = allowed.though_held is not None and allowed.though_held(state)
    if state.held and not allowed.when.held and not though:
        raise RefusedError("held", _why_held(state, words))


def _first_in(state: TableState) -> Message:
    """Return what comes first in the present phase, in the words of the game."""
    first = FIRST_IN_PHASE[state.phase]
    return replace(first, args={"hand": state.game.words.dealers_hand}) if "{hand}" in first.id else first


def _verify_duty(state: TableState, given: PersonActed, allowed: OperationRow) -> None:
    """Verify that only the dealer on duty deals and answers. Until a dealer is on duty, any dealer may.

    People of a higher rank may act for the dealer (RTP 6.2, NC 1.10).
    """
    on_duty = state.duty.dealer
    if on_duty and given.person != on_duty and given.role is Role.DEALER and not allowed.off_duty:
        raise RefusedError(
            "not-on-duty",
            "Cannot {act}: {on_duty} is on duty. Let {on_duty} enter it, or take the table over first.",
            act=allowed.phrase,
            on_duty=on_duty,
        )


def can(state: TableState, given: PersonActed) -> bool:
    """Return whether `verify` would pass."""
    try:
        verify(state, given)
    except RefusedError:
        return False
    return True


def _verify_up_to_date(state: TableState, given: PersonActed) -> None:
    """Verify that the person saw the present state of the table. For a program only the round is compared.

    Reporting an irregularity and pausing the table mean the same whatever has happened.
    """
    if not state.round.number - 1 <= given.round <= state.round.number:
        late = message("This was meant for another round. Read the screen and enter it again.")
        raise RefusedError("stale", _overtaken(state) if given.as_of else late)
    if given.as_of and state.turn.entry > given.as_of and not PERMISSIONS[type(given.operation)].off_duty:
        raise RefusedError("changed", _overtaken(state))


def _overtaken(state: TableState) -> Message:
    return sentences(_what_happened(state), message("Nothing was done. Read the screen and enter it again."))


def _what_happened(state: TableState) -> Message:
    """Return who did what, or what happened, since this person's screen was drawn."""
    turn = state.turn
    answer = next((one for one in state.answers if one.entry == turn.operation), None) if turn.operation else None
    if answer is None:
        return HAPPENED.get(turn.what) or message("The table has changed.")
    screen, name = state.screen(answer.screen), state.name_of(answer.person)
    who = message("{person} ({screen})", person=name, screen=screen.name) if screen is not None else name
    return replace(ASKED_FOR.get(turn.what) or DONE[answer.operation], args={"who": who})


def person_acted(decision: Decision, given: PersonActed) -> None:
    """Carry out the operation, or record why it is refused. A repeat of an answered operation changes nothing."""
    state = decision.state
    if given.operation_id in [answer.operation_id for answer in state.answers]:
        return
    try:
        _verify_up_to_date(state, given)
        verify(state, given)
        attempt = Decision(state)
        attempt.origin = attempt.emit(_taken(given))
        PERMISSIONS[type(given.operation)].act(attempt, given, given.operation)
    except RefusedError as refused:
        decision.emit(
            events.OperationRefused(
                given.operation_id, name_of(given.operation), given.person, refused.code, refused.message
            )
        )
    else:
        decision.adopt(attempt)


def _taken(given: PersonActed) -> events.OperationTaken:
    correctable = given.operation if isinstance(given.operation, Correctable) else None
    name = name_of(given.operation)
    return events.OperationTaken(
        given.operation_id,
        name,
        given.person,
        given.role,
        correctable,
        given.uid,
        given.proven,
        given.screen,
        given.witness_signed,
    )


def _why_service(state: TableState, act: Message) -> Message:
    cannot_yet, trouble = message("Cannot {act} yet.", act=act), device_trouble(state) or waiting(state)
    if state.service is Service.RECONCILING:
        if state.device.connected and state.in_round:
            compare = message("Compare the table with the screen, then confirm that the round continues.")
            return sentences(cannot_yet, compare)
        return sentences(cannot_yet, *trouble)
    if state.service is Service.OUT_OF_SERVICE:
        return sentences(message("Cannot {act}.", act=act), *trouble)
    return message("Cannot {act}: the table is in service already. Go on with the round.", act=act)


def _why_held(state: TableState, act: Message) -> Message:
    if state.duty.paused:
        paused = state.duty.paused
        return message("Cannot {act} while the table is paused ({paused}). Resume first.", act=act, paused=paused)
    blocking = next((found for found in in_order(state) if found.blocks), None)
    then = question(state, blocking) if blocking is not None else next_step(state)
    return sentences(message("Cannot {act} yet.", act=act), then)
