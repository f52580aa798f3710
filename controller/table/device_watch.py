"""Checks that the device does what was ordered and does not contradict itself.

`exit_held` of every status is compared with the last answered order. If the exit is open although it was ordered to be
held, the order is repeated once; a release is not repeated, since it may form a set. If the exit stays wrong, or an
order gets no answer, that is a technical stop (I19) which says whether cards can leave.
"""

from __future__ import annotations

from typing import Final

from controller.games.specification import Kind
from controller.table import events
from controller.table.decision import Decision
from controller.table.device_commands import STATUSES, named
from controller.table.device_reports import stop
from controller.table.inputs import DeviceContradicted, StatusReceived
from controller.table.irregularities.raising import already_open, raise_count_in_doubt
from controller.table.phases import Phase
from controller.table.state import TableState
from firmware_bridge.capabilities import DeviceStatus
from firmware_bridge.commands import HoldExit, ReleaseExit, Shuffle
from firmware_bridge.messages import Message, counted, message

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
        return  # reported already; or it has stopped, and people know why no card can leave
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


def device_contradicted(decision: Decision, given: DeviceContradicted) -> None:
    """Treat a repeated report with different content as a doubt (I04).

    Only the first answer to a command counts, and forged frames are ignored; both are noted.
    """
    if not decision.state.device.connected:
        return
    note = _contradiction(given)
    decision.emit(events.DeviceNoted(NOTED_AS.get(given.what, "contradiction"), note))
    if given.what == "report":
        raise_count_in_doubt(decision, note)


def _contradiction(given: DeviceContradicted) -> Message:
    if given.what == "report":
        return message(
            "the device sent its report {number} again with different content: cards may have passed unseen",
            number=given.number,
        )
    if given.what == "answer":
        return message("the device gave two different answers to command {number}", number=given.number)
    if given.what == "unknown_answer":
        return message("the device answered command {number}, which it was never sent", number=given.number)
    return counted(
        "1 frame did not come from the device: check the cable and what is connected to it",
        "{count} frames did not come from the device: check the cable and what is connected to it",
        given.number,
    )
