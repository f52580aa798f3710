"""Guards against a device that is not what it seems: a program in its place, or one that floods the journal.

A device with a key proves its identity. The others are assumed to be what the configuration says, so a program at the
other end of their line passes as a device unless the line reveals it: docs/configuration.md says what cannot be
detected.

The limit of reports follows from the speed of hands and mechanisms: a device that deals makes fewer than 5 reports a
second (docs/cardlink.md, "Rates"), and a round of a whole deck with its loading, shuffling and sets is about 65 reports
in at least 45 s, 1.5 a second over hours. Reports that a device kept over a long outage arrive together; existing
devices keep about 1,000.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final

from controller.table import inputs
from controller.table.inputs import AnyInput
from controller.table.state import TableState
from firmware_bridge.allowance import Allowance
from firmware_bridge.device_url import DeviceUrl
from firmware_bridge.drivers.registry import registered_driver
from firmware_bridge.errors import TransportUnavailableError
from firmware_bridge.messages import Message, message
from firmware_bridge.transports.base import OnData, OnLost, Transport
from firmware_bridge.transports.registry import open_transport

AT_ONCE: Final = 10_000  # inputs that are journaled: ten times what a device keeps, about 7 MB
MOST_WAITING: Final = 1_000  # inputs in the queue; a device that waits for acknowledgements has 8 of them there
ONE_MORE_EVERY: Final = 0.5  # seconds
CODE: Final = "device-floods"
SENTENCE: Final = message(
    "The device has sent more reports than hands and a mechanism can cause. Take it out of use, have it examined, "
    "then return the table to service."
)
OF_A_LINK: Final = (
    inputs.DeviceReported,
    inputs.ReportsMissing,
    inputs.DeviceContradicted,
    inputs.StatusReceived,
    inputs.CommandAnswered,
)
COUNTED: Final = (*OF_A_LINK, inputs.DeviceConnected)


class ReportBudget:
    """The budget of one device. Once spent, it stays spent until a person returns the table to service.

    Simulated tables have none: simulated hands are as fast as the machine.
    """

    def __init__(self) -> None:
        self.renew()

    def renew(self) -> None:
        """Start a new budget, because a person has returned the table to service."""
        self._allowance = Allowance(AT_ONCE, ONE_MORE_EVERY)
        self._spent = False

    def affords(self, given: AnyInput, state: TableState, now: float) -> bool:
        """Return whether an input may be journaled, at `now` in seconds."""
        if isinstance(given, COUNTED) and not state.simulated:
            self._spent = self._spent or not self._allowance.take(now)
        return not (self._spent and isinstance(given, COUNTED))

    def spend(self) -> None:
        """Refuse the device: it sends faster than the table takes, and does not wait for acknowledgements."""
        self._spent = True

    def leaves_out(self, given: AnyInput, state: TableState) -> bool:
        """Return whether to ignore an input: one from a refused device, or a repeated notice of its refusal."""
        again = isinstance(given, inputs.DeviceGone) and state.device.lost_code == CODE
        return self._spent and (again or isinstance(given, COUNTED))


PSEUDO_TERMINALS: Final = range(136, 144)  # major numbers of their nodes


def program_behind(url: DeviceUrl) -> Message | None:
    """Return why a program is believed to be at the other end of a serial port, or None if none is known to be."""
    if url.scheme != "serial":
        return None
    try:
        node = Path(url.path).stat()
    except OSError:
        return None  # not present at the moment
    if os.major(node.st_rdev) not in PSEUDO_TERMINALS:
        return None
    return message("{path} is a pseudo-terminal: a program is at its other end, not a device.", path=url.path)


async def open_real_device(url: DeviceUrl, *, on_data: OnData, on_lost: OnLost) -> Transport:
    """Open a transport at a real table like `open_transport`. Since the start the node may have been replaced, and a
    name may lead to this machine.
    """
    if why := program_behind(url):
        raise TransportUnavailableError(
            why, message("Connect the real device; find out who put that node there."), "port-simulated"
        )
    transport = await open_transport(url, on_data=on_data, on_lost=on_lost)
    if getattr(transport, "peer_is_here", False) and not registered_driver(url.driver).needs_keys:
        transport.close()
        raise TransportUnavailableError(
            message("{place} is this machine: a program answers there, not a device.", place=url.known_as),
            message("Name the address of the real serial server in the device URL."),
            "port-simulated",
        )
    return transport
