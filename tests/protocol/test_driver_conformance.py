"""Every driver, with the simulated device of its protocol, meets the requirements for drivers."""

from __future__ import annotations

from random import Random
from typing import ClassVar

from firmware_bridge.cards import Card
from firmware_bridge.commands import ReleaseExit
from firmware_bridge.drivers.angel_eye import AngelEye
from firmware_bridge.drivers.bee_tek import BeeTek
from firmware_bridge.drivers.cardlink.host import make_cardlink
from firmware_bridge.drivers.line_reader import LineReader
from simulators.devices.angel_eye import AngelEyeDevice
from simulators.devices.base import Tempo
from simulators.devices.bee_tek import BeeTekDevice
from simulators.devices.line_reader import LineReaderDevice, simulated_identifiers
from simulators.devices.mechanism import Profile, full_capabilities
from simulators.devices.simulated_device import SimulatedDevice
from simulators.driver_conformance.every_driver import DriverConformance, OneWayConformance, Shoe, StepClock, Wire

from .parts import KEY


class TestCardlink(DriverConformance):
    make_driver = staticmethod(make_cardlink)

    def make_device(self, clock: StepClock) -> Shoe:
        profile = Profile("shoe", "SHOE-9", full_capabilities("shoe"))
        return SimulatedDevice(profile, key=KEY, random=Random(1), fresh=Random(2), clock=clock, pace=Tempo(0))

    def key_of(self, serial: str) -> bytes | None:
        return KEY

    def release(self, wire: Wire) -> None:
        wire.driver.command(1, ReleaseExit(), wire.clock.now)
        wire.run()


class TestAngelEye(OneWayConformance):
    make_driver = AngelEye
    query: ClassVar[dict[str, bool]] = {"arm": True}

    def make_device(self, clock: StepClock) -> Shoe:
        return AngelEyeDevice(random=Random(1))

    def damage(self, data: bytes) -> bytes:
        return data.replace(b"\x03", b"\x83")


class TestBeeTek(OneWayConformance):
    make_driver = BeeTek

    def make_device(self, clock: StepClock) -> Shoe:
        return BeeTekDevice(random=Random(1))

    def damage(self, data: bytes) -> bytes:
        return data.replace(b"<", b"?")

    def is_lawful(self, drawn: list[str], heard: list[str]) -> bool:
        """Return whether the damage is acceptable: one changed letter may be another card, because the protocol has no
        checksum.
        """
        if len(heard) == len(drawn):
            return sum(one != other for one, other in zip(drawn, heard, strict=True)) <= 1
        return super().is_lawful(drawn, heard)


class TestLineReader(OneWayConformance):
    make_driver = LineReader
    noise = b"\x00\xff~~\r\n"
    card_table: ClassVar[dict[str, Card]] = simulated_identifiers()

    def make_device(self, clock: StepClock) -> Shoe:
        return LineReaderDevice(random=Random(1))

    def hiss(self, data: bytes) -> bytes:
        """Return noise that is not printable, because any printable line is an identifier."""
        return bytes(byte | 0x80 for byte in data) + b"\n"

    def damage(self, data: bytes) -> bytes:
        return data.replace(b"E", b"\xc5")

    def is_lawful(self, drawn: list[str], heard: list[str]) -> bool:
        """Return whether the damage is acceptable: one identifier may have changed, but a cut line is never a card."""
        return sum(card not in drawn for card in heard) <= 1 and len(heard) <= len(drawn) + 1
