"""A round is interrupted: what failed, and what may have happened meanwhile (RTP 5.13, NC 5.4).

A link that drops or a program that begins anew is neither a power failure by itself (reading 31). A device or a PC that
says that it had no power raises one: a claim, that a person confirms or denies. Nothing goes on by itself.
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
from controller.table.model import Stage
from controller.table.state import TableState
from firmware_bridge.capabilities import DeviceIdentity
from firmware_bridge.observations import Started

WITHOUT_POWER: Final = frozenset({"power", "brown_out"})  # causes of a device's start; reset and watchdog are none


def device_started(decision: Decision, given: DeviceReported, seen: Started) -> None:
    """The device tells why it began to run."""
    decision.emit(events.DeviceNoted("started", f"cause={seen.cause}"))
    if seen.cause in WITHOUT_POWER:
        _claim(decision, DEVICE, f"the device had no power ({seen.cause}) and started again", given)


def host_started(decision: Decision, before: TableState, given: DaemonStarted) -> None:
    """The daemon runs in another start of the PC than the one in which the round was: the PC had no power."""
    if before.host_boot and given.host_boot and before.host_boot != given.host_boot:
        _claim(decision, INFERENCE, "the PC was started again in mid-round", None)


def _claim(decision: Decision, noticed_by: str, note: str, report: DeviceReported | None) -> None:
    """Once an interruption, whoever lost power."""
    state = decision.state
    if state.in_round and not state.round.power_failure_raised and not already_open(decision, Kind.POWER_FAILURE):
        raise_irregularity(decision, Kind.POWER_FAILURE, noticed_by=noticed_by, report=report, note=note)


def re_evaluate_power_failure(decision: Decision) -> None:
    """A card that had left before the power failed was told of later: it may have established an outcome (I18)."""
    for found in decision.state.open:
        if found.kind is not Kind.POWER_FAILURE or found.stage is not Stage.CLAIMED:
            continue
        now = known_facts(decision)
        facts = replace(found.facts, established=now.established, cannot_tell=now.cannot_tell)
        row, asks = find_row(decision.state.law, found.kind, facts)
        if first_stage(row, asks) is Stage.CLAIMED and (row, asks) != (found.row, found.asks):
            decision.emit(events.FactStated(found.id, facts, row, asks))


def may_have_passed(state: TableState, identity: DeviceIdentity) -> bool:
    """Whether cards may have left a device that comes back in a round, without it being able to tell.

    One that does not wait for acknowledgements may have spoken to nobody; one that forgets its reports without power
    may have had some, when it started anew. Asked once for every time that it was away.
    """
    if not state.in_round:
        return False
    started_anew = state.device.running_boot not in (0, identity.boot)
    forgets = started_anew and not identity.capabilities.retains_reports
    return forgets or not identity.capabilities.acknowledges or state.round.cards_may_have_passed


def doubt_what_passed(decision: Decision) -> None:
    """A count is asked for (I04), unless the deck was counted whole already, or is dealt by hand."""
    state = decision.state
    counted = state.round.by_hand or state.decks.in_play.stub is not None
    if state.round.cards_may_have_passed and not counted:
        raise_count_in_doubt(decision, "the device was away and cannot tell what it did: cards may have passed unseen")
