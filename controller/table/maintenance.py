"""Maintenance: people try, clean or mend the device between rounds, and it does what they tell it.

No round is concerned by what happens then: nothing becomes an irregularity (raising.py), cards that leave the device
are set aside (dealing.py), nothing is ordered but by people (device_orders.py). Before the next round the deck is
loaded, shuffled and counted anew (house procedure).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, NamedTuple

from controller.table import events, operations
from controller.table.decision import Decision, RefusedError
from controller.table.device_reports import OF_A_COMMAND
from controller.table.inputs import PersonActed
from controller.table.model import Device
from controller.table.operations import Instruction
from controller.table.phases import Phase
from controller.table.state import TableState
from firmware_bridge.capabilities import Capabilities
from firmware_bridge.commands import AnyCommand, Dispense, HoldExit, ReleaseExit, RunSelfTest, Shuffle, UnloadStub

MOST_IN_A_SET: Final = 5


class Instructed(NamedTuple):
    """What an instruction tells the device, and whether a device can do it."""

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


def verify_begin(state: TableState, given: PersonActed, operation: operations.BeginMaintenance) -> None:
    if not operation.reason.strip():
        raise RefusedError("reason", "Say why the table goes under maintenance.")
    if state.open:
        raise RefusedError("open", "An irregularity is open; bring it to its end first.")
    _verify_still(state)


def begin(decision: Decision, given: PersonActed, operation: operations.BeginMaintenance) -> None:
    """What the device refused to do, or broke off, people may have it try again."""
    for cause in decision.state.device.stops:
        if cause.startswith(OF_A_COMMAND):
            decision.emit(events.DeviceFreed(cause))
    phase = decision.state.phase
    decision.emit(events.MaintenanceBegan(operation.reason, phase is Phase.CLOSED, phase is Phase.CONCLUDED))
    decision.enter_phase("begin_maintenance")


def verify_end(state: TableState, given: PersonActed, operation: operations.EndMaintenance) -> None:
    _verify_still(state)


def end(decision: Decision, given: PersonActed, operation: operations.EndMaintenance) -> None:
    decision.enter_phase("end_maintenance")
    decision.emit(events.MaintenanceEnded())
    waiting = decision.state.decks.waiting
    if waiting is not None and not waiting.used:  # it lay in the device while people were at it
        decision.emit(events.ShuffleFailed(waiting.deck, waiting=True))


def _verify_still(state: TableState) -> None:
    """What the device was told under one regime it must not carry out under the other."""
    if state.device.connected and state.device.moving is not None:
        raise RefusedError("moving", "The device is moving cards; wait until it has answered.")


def verify_instruct(state: TableState, given: PersonActed, operation: operations.InstructDevice) -> None:
    device = state.device
    instructed = INSTRUCTIONS[operation.instruction]
    words = operation.instruction.replace("_", " ")
    if not device.connected or device.capabilities is None:
        raise RefusedError("no-device", "The device is not connected; check its power and its cable.")
    if not instructed.possible(device, device.capabilities):
        raise RefusedError("device", f"This device cannot {words} when it is told to.")
    if device.open_commands:
        raise RefusedError("busy", "The device has not answered to the last command yet; wait until it has.")
    dispenses = operation.instruction is Instruction.DISPENSE
    if not (1 if dispenses else 0) <= operation.cards <= (MOST_IN_A_SET if dispenses else 0):
        raise RefusedError("cards", f"Say a number of cards, 1 to {MOST_IN_A_SET}, for a set and for nothing else.")
    if dispenses and device.exit_held:
        raise RefusedError("exit", "The device holds its exit; release it first.")
    if device.stopped and instructed.command(operation.cards).moves_cards and not _tests(operation):
        raise RefusedError("stopped", f"The device stands still ({device.stopped}); clear it first.")


def _tests(operation: operations.InstructDevice) -> bool:
    """A self test may find out why a device stands still."""
    return operation.instruction is Instruction.RUN_SELF_TEST


def instruct(decision: Decision, given: PersonActed, operation: operations.InstructDevice) -> None:
    decision.emit(events.CommandIssued(INSTRUCTIONS[operation.instruction].command(operation.cards)))
