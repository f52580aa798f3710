"""Interruptions of a round: power failures, and cards that may have left the device unseen (RTP 5.13, NC 5.4).

A lost link or a restart of the daemon alone is not a power failure (reading 31). It is raised when a device reports one
or the PC was restarted; a person confirms or denies it. Play continues only when a person enters that.
"""

from __future__ import annotations

from typing import Final

from msgspec.structs import replace

from controller.games.specification import Kind
from controller.rules.law import find_row
from controller.table import events
from controller.table.decision import Decision
from controller.table.inputs import DaemonStarted, DeviceReported
from controller.table.irregularities.raising import (
    DEVICE,
    INFERENCE,
    already_open,
    first_stage,
    known_facts,
    raise_count_in_doubt,
    raise_irregularity,
)
from controller.table.model import NOT_SO, Irregularity, Stage
from controller.table.operations import ExposeHand
from controller.table.state import TableState
from firmware_bridge.capabilities import DeviceIdentity
from firmware_bridge.messages import Message, message
from firmware_bridge.observations import Started

INTERRUPTIONS: Final = frozenset({Kind.POWER_FAILURE, Kind.TECHNICAL_STOP})
CAUSES: Final = {"power": message("power failure"), "brown_out": message("voltage drop")}
"""Start causes of a device that imply a power loss; a reset and the watchdog do not."""


def device_started(decision: Decision, given: DeviceReported, seen: Started) -> None:
    """Record that the device started, and raise a power failure if the reported cause implies a power failure."""
    decision.emit(events.DeviceNoted("started", f"cause={seen.cause}"))
    if seen.cause in CAUSES:
        note = message("the device lost power ({cause}) and started again", cause=CAUSES[seen.cause])
        _raise_power_failure(decision, DEVICE, note, given)


def host_started(decision: Decision, before: TableState, given: DaemonStarted) -> None:
    """Raise a power failure if the PC was restarted since the round began."""
    if before.host_boot and given.host_boot and before.host_boot != given.host_boot:
        _raise_power_failure(decision, INFERENCE, message("the PC was restarted during the round"), None)


def _raise_power_failure(decision: Decision, noticed_by: str, note: Message, report: DeviceReported | None) -> None:
    """Raise a power failure of the device or the PC, once in an interruption; again if the earlier one was denied.

    It is not raised once the chips are paid: the round of play is then over by definition (TP 1.1.4, RTP 1.1.3, NC
    1.14, P3 1.1.5).
    """
    state = decision.state
    plays = state.in_round and not state.round.chips_paid
    claims = [one.outcome for one in state.round.closed if one.found.kind is Kind.POWER_FAILURE]
    stands = state.round.power_failure_raised and not (claims and claims[-1] in NOT_SO)
    if plays and not stands and not already_open(decision, Kind.POWER_FAILURE):
        raise_irregularity(decision, Kind.POWER_FAILURE, noticed_by=noticed_by, report=report, note=note)


def re_evaluate_interruption(decision: Decision) -> None:
    """Judge again whether an outcome is established while an interruption waits for a decision (I17 to I19).

    A card that left before the interruption may be reported after it, an exposed card may be named, or a bet returned.
    What people answered applies as long as the table does not know.
    """
    number = decision.state.round.number
    for found in decision.state.open:
        if found.kind not in INTERRUPTIONS or found.stage is not Stage.CLAIMED or found.round != number:
            continue
        now = known_facts(as_it_was(decision.state, found))
        answered = found.facts.established if found.first_facts.established is None else None
        known = answered if now.established is None else now.established
        facts = replace(found.facts, established=known, cannot_tell=now.cannot_tell)
        row, asks = find_row(decision.state.law, found.kind, facts)
        if first_stage(row, asks) is Stage.CLAIMED and (row, asks) != (found.row, found.asks):
            decision.emit(events.FactStated(found.id, facts, row, asks))


def as_it_was(state: TableState, found: Irregularity, decided: int | None = None, corrected: int = 0) -> TableState:
    """Return the state as far as it matters to an irregularity of the round. `decided`: the deciding entry; None: none
    yet.

    Hands turned over after it was raised, and what was named, exposed or returned after it was decided, established
    nothing. `corrected`: the entry that replaces an earlier one.
    """
    hands = dict(state.round.hands)
    for entered in state.round.entered:
        said = entered.operation
        if isinstance(said, ExposeHand) and entered.entry > found.id and entered.entry != corrected:
            hands[said.place] = replace(hands[said.place], shown=())
    if decided is None:
        return replace(state, round=replace(state.round, hands=hands))
    played_then = {f"B{box}" for box, _, since in state.round.removed if since > found.id}
    for place, hand in hands.items():
        named = () if hand.named_at > decided else hand.named
        hands[place] = replace(hand, named=named, dead=hand.dead and place not in played_then)
    then = replace(
        state.round,
        hands=hands,
        closed=tuple(one for one in state.round.closed if one.found.id <= decided),
        removed=tuple(one for one in state.round.removed if one[2] < found.id),
        withdrawn=tuple(one for one in state.round.withdrawn if one[3] < found.id),
        bet_rulings=tuple(one for one in state.round.bet_rulings if one[2] < found.id),
    )
    return replace(state, open=tuple(one for one in state.open if one.id <= decided), round=then)


def may_have_passed_cards(state: TableState, identity: DeviceIdentity) -> bool:
    """Return whether cards may have left, unreported, a device that comes back in a round.

    That is possible if the device does not wait for acknowledgements, or if it loses its reports without power and was
    restarted.
    """
    if not state.in_round:
        return False
    restarted = state.device.running_boot not in (0, identity.boot)
    forgets = restarted and not identity.capabilities.retains_reports
    return forgets or not identity.capabilities.acknowledges or state.round.cards_may_have_passed


def raise_unseen_cards(decision: Decision) -> None:
    """Raise I04 because cards may have passed, unless the stub was counted or the round is dealt by hand."""
    state = decision.state
    counted = state.round.by_hand or state.decks.in_play.stub is not None
    if state.round.cards_may_have_passed and not counted:
        note = message("the device was disconnected and has no reports from that time: cards may have passed unseen")
        raise_count_in_doubt(decision, note)
