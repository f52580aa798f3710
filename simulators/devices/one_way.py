"""What the simulated shoes share that only tell: a mechanism whose reports become bytes, kept by nobody.

What is told while no host listens is gone, as with the real ones.
"""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import ClassVar

import msgspec

from firmware_bridge.drivers.cardlink import messages
from firmware_bridge.drivers.one_way import ONE_WAY
from simulators.devices.mechanism import Mechanism, Profile
from simulators.devices.simulated_device import LONGEST_NAP, LoggedReport


class TellingDevice:
    """Base of such a device, a `DeviceSide`. A subclass makes bytes of each report in `tell`.

    `random` orders decks. `log` takes each report as the mechanism makes it, whether it is told or not.
    """

    baud: ClassVar[int]

    def __init__(
        self, *, serial: str = "", random: Random, log: Callable[[LoggedReport], None] = lambda line: None
    ) -> None:
        self.changed: Callable[[], None] = lambda: None
        self._log = log
        self._out = bytearray()
        self._made = 0
        profile = Profile("shoe", serial, ONE_WAY)
        self.mechanism = Mechanism(profile, random=Random(random.getrandbits(64)), emit=self._emit, boot=1)
        self.mechanism.exit_held = False  # nothing holds it but a lock, where there is one
        self.mechanism.power_on()

    def tell(self, report: messages.Report) -> bytes:
        """What goes out for this report, perhaps nothing."""
        raise NotImplementedError

    @property
    def idle(self) -> bool:
        return not self._out

    def receive(self, data: bytes) -> None:
        """A device that only tells has no ear."""

    def outgoing(self) -> bytes:
        data = bytes(self._out)
        self._out.clear()
        return data

    def tick(self) -> None:
        """Nothing is due by time."""

    def nap(self) -> float:
        return LONGEST_NAP

    def send(self, data: bytes) -> None:
        self._out += data
        self.changed()

    def _emit(self, report: messages.Report) -> None:
        self._made += 1
        name = type(report).__name__
        self._log(LoggedReport(0, self._made, name, list(msgspec.structs.astuple(report))))
        self.send(self.tell(report))
