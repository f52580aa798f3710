"""What the simulated one-way shoes share: a mechanism whose observations become bytes, of which none is kept.

What is sent while no host listens is gone, as with the real ones.
"""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import ClassVar

from firmware_bridge.drivers.one_way import ONE_WAY
from firmware_bridge.observations import AnyObservation
from simulators.devices.base import LONGEST_NAP, LoggedReport, log_line
from simulators.devices.mechanism import Mechanism, Profile


class OneWayDevice:
    """Base of such a device, a `DeviceSide`. A subclass makes bytes of each observation in `encode`.

    `random` orders decks. `log` takes each observation as the mechanism makes it, whether it is sent or not.
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

    def encode(self, observation: AnyObservation) -> bytes:
        """What is sent of this observation, perhaps nothing."""
        raise NotImplementedError

    @property
    def idle(self) -> bool:
        return not self._out

    def receive(self, data: bytes) -> None:
        """A one-way device does not listen."""

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

    def _emit(self, observation: AnyObservation) -> None:
        self._made += 1
        self._log(log_line(0, self._made, self.mechanism.clock.uptime_ms, observation))
        self.send(self.encode(observation))
