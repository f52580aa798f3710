"""Turns events of the device's link and of access control into inputs of the table."""

from __future__ import annotations

from typing import Final

from controller.table import inputs
from controller.table.inputs import AnyInput
from firmware_bridge.drivers import base
from firmware_bridge.drivers.base import Heard

OF_THE_DOOR: Final = (inputs.PinTried, inputs.RefusedAtDoor)


def input_of(heard: Heard) -> AnyInput:
    """Return the table's input for an event from the link keeper."""
    match heard:
        case base.Reported():
            return inputs.DeviceReported(heard.boot, heard.number, heard.uptime_ms, heard.observation, heard.evidence)
        case base.StatusHeard():
            return inputs.StatusReceived(heard.status, heard.unanswered, heard.moves_too_long)
        case base.Answered():
            return inputs.CommandAnswered(heard.command_id, heard.done, heard.reason)
        case base.DeviceReady():
            return inputs.DeviceConnected(heard.identity, heard.status, heard.nonce)
        case base.ReportsGone():
            return inputs.ReportsMissing(heard.boot, heard.first, heard.last, heard.withheld, heard.newest)
        case base.Contradicted():
            return inputs.DeviceContradicted(heard.what, heard.boot, heard.number, heard.evidence)
        case base.LinkOver():
            return inputs.DeviceGone(heard.code, heard.sentence, heard.refused, heard.evidence)
