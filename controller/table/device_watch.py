"""Does the device do what was ordered, and stay with what it said?

`exit_held` of every status is compared with the last order that was answered. An exit that is open although hold was
ordered is ordered to be held once more; release never, since it may form a set. What stays wrong, and an order without
an answer, is a technical stop (I19) that says whether cards can leave.
"""

from __future__ import annotations

from typing import Final

from controller.games.specification import Kind
from controller.table import events
from controller.table.decision import Decision
from controller.table.device_commands import STATUSES
from controller.table.device_reports import OF_A_COMMAND, stop
from controller.table.inputs import DeviceContradicted, StatusReceived
from controller.table.irregularities.raising import already_open, raise_count_in_doubt
from controller.table.phases import Phase
from controller.table.state import TableState
from firmware_bridge.capabilities import DeviceStatus
from firmware_bridge.commands import HoldExit, ReleaseExit, Shuffle

CAN_LEAVE: Final = {False: "open: cards can leave", True: "held: no card can leave"}
NOTED_AS: Final = {"forged_frames": "device-forged-frames"}
CONTRADICTIONS: Final = {
    "report": "the device sent its report {} again with other content: cards may have passed unseen",
    "answer": "the device answered command {} a second time, and otherwise",
    "unknown_answer": "the device answered command {}, which it was not given",
    "forged_frames": "{} frames came that the device did not send now: check the cable, and what lies in it",
}


def watch_orders(decision: Decision, given: StatusReceived) -> None:
    """With every status. One that is sent while cards move says nothing of what comes of an order, for a while."""
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
        what = str(opened.command.__struct_config__.tag).replace("_", " ")
        exit_is = (
            f"; by its status the exit is {CAN_LEAVE[given.status.exit_held]}" if _holds_exit(decision.state) else ""
        )
        stop(decision, None, f"{OF_A_COMMAND}: the device does not answer the order {what}{exit_is}")


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
    ordered = "its release" if status.exit_held else "hold"
    stop(decision, None, f"{OF_A_COMMAND}: {ordered} was ordered, and the exit is {CAN_LEAVE[status.exit_held]}")


def _holds_exit(state: TableState) -> bool:
    return state.device.capabilities is not None and state.device.capabilities.holds_exit


def device_contradicted(decision: Decision, given: DeviceContradicted) -> None:
    """A report with other content is a doubt (I04); of answers only the first counts, and the others are noted. Nothing
    is taken of forged frames."""
    if not decision.state.device.connected:
        return
    note = CONTRADICTIONS[given.what].format(given.number)
    decision.emit(events.DeviceNoted(NOTED_AS.get(given.what, "contradiction"), note))
    if given.what == "report":
        raise_count_in_doubt(decision, note)
