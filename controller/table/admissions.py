"""Faults that a device reports about itself. No round begins until they are over and a person confirms it.

Each admission is a row of data: what the device reports, what follows in a round, and which report says that the fault
is over. The cause of the stop begins with the row's id, and remains until a person of the required rank returns the
table to service. If the row names reports by which the device withdraws the fault, one of them has to arrive first.

If a row names no such report, the device shows afterwards whether the fault is over: when it reconnects, its first
status names the faults that remain; when a deck is put in again, the shuffle counts the cards that were not read.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from controller.games.specification import Kind
from controller.table import events
from controller.table.decision import Decision, RefusedError
from controller.table.inputs import DeviceReported
from controller.table.irregularities.raising import DEVICE, already_open, raise_count_in_doubt, raise_irregularity
from controller.table.model import Device
from controller.table.phases import BETWEEN_ROUNDS, Phase
from controller.table.state import TableState
from controller.table.stop_causes import about, in_words
from firmware_bridge import observations
from firmware_bridge.messages import AnyText, Message, message
from firmware_bridge.observations import Observation

MOST: Final = 8
"""The most causes recorded for one row, so that a device that keeps changing its wording cannot fill the journal."""


class Admission(NamedTuple):
    """A row of the table. `id`: the beginning of the cause, which is in journals and never changes.

    `in_round`: the irregularity to raise in a round; None: it only stops the table between rounds. `well`: reports by
    which the device withdraws the fault; a self-test among them has to be passed. `tested`: the fault also persists
    when it is reported under maintenance, where people move doors and seals.
    """

    id: str
    in_round: Kind | None
    why: str
    well: tuple[type[Observation], ...] = ()
    tested: bool = True


REPAIR: Final = message("have it repaired, then run its self-test under maintenance")
REPAIR_AND_RETURN: Final = message(
    "have it repaired, run its self-test under maintenance, then call the pit supervisor to return the table to service"
)
LOOK_AND_RETURN: Final = message("call the pit supervisor to inspect it and return the table to service")
SELF_TEST: Final = (observations.SelfTestFinished,)
ADMISSIONS: Final = (
    Admission(
        "self-test failed",
        Kind.TECHNICAL_STOP,
        "its card reports may be wrong from now on",
        SELF_TEST,
    ),
    Admission(
        "power low",
        Kind.TECHNICAL_STOP,
        "the power may fail in the middle of a deal",
        (*SELF_TEST, observations.Started),
    ),
    Admission(
        "memory check failed",
        Kind.COUNT_IN_DOUBT,
        "its counts and the order of its cards may be wrong",
        SELF_TEST,
    ),
    Admission(
        "program check failed",
        Kind.TECHNICAL_STOP,
        "it may not be running the approved program",
        SELF_TEST,
    ),
    Admission(
        "check failed",
        Kind.TECHNICAL_STOP,
        "a self-check that this program does not know has failed",
        SELF_TEST,
    ),
    Admission(
        "cards not read in the shuffle",
        None,
        "a card that was not read may be foreign or a duplicate",
    ),
    Admission(
        "fault",
        Kind.TECHNICAL_STOP,
        "its status names a fault, known to this program or not",
    ),
    Admission(
        "tampering",
        Kind.TECHNICAL_STOP,
        "someone was at the device, and it cannot report that this is over",
        tested=False,
    ),
)
BY_ID: Final = {row.id: row for row in ADMISSIONS}


def row_of(cause: AnyText) -> Admission | None:
    """Return the row of a stop cause, or None if the device did not report the fault itself."""
    return BY_ID.get(about(cause))


def admitted(device: Device) -> tuple[AnyText, ...]:
    """Return the causes of the device's stop that a person has to end."""
    return tuple(cause for cause in device.stops if row_of(cause) is not None)


def awaited(device: Device) -> tuple[AnyText, ...]:
    """Return those of them that the device has to withdraw first."""
    return tuple(
        cause for cause in device.stops if (row := row_of(cause)) is not None and row.well and cause not in device.well
    )


def admit(decision: Decision, cause: str, given: DeviceReported | None) -> None:
    """Stop the device, which reported a fault of its own; in a round also raise an irregularity, once."""
    row = BY_ID[about(cause)]
    state = decision.state
    if state.phase is Phase.MAINTENANCE and not row.tested:
        return
    alike = [known for known in state.device.stops if row_of(known) is row]
    if (cause not in alike and len(alike) < MOST) or cause in state.device.well:
        decision.emit(events.DeviceStopped(cause))
    if not state.in_round or row.in_round is None:
        return
    if row.in_round is Kind.COUNT_IN_DOUBT:
        raise_count_in_doubt(decision, in_words(cause), noticed_by=DEVICE, report=given)
    elif not already_open(decision, row.in_round):
        raise_irregularity(decision, row.in_round, noticed_by=DEVICE, report=given, note=in_words(cause))


def take_back(decision: Decision, seen: Observation) -> None:
    """Record that the device reports the end of a fault; a person still has to return the table to service."""
    if isinstance(seen, observations.SelfTestFinished) and not seen.passed:
        return
    causes = tuple(cause for cause in awaited(decision.state.device) if type(seen) in BY_ID[about(cause)].well)
    if causes:
        decision.emit(events.DeviceTookBack(causes))


def remedy(device: Device) -> Message | None:
    """Return how people end a stop that the device reported, or None if it reported none."""
    if awaited(device):
        return REPAIR_AND_RETURN
    return LOOK_AND_RETURN if admitted(device) else None


def verify_well(state: TableState) -> None:
    """Raise `RefusedError` while a fault reported by the device persists, or until someone has inspected the device."""
    if (how := remedy(state.device)) is not None and state.device.stopped is not None:
        raise RefusedError("stopped", "The device has stopped ({causes}); {how}.", causes=state.device.stopped, how=how)


def spoil_decks(decision: Decision) -> None:
    """Require every deck not yet dealt from to be shuffled and counted again: someone may have reached the cards.

    After a door was opened or a jam cleared, nobody knows whether a card was moved, added or taken: no sensor saw it. A
    shuffler counts while it shuffles, so a deck that it has not shuffled yet is checked anyway; a shoe's deck is
    counted by people. For the deck of a round in progress the clauses decide; no other round begins with it.
    """
    state = decision.state
    if state.phase is Phase.MAINTENANCE:
        return  # after the round every deck is counted and shuffled again
    decks, shuffles = state.decks, state.device.kind == "shuffler"
    for deck, waiting in ((decks.in_play, False), (decks.waiting, True)):
        if deck is None or not deck.deck or deck.used or (shuffles and not deck.shuffled):
            continue
        if waiting or state.phase in BETWEEN_ROUNDS or state.phase is Phase.BETTING:
            count_due = not shuffles and not state.in_round
            decision.emit(events.DeckMadeUnusable(deck.deck, waiting, count_due))
