"""Reports of the device about decks, shuffles, the stub and stops, and its answers to commands.

`device_reported` takes every report; those about cards that leave the device go to dealing.py.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from msgspec.structs import replace

from controller.games.specification import Kind
from controller.table import dealing, events
from controller.table.admissions import BY_ID, admit, spoil_decks, take_back
from controller.table.dealing import is_about_waiting_deck, waiting_deck_is_known
from controller.table.decision import Decision
from controller.table.device_commands import STATUSES, named, order_exit_again
from controller.table.inference import check_clock, with_numbers
from controller.table.inputs import CommandAnswered, DeviceContradicted, DeviceReported, StatusReceived
from controller.table.irregularities.raising import DEVICE, already_open, raise_count_in_doubt, raise_irregularity
from controller.table.phases import CARDS_LEAVE, Phase
from controller.table.power_failures import device_started
from controller.table.state import TableState
from controller.table.stop_causes import COMMAND, DOOR, JAM, about, in_words, refusal_in_words
from firmware_bridge import observations
from firmware_bridge.capabilities import DeviceStatus
from firmware_bridge.cards import DECK_SIZE
from firmware_bridge.commands import HoldExit, ReleaseExit, Shuffle
from firmware_bridge.messages import AnyText, Message, counted, message
from firmware_bridge.observations import Observation

AFTER_START: Final = 2  # the number of a boot's first report after that of its start
Handler = Callable[[Decision, DeviceReported, Any], None]


def device_reported(decision: Decision, given: DeviceReported) -> None:
    """Record that the report was received, then decide by its kind.

    A report that is in the journal already is ignored: after a reconnect the device repeats those that were not
    acknowledged. A report from a device that is not fit for this table is ignored as well.
    """
    device = decision.state.device
    if not device.connected or (given.boot == device.boot and given.number <= device.last_report):
        return
    seen = with_numbers(decision.state, given.observation)
    decision.emit(events.ReportTaken(given.boot, given.number, given.uptime_ms, type(seen).__struct_config__.tag))  # type: ignore[arg-type]  # the tag of an observation is its name
    _HANDLERS[type(seen)](decision, given, seen)
    take_back(decision, seen)
    check_clock(decision, given)


def command_answered(decision: Decision, given: CommandAnswered) -> None:
    """Close the answered command. A refusal to move cards is a technical stop (I19)."""
    opened = next((one for one in decision.state.device.open_commands if one.id == given.command_id), None)
    if opened is None:
        return
    if given.done:
        decision.emit(events.CommandDone(given.command_id))
        if opened.command.moves_cards and not opened.seen:
            said = message(
                'command: the device answered that it had done "{order}", but did not report the effect',
                order=named(opened.command),
            )
            stop(decision, None, said)
        return
    decision.emit(events.CommandRefused(given.command_id, given.reason))
    if opened.command.moves_cards:
        stop(
            decision,
            None,
            message("command: the device refused a command ({reason})", reason=refusal_in_words(given.reason)),
        )
    elif isinstance(opened.command, HoldExit | ReleaseExit):
        said = message("command: the device refused to move its exit ({reason})", reason=refusal_in_words(given.reason))
        stop(decision, None, said)


def _deck_loaded(decision: Decision, given: DeviceReported, seen: observations.DeckLoaded) -> None:
    """Record a loaded deck; if another deck is unused or a round is in progress, it waits for the next round."""
    rest = _is_forgotten_rest(decision.state, given, seen)
    if is_about_waiting_deck(decision.state, seen.deck):
        decision.emit(events.DeckArrived(seen.deck, seen.count, seen.shuffle, waiting=True))
        if rest:
            decision.emit(events.DeckMadeUnusable(seen.deck, waiting=True))
        return
    if decision.state.in_round:
        _raise_doubt(decision, given, message("a deck was put into the device in the middle of a round"))
        return
    waiting = decision.state.decks.waiting
    if waiting is not None and not waiting.used:
        decision.emit(events.DeckComesIntoPlay(waiting.deck))
        decision.emit(events.DeckArrived(seen.deck, seen.count, seen.shuffle, waiting=True))
    else:
        decision.emit(events.DeckArrived(seen.deck, seen.count, seen.shuffle))
        if rest:
            decision.emit(events.DeckMadeUnusable(seen.deck))
    for cause in decision.state.device.stops:
        if about(cause) == COMMAND:
            decision.emit(events.DeviceFreed(cause))  # with a fresh deck the command may be tried again
    order_exit_again(decision)


def _is_forgotten_rest(state: TableState, given: DeviceReported, seen: observations.DeckLoaded) -> bool:
    """Return whether a restarted device reports, under another number, the rest of the deck that was dealt from.

    It reports that uncounted, right after its start (cardlink, "Reports"): nobody has put a full deck in.
    """
    waiting = state.decks.waiting
    dealt_from = state.decks.in_play.used and (waiting is None or waiting.used)
    return given.number == AFTER_START and not seen.count and dealt_from


def _is_known_waiting_deck(state: TableState, deck: int) -> bool:
    """Return whether a report is about a waiting deck that was reported as put in."""
    return is_about_waiting_deck(state, deck) and waiting_deck_is_known(state, deck)


def _shuffle_started(decision: Decision, given: DeviceReported, seen: observations.ShuffleStarted) -> None:
    waiting = _is_known_waiting_deck(decision.state, seen.deck)
    if decision.state.in_round and not waiting:
        _raise_doubt(decision, given, message("the device began to shuffle in the middle of a round"))
    else:
        decision.emit(events.ShuffleBegan(seen.deck, waiting))


def _shuffle_finished(decision: Decision, given: DeviceReported, seen: observations.ShuffleFinished) -> None:
    """Record a shuffle, and raise I02 or I01 for an incorrect deck; about a waiting deck they do not hold the round.

    An incomplete deck must not be dealt from.
    """
    waiting = _is_known_waiting_deck(decision.state, seen.deck)
    if decision.state.in_round and not waiting:
        _raise_doubt(decision, given, message("the device shuffled in the middle of a round"))
        return
    before = decision.state.decks.waiting if waiting else decision.state.decks.in_play
    put_in = before.loaded if before is not None and before.deck == seen.deck and not before.used else 0
    shuffled = events.DeckShuffled(seen.deck, seen.shuffle, seen.count, face_up=seen.face_up, waiting=waiting)
    decision.emit(shuffled)
    wrong = _wrong_with(seen, put_in)
    if wrong or seen.foreign or seen.unreadable:
        decision.emit(events.DeckMadeUnusable(seen.deck, waiting))  # this deck must not be dealt from
    if seen.unreadable and not decision.state.in_round:
        admit(decision, f"cards not read in the shuffle: {seen.unreadable}", given)
    # An error in another deck is not an error in the concluded round.
    of_next = waiting or (decision.state.phase is Phase.CONCLUDED and decision.state.other_deck_in)
    if wrong:
        note = message("the shuffle counted the deck: {wrong:list}", wrong=wrong)
        raise_irregularity(decision, Kind.DECK_COUNT, noticed_by=DEVICE, report=given, note=note, waiting=of_next)
    if seen.foreign:
        raise_irregularity(decision, Kind.FOREIGN_CARD, noticed_by=DEVICE, report=given, waiting=of_next)
    if not (wrong or seen.foreign or seen.unreadable) and decision.state.decks.count_due and not waiting:
        decision.emit(events.DeckCountedWhole(seen.deck, DEVICE))


def _wrong_with(seen: observations.ShuffleFinished, put_in: int) -> tuple[Message, ...]:
    """Return what is wrong with the number of cards. `put_in`: the count when the deck was put in; 0: not counted.

    Cards do not come or go in a shuffle: if 51 cards went in and 52 come out, one of the two counts was wrong.
    """
    wrong = [
        *([message("{count} missing", count=seen.missing)] if seen.missing else []),
        *([message("{count} extra", count=seen.extra)] if seen.extra else []),
        *([message("{count} duplicate", count=seen.duplicate)] if seen.duplicate else []),
    ]
    if not wrong and seen.count != DECK_SIZE:
        wrong = [counted("1 card counted", "{count} cards counted", seen.count)]
    if not wrong and put_in not in (0, seen.count):
        wrong = [message("{count} cards counted, {put_in} when the deck was put in", count=seen.count, put_in=put_in)]
    return tuple(wrong)


def _shuffle_aborted(decision: Decision, given: DeviceReported, seen: observations.ShuffleAborted) -> None:
    if _is_known_waiting_deck(decision.state, seen.deck):
        decision.emit(events.DeckMadeUnusable(seen.deck, waiting=True))
        return
    if decision.state.in_round:
        _raise_doubt(decision, given, message("the device aborted a shuffle in the middle of a round"))
        return
    decision.emit(events.DeckMadeUnusable(seen.deck))
    if decision.state.phase is not Phase.MAINTENANCE:
        decision.emit(events.DeviceStopped(message("command: the shuffle was aborted; load the deck again")))


def _stub_unloaded(decision: Decision, given: DeviceReported, seen: observations.StubUnloaded) -> None:
    """Compare the end count: stub and hands must add up to the deck (I02)."""
    state = decision.state
    if is_about_waiting_deck(state, seen.deck):
        if state.decks.waiting is not None and seen.deck == state.decks.waiting.deck:
            decision.emit(events.DeckMadeUnusable(seen.deck, waiting=True))  # it came out unused
        else:
            _note_stub_of_another(decision, given, seen)
        return
    if state.phase in CARDS_LEAVE or state.phase is Phase.BETTING:
        decision.emit(events.StubCounted(seen.count, state.stub_due, DEVICE, midway=True))
        if not state.decks.in_play.used:
            decision.emit(events.DeckMadeUnusable(state.decks.in_play.deck))  # no other round can begin from it
        _raise_doubt(decision, given, message("the device gave out the stub in the middle of the deal"))
        return
    if seen.deck != state.decks.in_play.deck:
        _note_stub_of_another(decision, given, seen)
        return
    due = state.stub_due
    decision.emit(events.StubCounted(seen.count, due, DEVICE))
    if not state.decks.in_play.used:
        decision.emit(events.DeckMadeUnusable(seen.deck))  # an unused deck came out
    if (
        not state.stub_fits(seen.count)
        and state.in_round
        and seen.deck == state.round.deck
        and not already_open(decision, Kind.DECK_COUNT)
    ):
        note = message("{count} cards were left; there should have been {due}", count=seen.count, due=due)
        raise_irregularity(decision, Kind.DECK_COUNT, noticed_by=DEVICE, report=given, note=note)


def _note_stub_of_another(decision: Decision, given: DeviceReported, seen: observations.StubUnloaded) -> None:
    """Note the stub of an unknown deck, which casts doubt on the count in a round (I04)."""
    state = decision.state
    detail = counted("deck {deck}, 1 card", "deck {deck}, {count} cards", seen.count, deck=seen.deck)
    decision.emit(events.DeviceNoted("stub_of_another_deck", detail))
    is_waiting = state.decks.waiting is not None and state.decks.waiting.deck == seen.deck
    if state.in_round and not is_waiting:
        note = message(
            "the device counted the stub of deck {counted}; this round is dealt from deck {dealt}",
            counted=seen.deck,
            dealt=state.decks.in_play.deck,
        )
        _raise_doubt(decision, given, note)


def _jammed(decision: Decision, given: DeviceReported, seen: observations.Jammed) -> None:
    cause = f"{JAM}: {seen.zone}"
    decision.emit(events.DeviceStopped(cause))
    stop(decision, given, cause)
    spoil_decks(decision)  # when the round is cleared, hands are with the cards


def _jam_cleared(decision: Decision, given: DeviceReported, seen: observations.JamCleared) -> None:
    decision.emit(events.DeviceFreed(f"{JAM}: {seen.zone}"))


def _door_moved(decision: Decision, given: DeviceReported, seen: observations.DoorMoved) -> None:
    if seen.open:
        decision.emit(events.DeviceStopped(DOOR))
        stop(decision, given, DOOR)
        spoil_decks(decision)
    else:
        decision.emit(events.DeviceFreed(DOOR))


def _tampered(decision: Decision, given: DeviceReported, seen: observations.Tampered) -> None:
    decision.emit(events.DeviceNoted("tampered", seen.where))
    admit(decision, f"tampering: {seen.where}", given)
    spoil_decks(decision)


def _self_tested(decision: Decision, given: DeviceReported, seen: observations.SelfTestFinished) -> None:
    _noted(decision, given, seen)
    if not seen.passed:
        admit(decision, f"self-test failed: {seen.detail}" if seen.detail else "self-test failed", given)


def _power_low(decision: Decision, given: DeviceReported, seen: observations.PowerLow) -> None:
    admit(decision, "power low", given)


def _check_failed(decision: Decision, given: DeviceReported, seen: observations.CheckFailed) -> None:
    known = f"{seen.what} check failed"
    admit(decision, known if known in BY_ID else f"check failed: {seen.what}", given)


def _reports_lost(decision: Decision, given: DeviceReported, seen: observations.ReportsLost) -> None:
    note = message(
        "the device's memory was full: its reports {first} to {last} are lost", first=seen.first, last=seen.last
    )
    _raise_doubt(decision, given, note)


def _not_understood(decision: Decision, given: DeviceReported, seen: observations.NotUnderstood) -> None:
    _raise_doubt(decision, given, message("the device sent a report that this version cannot read"))


def _gap_suspected(decision: Decision, given: DeviceReported, seen: observations.GapSuspected) -> None:
    _raise_doubt(decision, given, message("a report of the device may be lost: {why}", why=seen.why))


def _alarmed(decision: Decision, given: DeviceReported, seen: observations.Alarmed) -> None:
    stop(decision, given, message("alarm from the device: {alarm}", alarm=seen.alarm))


def _noted(decision: Decision, given: DeviceReported, seen: Observation) -> None:
    detail = ", ".join(f"{name}={getattr(seen, name)}" for name in seen.__struct_fields__)
    decision.emit(events.DeviceNoted(str(seen.__struct_config__.tag), detail))


def stop(decision: Decision, given: DeviceReported | None, cause: AnyText) -> None:
    """Record a technical stop: one irregularity in a round (I19); between rounds it lasts until it is cleared.

    Under maintenance only a jam or an open door stops the device, for as long as it lasts.
    """
    if decision.state.in_round:
        if not already_open(decision, Kind.TECHNICAL_STOP):
            note = in_words(cause)
            raise_irregularity(decision, Kind.TECHNICAL_STOP, noticed_by=DEVICE, report=given, note=note)
    elif not decision.state.device.stops and decision.state.phase is not Phase.MAINTENANCE:
        decision.emit(events.DeviceStopped(cause))


def _raise_doubt(decision: Decision, given: DeviceReported, note: Message) -> None:
    raise_count_in_doubt(decision, note, noticed_by=DEVICE, report=given)


_HANDLERS: Final[dict[type[Observation], Handler]] = {
    observations.Started: device_started,
    observations.DeckLoaded: _deck_loaded,
    observations.ShuffleStarted: _shuffle_started,
    observations.ShuffleFinished: _shuffle_finished,
    observations.ShuffleAborted: _shuffle_aborted,
    observations.SetDispensed: dealing.set_dispensed,
    observations.SetRemoved: dealing.set_removed,
    observations.CardDrawn: dealing.card_drawn,
    observations.CardsDrawnTogether: dealing.cards_drawn_together,
    observations.FaceUpFound: dealing.face_up_found,
    observations.StubUnloaded: _stub_unloaded,
    observations.Jammed: _jammed,
    observations.JamCleared: _jam_cleared,
    observations.DoorMoved: _door_moved,
    observations.SelfTestFinished: _self_tested,
    observations.CheckFailed: _check_failed,
    observations.PowerLow: _power_low,
    observations.Tampered: _tampered,
    observations.ButtonPressed: _noted,
    observations.ReportsLost: _reports_lost,
    observations.NotUnderstood: _not_understood,
    observations.GapSuspected: _gap_suspected,
    observations.Alarmed: _alarmed,
    observations.Noted: _noted,
}


CAN_LEAVE: Final = {False: message("open: cards can leave"), True: message("held: no card can leave")}
NOTED_AS: Final = {"forged_frames": "device-forged-frames"}


def watch_orders(decision: Decision, given: StatusReceived) -> None:
    """Check every status, except one sent while cards move: the effect of an order shows only later."""
    state = decision.state
    if given.moving or given.status.boot != state.device.running_boot:
        return
    if state.phase is Phase.MAINTENANCE or state.round.by_hand:
        return
    _look_for_answers(decision, given)
    _compare_exit(decision, given.status)


def _look_for_answers(decision: Decision, given: StatusReceived) -> None:
    for opened in decision.state.device.open_commands:
        if opened.id not in given.unanswered or opened.late:
            continue
        if given.status.moving and isinstance(opened.command, Shuffle):
            continue  # it may take any time
        decision.emit(events.CommandUnanswered(opened.id))
        order = named(opened.command)
        said = message('command: the device does not answer the order "{order}"', order=order)
        if _holds_exit(decision.state):
            said = message(
                'command: the device does not answer the order "{order}"; its status says that the exit is {state}',
                order=order,
                state=CAN_LEAVE[given.status.exit_held],
            )
        stop(decision, None, said)


def _compare_exit(decision: Decision, status: DeviceStatus) -> None:
    device = decision.state.device
    if not _holds_exit(decision.state) or device.exit_fails or device.exit_held in (None, status.exit_held):
        return
    if any(isinstance(opened.command, HoldExit | ReleaseExit) for opened in device.open_commands):
        return
    if device.exit_differs >= STATUSES or (status.exit_held and (status.faults or device.stops)):
        return  # it was reported already, or the device has stopped and people know why no card can leave
    times = device.exit_differs + 1
    again = not status.exit_held and not device.exit_repeated
    if times == STATUSES and not again and already_open(decision, Kind.TECHNICAL_STOP):
        return  # once that one is decided
    decision.emit(events.ExitDiffers(status.exit_held, times))
    if times < STATUSES:
        return
    if again:
        decision.emit(events.CommandIssued(HoldExit()))
        return
    said = message(
        'command: "{order}" was ordered, but the exit is {state}',
        order=named(ReleaseExit() if status.exit_held else HoldExit()),
        state=CAN_LEAVE[status.exit_held],
    )
    stop(decision, None, said)


def _holds_exit(state: TableState) -> bool:
    return state.device.capabilities is not None and state.device.capabilities.holds_exit


CONTRADICTIONS: Final[dict[str, Message]] = {
    "report": message("the device sent its report {number} again with different content: cards may have passed unseen"),
    "answer": message("the device gave two different answers to command {number}"),
    "unknown_answer": message("the device answered command {number}, which it was never sent"),
    "acknowledgement": message("the device sends reports again although it has confirmed their acknowledgement"),
    "heard": message("the device confirms data that was never sent to it"),
    "counts": message("the device's status contradicts itself: check its counts of cards and sets"),
    "clock": message("the device's clock went backwards"),
    "last_command": message("the device's status names a command that it cannot have carried out last"),
    "motion": message("the device reports that cards have been moving for a long time, but nothing was ordered"),
}
"""What each contradiction says, except about forged frames, which are counted."""


def device_contradicted(decision: Decision, given: DeviceContradicted) -> None:
    """Treat a repeated report with different content as a doubt (I04), and endless motion in a round as a stop (I19).

    All else is noted: only the first answer to a command counts, forged frames are ignored, and the count in a status
    is compared with the journal.
    """
    if not decision.state.device.connected:
        return
    if given.what == "motion" and (not decision.state.in_round or decision.state.decks.waiting is not None):
        return  # a device with a second compartment shuffles the next deck meanwhile
    note = _contradiction(given)
    decision.emit(events.DeviceNoted(NOTED_AS.get(given.what, "contradiction"), note))
    if given.what == "report":
        raise_count_in_doubt(decision, note)
    if given.what == "motion":
        stop(decision, None, message("command: the device reports that cards are moving, but nothing was ordered"))


def _contradiction(given: DeviceContradicted) -> Message:
    if given.what == "forged_frames":
        return counted(
            "1 frame did not come from the device: check the cable and what is connected to it",
            "{count} frames did not come from the device: check the cable and what is connected to it",
            given.number,
        )
    said = CONTRADICTIONS[given.what]
    return replace(said, args={"number": given.number}) if "{number}" in said.id else said
