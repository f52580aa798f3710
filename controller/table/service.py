"""Operations outside the course of a round: open, close, pause, return to service, go on duty, maintain the device.

Once a dealer is on duty, no other dealer deals (`perform.verify`) until the table is taken over; people of a higher
rank may act for the dealer (RTP 6.2, NC 1.10), and every operation names the person who did it.

Under maintenance people test, clean or repair the device between rounds, and instruct it. No round is affected: nothing
becomes an irregularity (irregularities/raising.py), cards that leave the device are set aside (dealing.py), and the
table itself issues no commands (device_commands.py). Before the next round the deck is loaded, shuffled and counted
again (house procedure).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, NamedTuple

from controller.rules.law import not_chosen
from controller.table import events, operations, screens
from controller.table.admissions import REPAIR, awaited, verify_well
from controller.table.decision import Decision, RefusedError
from controller.table.device_commands import named
from controller.table.inputs import PersonActed
from controller.table.model import Device, Irregularity
from controller.table.operations import Instruction
from controller.table.phases import Phase, Service
from controller.table.rounds import resume_play, verify_chips_moved
from controller.table.state import TableState
from controller.table.stop_causes import COMMAND, about, named_causes
from firmware_bridge.capabilities import Capabilities
from firmware_bridge.commands import AnyCommand, Dispense, HoldExit, ReleaseExit, RunSelfTest, Shuffle, UnloadStub
from firmware_bridge.messages import Message, message

MOST_IN_A_SET: Final = 5


class Instructed(NamedTuple):
    """The command of an instruction, and how to tell whether a device can carry it out."""

    command: Callable[[int], AnyCommand]
    possible: Callable[[Device, Capabilities], bool]


INSTRUCTIONS: Final[dict[Instruction, Instructed]] = {
    Instruction.DISPENSE: Instructed(Dispense, lambda device, can: can.dispenses == "on_command"),
    Instruction.SHUFFLE: Instructed(lambda cards: Shuffle(), lambda device, can: device.kind == "shuffler"),
    Instruction.UNLOAD_STUB: Instructed(lambda cards: UnloadStub(), lambda device, can: can.unloads_stub),
    Instruction.RUN_SELF_TEST: Instructed(lambda cards: RunSelfTest(), lambda device, can: True),
    Instruction.HOLD_EXIT: Instructed(lambda cards: HoldExit(), lambda device, can: can.holds_exit),
    Instruction.RELEASE_EXIT: Instructed(lambda cards: ReleaseExit(), lambda device, can: can.holds_exit),
}


def verify_nothing(state: TableState, given: PersonActed, operation: operations.Operation) -> None:
    """Verify nothing: the operation depends only on phase, service and hold."""


# -- open, closed, paused, in service


def verify_open_table(state: TableState, given: PersonActed, operation: operations.OpenTable) -> None:
    """Verify that the casino has chosen every reading without a default, except at a simulated table."""
    if state.law.unchosen and not state.simulated:
        raise RefusedError(
            "reading", "{not_chosen}; the configuration has to name one.", not_chosen=not_chosen(state.law.unchosen[0])
        )
    verify_well(state)


def open_table(decision: Decision, given: PersonActed, operation: operations.OpenTable) -> None:
    decision.enter_phase("open")


def verify_close_table(state: TableState, given: PersonActed, operation: operations.CloseTable) -> None:
    verify_chips_moved(state)


def close_table(decision: Decision, given: PersonActed, operation: operations.CloseTable) -> None:
    decision.enter_phase("close")


def verify_pause(state: TableState, given: PersonActed, operation: operations.PauseTable) -> None:
    """Accept a pause, since play must stop immediately; a later entry can replace the reason."""
    if operation.reason == state.duty.paused != "":
        raise RefusedError(
            "paused",
            "The table is paused already ({paused}); resume it when play can continue.",
            paused=state.duty.paused,
        )
    if not operation.reason.strip():
        raise RefusedError("reason", "Enter why the table is paused.")


def pause_table(decision: Decision, given: PersonActed, operation: operations.PauseTable) -> None:
    decision.emit(events.TablePaused(operation.reason))


def verify_resume(state: TableState, given: PersonActed, operation: operations.ResumeTable) -> None:
    if not state.duty.paused:
        raise RefusedError("not-paused", "The table is not paused; continue.")


def resume_table(decision: Decision, given: PersonActed, operation: operations.ResumeTable) -> None:
    decision.emit(events.TableResumed())
    resume_play(decision)


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


# -- who deals


def verify_dealer_on(state: TableState, given: PersonActed, operation: operations.DealerOn) -> None:
    _verify_nothing_open(state)
    _verify_another(state, given)
    if state.duty.dealer:
        raise RefusedError("on-duty", "{dealer} is on duty; take the table over instead.", dealer=state.duty.dealer)


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
        raise RefusedError("on-duty", "{person} is on duty already; there is nothing to enter.", person=given.person)


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


# -- maintenance


def verify_begin_maintenance(state: TableState, given: PersonActed, operation: operations.BeginMaintenance) -> None:
    if not operation.reason.strip():
        raise RefusedError("reason", "Enter why the table needs maintenance.")
    if state.open:
        raise RefusedError("open", "An irregularity is open; decide it first.")
    verify_chips_moved(state)
    _verify_device_is_still(state)


def begin_maintenance(decision: Decision, given: PersonActed, operation: operations.BeginMaintenance) -> None:
    """Free the device from commands that it refused or broke off, which may be tried again."""
    for cause in decision.state.device.stops:
        if about(cause) == COMMAND:
            decision.emit(events.DeviceFreed(cause))
    phase = decision.state.phase
    decision.emit(events.MaintenanceBegan(operation.reason, phase is Phase.CLOSED, phase is Phase.CONCLUDED))
    decision.enter_phase("begin_maintenance")


def verify_end_maintenance(state: TableState, given: PersonActed, operation: operations.EndMaintenance) -> None:
    _verify_device_is_still(state)


def end_maintenance(decision: Decision, given: PersonActed, operation: operations.EndMaintenance) -> None:
    decision.enter_phase("end_maintenance")
    decision.emit(events.MaintenanceEnded())
    waiting = decision.state.decks.waiting
    if waiting is not None and not waiting.used:  # it was in the device during the maintenance
        decision.emit(events.DeckMadeUnusable(waiting.deck, waiting=True))


def _verify_device_is_still(state: TableState) -> None:
    """Verify that no command is open: one of play must not be carried out under maintenance, nor the reverse."""
    if state.device.connected and state.device.moving is not None:
        raise RefusedError("moving", "The device is moving cards; wait until it has answered.")


def verify_instruct(state: TableState, given: PersonActed, operation: operations.InstructDevice) -> None:
    device = state.device
    instructed = INSTRUCTIONS[operation.instruction]
    if not device.connected or device.capabilities is None:
        raise RefusedError("no-device", "The device is not connected; check its power and its cable.")
    if not instructed.possible(device, device.capabilities):
        act = named(instructed.command(operation.cards))
        raise RefusedError("device", 'This device has no command "{act}"; do it by hand.', act=act)
    if device.open_commands:
        raise RefusedError("busy", "The device has not answered the last command; wait until it has.")
    dispenses = operation.instruction is Instruction.DISPENSE
    if not (1 if dispenses else 0) <= operation.cards <= (MOST_IN_A_SET if dispenses else 0):
        raise RefusedError(
            "cards",
            "Enter the number of cards, 1 to {most}, for a set only.",
            most=MOST_IN_A_SET,
        )
    if dispenses and device.exit_held:
        raise RefusedError("exit", "The exit is locked; release it first.")
    if device.stopped and instructed.command(operation.cards).moves_cards and not _is_self_test(operation):
        raise RefusedError("stopped", "The device has stopped ({causes}); clear it first.", causes=device.stopped)


def _is_self_test(operation: operations.InstructDevice) -> bool:
    """Return whether it is a self-test, which is also possible while the device is stopped, to find the reason."""
    return operation.instruction is Instruction.RUN_SELF_TEST


def instruct(decision: Decision, given: PersonActed, operation: operations.InstructDevice) -> None:
    decision.emit(events.CommandIssued(INSTRUCTIONS[operation.instruction].command(operation.cards)))
