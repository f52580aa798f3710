"""Handles a device that connects, disconnects or sends its status, and compares the status with the journal.

The link is restored automatically; a round is continued by a person. The device reports what it did meanwhile; after
the last report its status must agree with the journal. Then the dealer may continue; a difference is an irregularity
(I04).
"""

from __future__ import annotations

from typing import Final

from msgspec.structs import replace

from controller.games.specification import Kind
from controller.roles import Role
from controller.table import events, operations
from controller.table.admissions import REPAIR, admit, admitted, awaited
from controller.table.decision import Decision, RefusedError
from controller.table.device_reports import stop, watch_orders
from controller.table.exposing import resume_play
from controller.table.feature import ALWAYS, ANY_PHASE, RECONCILING, OperationRow, just
from controller.table.inference import device_counts
from controller.table.inputs import DeviceConnected, DeviceGone, PersonActed, ReportsMissing, StatusReceived
from controller.table.irregularities.raising import already_open, raise_count_in_doubt
from controller.table.model import HeldCard, Pile
from controller.table.phases import AFTER_DEAL, IN_ROUND, Service
from controller.table.power_failures import may_have_passed_cards, raise_unseen_cards
from controller.table.starting import choose_game
from controller.table.state import TableState
from controller.table.stop_causes import DOOR, JAM, about, named_causes
from firmware_bridge.capabilities import DeviceIdentity, DeviceStatus
from firmware_bridge.cards import DECK_SIZE
from firmware_bridge.messages import Message, message

OF_NEXT: Final = events.DISPENSED_OF_NEXT
WATCHING: Final = {
    "holds_exit": message("its exit lock"),
    "senses_tray": message("its tray sensor"),
    "senses_double_draw": message("its sensor for cards drawn together"),
    "senses_orientation": message("its sensor for cards that lie face up"),
    "recognises_cards": message("its card reader"),
}
"""Capabilities that a device must not lose in a round, in the words that people use for them."""


UNITS: Final = {
    "sets": message("sets"),
    "singles": message("single cards"),
    "both": message("sets and single cards"),
}
KINDS: Final = {"shuffler": message("shuffler"), "shoe": message("shoe")}
MOST_DIFFERENCES: Final = 16  # statuses recorded in a round; further ones are recorded when the doubt is decided
COMPARED: Final = {
    "shuffle": message("shuffle: journal {journal}, device {device}"),
    "dispensed": message("cards that left the device: journal {journal}, device {device}"),
    OF_NEXT: message("cards of the next deck that left the device: journal {journal}, device {device}"),
    "tray": message("tray: journal {journal}, device {device}"),
}
"""The compared quantities, in words with both values."""


def device_connected(decision: Decision, given: DeviceConnected) -> None:
    """Check an identified device. One that does not fit this table puts the table out of service."""
    lapse_commands(decision)
    if decision.state.settings_wait is not None and not decision.state.window_open:
        choose_game(decision, decision.state.settings_wait)
    unfit = _unfit(decision.state, given.identity)
    passed = may_have_passed_cards(decision.state, given.identity)
    less = _no_longer(decision.state, given.identity)
    _record_device_change(decision, given.identity)
    held, is_unfit = given.status.exit_held, unfit is not None
    decision.emit(events.DeviceReady(given.identity, held, passed, is_unfit, given.key, given.image))
    if unfit is not None:
        decision.emit(events.DeviceLost("device-unfit", unfit))
        decision.change_service("refuse", unfit)
        return
    decision.change_service("link_ready", message("the device is connected; its status is compared with the journal"))
    if less:
        note = message("the device reconnected without {lost}: cards may have passed unseen", lost=less)
        raise_count_in_doubt(decision, note)
    _take_over_faults(decision, given.status)
    _compare(decision, given.status, moving=given.status.moving)


def _record_device_change(decision: Decision, identity: DeviceIdentity) -> None:
    """Record a change of the device or of its firmware. The configuration can refuse both by naming the right ones."""
    known = decision.state.device
    if known.serial not in ("", identity.serial):
        decision.emit(events.DeviceDiffers("serial", known.serial, identity.serial))
        if causes := awaited(known):
            decision.emit(events.DeviceTookBack(causes))  # the device that reported it is gone; a person still looks
    elif known.firmware_digest not in ("", identity.firmware_digest):
        decision.emit(events.DeviceDiffers("firmware", known.firmware_digest, identity.firmware_digest))


def _no_longer(state: TableState, identity: DeviceIdentity) -> tuple[Message, ...]:
    """Return the sensors, and the exit lock, that the device had in this round but no longer has."""
    before = state.device.capabilities
    if before is None or not state.in_round:
        return ()
    after = identity.capabilities
    return tuple(said for name, said in WATCHING.items() if getattr(before, name) and not getattr(after, name))


def _unfit(state: TableState, identity: DeviceIdentity) -> Message | None:
    """Return why the device cannot serve this table, or None if it can. Between rounds the next
    round's settings apply.
    """
    if state.settings_wait is not None and not state.in_round:
        state = replace(state, settings=state.settings_wait)
    assert state.settings is not None
    if identity.simulated is not state.simulated:
        return message(
            "The device is simulated and the table is real: connect the real device, or correct `simulated` in the "
            "configuration."
            if identity.simulated
            else "The device is real and the table is simulated: connect a simulated device, or correct `simulated` in "
            "the configuration."
        )
    grammar = state.grammar
    if identity.unit not in (grammar.unit, "both") or grammar.device not in ("", identity.kind):
        return message(
            "The device is a {kind} that yields {yields}, and the table deals {dealt} ({clause}): connect the right "
            "device, or correct `unit` in the configuration.",
            kind=KINDS[identity.kind],
            yields=UNITS[identity.unit],
            dealt=UNITS[grammar.unit],
            clause=grammar.clause,
        )
    if state.game.first_card is not None and identity.unit == "sets" and not identity.capabilities.yields_one_card:
        return message(
            "{game} begins with one card ({clause}), and this device cannot yield one: connect a device that can.",
            game=state.game.title,
            clause=state.game.first_card.clause,
        )
    if state.settings is not None and not state.settings.can_burn_with(identity.capabilities):
        return message(
            "The table burns {burn} before the deal, and this device cannot form such a small set: connect a device "
            "that can, or correct `burn` in the configuration.",
            burn=state.settings.burn,
        )
    if identity.deck_size != DECK_SIZE:
        return message(
            "The device is made for {size} cards and the game for {due}: connect the right device.",
            size=identity.deck_size,
            due=DECK_SIZE,
        )
    if state.in_round and state.device.serial not in ("", identity.serial):
        return message(
            "Device {before} was dealing this round and {now} is connected: connect {before} again; another device may "
            "take over between rounds.",
            before=state.device.serial,
            now=identity.serial,
        )
    return None


def _take_over_faults(decision: Decision, status: DeviceStatus) -> None:
    """Take jams and an open door from the status at a link's beginning; a device without a status clears none.

    After the deal a jam affects only the stub: it is raised once in a round, however often the device reconnects.
    """
    ends = () if not device_counts(decision.state) else decision.state.device.stops
    for cause in ends:
        if cause not in status.faults and cause not in admitted(decision.state.device):
            decision.emit(events.DeviceFreed(cause))
    for fault in status.faults:
        if fault in decision.state.device.stops or not _is_mechanical(fault):
            continue
        decision.emit(events.DeviceStopped(fault))
        if not (_concerns_stub(decision.state, fault) and decision.state.round.stub_stop_raised):
            stop(decision, None, fault)
    _admit_faults(decision, status)


def _is_mechanical(fault: str) -> bool:
    """Return whether this is a jam or an open door, which people clear and the device then reports as cleared."""
    return fault == DOOR or fault.partition(":")[0] == JAM


def _admit_faults(decision: Decision, status: DeviceStatus) -> None:
    """Treat faults that no report has named as reported: they last until a person inspects the device.

    After that, a fault that comes and goes with every status changes nothing more.
    """
    for fault in status.faults:
        device = decision.state.device
        if fault not in device.stops and f"fault: {fault}" not in device.stops:
            admit(decision, f"fault: {fault}", None)


def _concerns_stub(state: TableState, fault: str) -> bool:
    return state.phase in AFTER_DEAL and about(fault) == JAM


def device_gone(decision: Decision, given: DeviceGone) -> None:
    decision.emit(events.DeviceLost(given.code, given.sentence))
    lapse_commands(decision)
    decision.change_service("refuse" if given.refused else "link_lost", given.sentence)


def lapse_commands(decision: Decision) -> None:
    """Let commands that move no cards lapse with their link. The next status shows what happened to the others."""
    for opened in decision.state.device.open_commands:
        if not opened.command.moves_cards:
            decision.emit(events.CommandLapsed(opened.id))


def status_received(decision: Decision, given: StatusReceived) -> None:
    state = decision.state
    if state.device.connected and state.service is not Service.OUT_OF_SERVICE:
        if _same_moment(decision, given.status):
            _admit_faults(decision, given.status)
        watch_orders(decision, given)
        _compare(decision, given.status, moving=given.moving)


def reports_missing(decision: Decision, given: ReportsMissing) -> None:
    """Record lost reports: cards may have passed unseen (I04). The next report expected is the one after them."""
    device = decision.state.device
    taken = device.last_report if device.boot == given.boot else 0
    if given.withheld:
        note = message(
            "report {first} of the device does not arrive: cards may have passed unseen",
            first=given.first,
        )
    elif given.last is None:
        note = message(
            "the device no longer has its reports from {first} onwards: cards may have passed unseen", first=given.first
        )
    else:
        note = message(
            "the device no longer has its reports {first} to {last}: cards may have passed unseen",
            first=given.first,
            last=given.last,
        )
    if given.last is None:  # all reports of later starts will follow: none of them counts as received
        decision.emit(events.ReportsPassed(device.boot, device.last_report, note, given.newest))
    else:
        decision.emit(events.ReportsPassed(given.boot, max(given.last, taken), note))
    raise_count_in_doubt(decision, note)


def _compare(decision: Decision, status: DeviceStatus, *, moving: bool) -> None:
    """Compare status and journal once both include the same reports and no card is moving."""
    state = decision.state
    if moving or not _same_moment(decision, status):
        return
    reconciling = state.service is Service.RECONCILING
    if reconciling:
        _close_earlier_command(decision, status)
    elif state.device.open_commands:
        return
    differences = [] if state.round.by_hand else _differences(state, status)  # cards of its stub were dealt without it
    of_next = _is_of_waiting_deck(state, status)
    if differences and _has_differed_enough(decision):
        return
    for what, ours, theirs in differences:
        tray = _unseen_in_tray(state, status) if what == "tray" and theirs else ()
        decision.emit(events.StatusDiffers(what, ours, theirs, tray))
    if differences:
        listed = tuple(
            replace(COMPARED[what], args={"journal": ours, "device": theirs}) for what, ours, theirs in differences
        )
        note = message("the device's count differs from the journal ({differences:clauses})", differences=listed)
        raise_count_in_doubt(decision, note)
        _take_out_of_use(decision)
    raise_unseen_cards(decision)
    stub_is_out = of_next and not state.decks.in_play.stub_out
    if not differences and (stub_is_out or not state.device.status_agrees):
        decision.emit(events.StatusAgrees(stub_is_out))
    if reconciling and not state.in_round:
        decision.change_service("confirm", message("the device is ready"))


def _has_differed_enough(decision: Decision) -> bool:
    """Return whether people have to decide first: a count that changes with every status must not fill the journal."""
    state = decision.state
    reported = already_open(decision, Kind.COUNT_IN_DOUBT) if state.in_round else state.decks.in_play.used
    return reported and state.device.status_agrees and state.round.differences >= MOST_DIFFERENCES


def _take_out_of_use(decision: Decision) -> None:
    """Make unusable an unused deck whose count keeps changing, or from which cards left between rounds."""
    deck = decision.state.decks.in_play
    doubtful = deck.dispensed or decision.state.round.differences >= MOST_DIFFERENCES
    if not decision.state.in_round and deck.deck and doubtful and not deck.used:
        decision.emit(events.DeckMadeUnusable(deck.deck))


def _same_moment(decision: Decision, status: DeviceStatus) -> bool:
    """Return whether status and journal include the same reports.

    If reports are withheld, they never do. Once people have decided about that, a status at the last withheld report is
    compared; otherwise cards that leave later would pass unseen.
    """
    device = decision.state.device
    if status.boot != device.running_boot:
        return False
    taken = device.last_report if device.boot == status.boot else 0
    withheld = device.newest_withheld > taken and not already_open(decision, Kind.COUNT_IN_DOUBT)
    return status.last_report == (device.newest_withheld if withheld else taken)


def _close_earlier_command(decision: Decision, status: DeviceStatus) -> None:
    """Close the command of an earlier link: it was carried out, or it was not begun and lapses."""
    opened = decision.state.device.moving
    if opened is not None:
        done = status.last_command == opened.id
        decision.emit(events.CommandDone(opened.id) if done else events.CommandLapsed(opened.id))


def _differences(state: TableState, status: DeviceStatus) -> list[tuple[str, int, int]]:
    if not device_counts(state):
        return []  # it does not have a status to compare
    capabilities, waiting = state.device.capabilities, state.decks.waiting
    compared = [
        ("shuffle", state.decks.in_play.shuffle, status.shuffle),
        ("dispensed", state.decks.in_play.dispensed, status.dispensed),
    ]
    if waiting is not None and _is_of_waiting_deck(state, status):
        compared = [(OF_NEXT, waiting.dispensed, status.dispensed)]
    if capabilities is not None and capabilities.senses_tray and not _strays_may_lie_in_tray(state):
        compared.append(("tray", int(bool(state.decks.tray)), int(status.tray_occupied)))
    return [(what, ours, theirs) for what, ours, theirs in compared if ours != theirs]


def _is_of_waiting_deck(state: TableState, status: DeviceStatus) -> bool:
    """Return whether the status is about the waiting deck, which is then in the device instead of the one in play.

    Until it is shuffled its shuffle may be 0. It has none of the 52 cards of the round, so nothing is compared with the
    deck in play.
    """
    waiting = state.decks.waiting
    if waiting is None or status.shuffle == state.decks.in_play.shuffle:
        return False
    return status.shuffle == waiting.shuffle or (not waiting.shuffled and not status.shuffle)


def _strays_may_lie_in_tray(state: TableState) -> bool:
    """Return whether a set of another deck may be in the tray; the journal does not record its removal."""
    return not state.decks.tray and bool(state.round.piles.get(Pile.STRAYS))


def _unseen_in_tray(state: TableState, status: DeviceStatus) -> tuple[HeldCard, ...]:
    """Return the cards that must be in the tray: the last ones dispensed, as many as the journal lacks.

    If the status is about a waiting deck from which nothing left: the next cards of the deck in play.
    """
    if _is_of_waiting_deck(state, status):
        deck = state.decks.in_play
        places = range(1, state.grammar.cards_each + 1)
        return tuple(HeldCard(deck.shuffle, deck.dispensed + place, None) for place in places)
    missed = status.dispensed - state.decks.in_play.dispensed
    count = missed if 0 < missed < state.grammar.cards_each else state.grammar.cards_each
    return tuple(HeldCard(status.shuffle, status.dispensed - count + place, None) for place in range(1, count + 1))


def verify_continue(state: TableState, given: PersonActed, operation: operations.ContinueRound) -> None:
    if not state.device.connected:
        raise RefusedError("no-device", "The device is not connected; check its power and its cable.")
    if not state.device.status_agrees:
        raise RefusedError("comparing", "The device is still being compared with the screen; wait a moment.")


def continue_round(decision: Decision, given: PersonActed, operation: operations.ContinueRound) -> None:
    decision.change_service("confirm", message("{person} continues the round", person=given.person))
    resume_play(decision)


def verify_return(state: TableState, given: PersonActed, operation: operations.ReturnToService) -> None:
    """Refuse while a fault persists that the device has to withdraw first, if only that prevents the return."""
    waits = awaited(state.device)
    if state.service is Service.IN_SERVICE and waits and waits == state.device.stops:
        raise RefusedError(
            "unwell",
            "The device still reports a fault ({causes}); {repair}.",
            causes=named_causes(waits),
            repair=REPAIR,
        )


def return_to_service(decision: Decision, given: PersonActed, operation: operations.ReturnToService) -> None:
    """Reconnect and compare the device after a supervisor entered that the cause is fixed."""
    waits = awaited(decision.state.device)
    for cause in decision.state.device.stops:
        if cause not in waits:
            decision.emit(events.DeviceFreed(cause))
    sentence = message("{person} returns the table to service: it waits for the device", person=given.person)
    decision.emit(events.DeviceLost("returned-to-service", sentence))
    decision.change_service("link_lost", sentence)


# -- permissions and offers


# fmt: off
FEATURE: Final[tuple[OperationRow, ...]] = (
    OperationRow(
        operations.ContinueRound, message("continue the round"), message("{who} continued the round."),
        verify_continue, continue_round, IN_ROUND, RECONCILING, offers=just(operations.ContinueRound()),
        where=lambda state: state.service is Service.RECONCILING),
    OperationRow(
        operations.ReturnToService, message("return the table to service"),
        message("{who} returned the table to service."), verify_return, return_to_service, ANY_PHASE, ALWAYS,
        Role.PIT_SUPERVISOR, offers=just(operations.ReturnToService()),
        where=lambda state: state.service is not Service.IN_SERVICE or bool(state.device.stops)),
)
# fmt: on
"""The permissions and offers of this feature."""
