"""The common part of simulated one-way shoes: a mechanism whose observations become bytes, none of which is kept.

As with real ones, what is sent while no host listens is lost.
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
    """The base class of such a device, a `DeviceSide`. A subclass encodes observations in `encode`.

    `random` orders decks. `log` takes every observation, whether it is sent or not.
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
        self.mechanism.exit_held = False  # only a lock can hold it, if there is one
        self.mechanism.power_on()

    def encode(self, observation: AnyObservation) -> bytes:
        """Return the bytes for this observation, perhaps none."""
        raise NotImplementedError

    @property
    def idle(self) -> bool:
        return not self._out

    def receive(self, data: bytes) -> None:
        """Do nothing: a one-way device does not listen."""

    def outgoing(self) -> bytes:
        data = bytes(self._out)
        self._out.clear()
        return data

    def tick(self) -> None:
        """Do nothing: nothing is due by time."""

    def nap(self) -> float:
        return LONGEST_NAP

    def send(self, data: bytes) -> None:
        self._out += data
        self.changed()

    def _emit(self, observation: AnyObservation) -> None:
        self._made += 1
        self._log(log_line(0, self._made, self.mechanism.clock.uptime_ms, observation))
        self.send(self.encode(observation))
