"""Maintenance: people test, clean or repair the device between rounds, and instruct it.

No round is affected: nothing becomes an irregularity (irregularities/raising.py), cards that leave the device are set
aside (dealing.py), and the table itself issues no commands (device_commands.py). Before the next round the deck is
loaded, shuffled and counted again (house procedure).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final, NamedTuple

from controller.roles import Role
from controller.table import events, operations
from controller.table.decision import Decision, RefusedError
from controller.table.device_commands import named
from controller.table.feature import NOT_HELD, RUNNING, UNDER_MAINTENANCE, WORDS, Group, OperationRow, group, just
from controller.table.inputs import PersonActed
from controller.table.model import Device
from controller.table.operations import Instruction
from controller.table.phases import BETWEEN_ROUNDS, Phase
from controller.table.settling import verify_chips_moved
from controller.table.state import TableState
from controller.table.stop_causes import COMMAND, about
from firmware_bridge.capabilities import Capabilities
from firmware_bridge.commands import AnyCommand, Dispense, HoldExit, ReleaseExit, RunSelfTest, Shuffle, UnloadStub
from firmware_bridge.messages import message

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
    """Verify that no command is open, so that no command from play is carried out under maintenance, or vice versa."""
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
            "Enter a number of cards (1 to {most}) only for a set.",
            most=MOST_IN_A_SET,
        )
    if dispenses and device.exit_held:
        raise RefusedError("exit", "The exit is locked; release it first.")
    if device.stopped and instructed.command(operation.cards).moves_cards and not _is_self_test(operation):
        raise RefusedError("stopped", "The device has stopped ({causes}); clear it first.", causes=device.stopped)


def _is_self_test(operation: operations.InstructDevice) -> bool:
    """Return whether this is a self-test, which is also possible while the device is stopped, to find the reason."""
    return operation.instruction is Instruction.RUN_SELF_TEST


def instruct(decision: Decision, given: PersonActed, operation: operations.InstructDevice) -> None:
    decision.emit(events.CommandIssued(INSTRUCTIONS[operation.instruction].command(operation.cards)))


# -- permissions and offers


def _instructed(state: TableState) -> Iterator[Group]:
    for instruction in Instruction:
        dispenses = instruction is Instruction.DISPENSE
        sample = operations.InstructDevice(instruction, 1 if dispenses else 0)
        yield group(sample, known=("instruction",), needs=("cards",) if dispenses else ())


# fmt: off
FEATURE: Final[tuple[OperationRow, ...]] = (
    OperationRow(
        operations.BeginMaintenance, message("begin maintenance"), message("{who} began maintenance."),
        verify_begin_maintenance, begin_maintenance, BETWEEN_ROUNDS - {Phase.MAINTENANCE}, NOT_HELD,
        Role.PIT_SUPERVISOR, offers=just(operations.BeginMaintenance(WORDS))),
    OperationRow(
        operations.EndMaintenance, message("end maintenance"), message("{who} ended maintenance."),
        verify_end_maintenance, end_maintenance, UNDER_MAINTENANCE, NOT_HELD, Role.PIT_SUPERVISOR,
        message("Maintenance has not begun; begin it between rounds."), offers=just(operations.EndMaintenance())),
    OperationRow(
        operations.InstructDevice, message("instruct the device"), message("{who} instructed the device."),
        verify_instruct, instruct, UNDER_MAINTENANCE, RUNNING, Role.PIT_SUPERVISOR,
        message("Only the table instructs the device during play. Begin maintenance between rounds first."),
        offers=_instructed),
)
# fmt: on
"""The permissions and offers of this feature."""
