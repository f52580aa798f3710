"""`python -m tests.captures.make FOLDER`: makes the golden captures that come from the simulators.

It makes new captures and shows how the existing ones were made; an existing golden capture is never made again. Those
of real devices and of bugs are recorded or written by hand (docs/captures.md).
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from random import Random
from typing import Literal, NamedTuple

from firmware_bridge.capabilities import DeviceIdentity
from firmware_bridge.captures import capture_format
from firmware_bridge.captures.capture_format import CaptureHeader, CaptureOrigin, Record
from firmware_bridge.captures.recorder import Bounds, CaptureFile
from firmware_bridge.card_table import read_card_table
from firmware_bridge.cards import DECK
from firmware_bridge.commands import AnyCommand, Dispense, HoldExit, ReleaseExit, Shuffle
from firmware_bridge.device_url import parse_device_url
from firmware_bridge.drivers.base import Heard, LinkOver, LinkReady, Reported
from firmware_bridge.drivers.registry import load_driver
from firmware_bridge.drivers.setting import DriverSetting, FrameKeys
from simulators.devices.base import Tempo
from simulators.devices.mechanism import Profile, full_capabilities
from simulators.devices.one_way_shoes import ONE_WAY_SHOES
from simulators.devices.simulated_device import SimulatedDevice
from simulators.driver_conformance.every_driver import Shoe, StepClock
from simulators.ports.in_process import simulated_key, simulated_serial

FOLDER = Path(__file__).parent
CARD_TABLE = FOLDER / "line_reader.cards.csv"
Spoil = Callable[[bytes], bytes]


class Maker:
    """A driver and a simulated device in lock-step on a virtual clock, and a capture of what they send."""

    def __init__(self, path: Path, url: str, device: Shoe, clock: StepClock, note: str) -> None:
        self.url = parse_device_url(url)
        self.device = device
        self.clock = clock
        self.spoil: Spoil = lambda data: data
        self.links = 0
        self.held = (0, 0)
        self._told_ms = 0

        def make_header(continues: str, identity: DeviceIdentity | None) -> CaptureHeader:
            return CaptureHeader(
                format=capture_format.FORMAT,
                id=f"{path.stem}-golden",
                date="2026-11-21T00:00:00+00:00",
                url=str(self.url),
                driver=self.url.driver,
                origin=CaptureOrigin.SIMULATED,
                sealed=False,
                simulated=True,
                note=note,
            )

        self.file = CaptureFile(path, make_header, Bounds(), None)

    def open(self) -> None:
        self.links += 1
        held = self.held
        nonce = bytes([self.links]) * 16
        cards = read_card_table(CARD_TABLE) if self.url.driver == "line_reader" else {}
        self._note(capture_format.Opened, ())
        self._note(capture_format.DriverMade, (nonce.hex(), *held))
        setting = DriverSetting(nonce, self.url.line, simulated_key, held, cards, True, note_keys=self._note_keys)
        self.driver = load_driver(self.url.driver)(setting, self.clock.now)
        self.run()

    def run(self, seconds: float = 0.01, *, device_is_there: bool = True) -> None:
        """Let both converse until neither has anything to send, then let time pass, and repeat."""
        for wait in (0.0, seconds):
            self.clock.now += wait
            for _ in range(100):
                self._take(self.driver.tick(self.clock.now))
                sent = self.driver.outgoing()
                if sent:
                    self._note(capture_format.ToDevice, (sent.hex(),))
                data = self._exchange(sent) if device_is_there else b""
                if data:
                    self.hear(self.spoil(data))
                if not data and not sent:
                    break

    def hear(self, data: bytes) -> None:
        self._note(capture_format.FromDevice, (data.hex(),))
        self._take(self.driver.receive(data, self.clock.now))

    async def command(self, command_id: int, command: AnyCommand) -> None:
        self._note(capture_format.Commanded, (command_id, command))
        self.driver.command(command_id, command, self.clock.now)
        self.run()
        for _ in range(10):  # what moves cards is a task of the device's
            await asyncio.sleep(0)
        self.run()

    def draw(self, count: int) -> None:
        for _ in range(count):
            self.clock.now += 0.8
            self.device.mechanism.draw()
            self.run()

    def lose(self, code: str = "transport-lost", sentence: str = "The cable was pulled.") -> None:
        self._note(capture_format.Lost, (code, sentence))

    def _exchange(self, sent: bytes) -> bytes:
        self.device.tick()
        if sent:
            self.device.receive(sent)
        return self.device.outgoing()

    def _take(self, heard: Sequence[Heard]) -> None:
        for thing in heard:
            match thing:
                case Reported():
                    self.held = (thing.boot, thing.number)
                    self.driver.acknowledge(thing.boot, thing.number, self.clock.now)
                case LinkReady():
                    self._note(capture_format.Ready, (thing.identity,))
                case LinkOver():
                    self._note(capture_format.Lost, (thing.code, thing.sentence, thing.refused, True))

    def _note_keys(self, keys: FrameKeys) -> None:
        self._note(capture_format.LinkKeys, tuple(key.hex() for key in keys))

    def _note(self, kind: type[Record], fields: tuple[object, ...]) -> None:
        now = round(self.clock.now * 1000)
        self.file.write(kind(now - self._told_ms, *fields))
        self._told_ms = now


class Golden(NamedTuple):
    """A golden capture. `play` does what happens; `note` explains it to people."""

    name: str
    url: str
    note: str
    play: Callable[[Maker], Awaitable[None]]


async def _round_of_cards(maker: Maker) -> None:
    maker.open()
    if maker.url.driver == "cardlink":
        await maker.command(1, ReleaseExit())
    maker.draw(9)
    maker.lose("link-stopped", "The program ended the link to the device.")


async def _sets(maker: Maker) -> None:
    maker.open()
    await maker.command(1, Shuffle())
    await maker.command(2, ReleaseExit())
    for command_id in (3, 4):
        await maker.command(command_id, Dispense(3))
        maker.clock.now += 2.0
        maker.device.mechanism.lift_set()
        maker.run(1.0)
    maker.lose("link-stopped", "The program ended the link to the device.")


async def _hang_up(maker: Maker) -> None:
    """Pull the cable in the middle of a card's report; the device repeats the report on the next link."""
    maker.open()
    await maker.command(1, ReleaseExit())
    maker.draw(2)
    maker.clock.now += 0.8
    maker.device.mechanism.draw()
    data = maker.device.outgoing()
    maker.hear(data[: len(data) // 2])
    maker.lose()
    maker.clock.now += 5.0
    maker.open()
    maker.draw(1)
    maker.lose("link-stopped", "The program ended the link to the device.")


async def _noise(maker: Maker) -> None:
    """Flip bits and insert stray bytes; the device repeats what was damaged."""
    maker.open()
    await maker.command(1, ReleaseExit())
    random = Random(3)

    def spoil(data: bytes) -> bytes:
        if random.random() < 0.5:
            return data
        spoilt = bytearray(data)
        spoilt[random.randrange(len(spoilt))] ^= 1 << random.randrange(8)
        return random.randbytes(3) + bytes(spoilt)

    maker.spoil = spoil
    maker.draw(6)
    for _ in range(8):
        maker.run(0.3)
    maker.lose("link-stopped", "The program ended the link to the device.")


async def _noisy_line(maker: Maker) -> None:
    """Damage a line without a check: what cannot be read is reported as not understood."""
    maker.open()
    maker.draw(2)
    maker.spoil = lambda data: bytes([data[0], data[1] | 0x80]) + data[2:]
    maker.draw(1)
    maker.spoil = lambda data: b"\xff\x00\xfe" + data
    maker.draw(1)
    maker.spoil = lambda data: data
    maker.draw(2)
    maker.lose("link-stopped", "The program ended the link to the device.")


async def _silence(maker: Maker) -> None:
    """Silence the device: the driver ends the link."""
    maker.open()
    await maker.command(1, HoldExit())
    for _ in range(32):
        maker.run(0.1, device_is_there=False)


SHUFFLER = "sim:///shuffler"
SHOE = "sim:///shoe"
GOLDEN = (
    Golden("cardlink-sets", SHUFFLER, "two sets of three are dispensed and lifted", _sets),
    Golden("cardlink-singles", SHOE, "nine cards are drawn", _round_of_cards),
    Golden("cardlink-hang-up", SHOE, "the cable is pulled in the middle of a report, then plugged in", _hang_up),
    Golden("cardlink-noise", SHOE, "bits flip and stray bytes arrive", _noise),
    Golden("cardlink-silence", SHOE, "the device falls silent", _silence),
    Golden("angel_eye", "serial:///dev/cardshoe/SHOE-9?driver=angel_eye", "nine cards are drawn", _round_of_cards),
    Golden("bee_tek", "serial:///dev/cardshoe/SHOE-9?driver=bee_tek", "nine cards are drawn", _round_of_cards),
    Golden("line_reader", "serial:///dev/cardshoe/SHOE-9?driver=line_reader", "nine cards pass", _round_of_cards),
    Golden("angel_eye-noise", "serial:///dev/cardshoe/SHOE-9?driver=angel_eye", "a noisy line", _noisy_line),
    Golden("line_reader-noise", "serial:///dev/cardshoe/SHOE-9?driver=line_reader", "a noisy line", _noisy_line),
)


async def make(golden: Golden, folder: Path) -> None:
    url = parse_device_url(golden.url)
    clock = StepClock()
    device: Shoe
    if url.driver == "cardlink":
        kind: Literal["shuffler", "shoe"] = "shuffler" if url.path == "/shuffler" else "shoe"
        serial = simulated_serial(kind)
        device = SimulatedDevice(
            Profile(kind, serial, full_capabilities(kind)),
            key=simulated_key(serial), random=Random(1), fresh=Random(2), clock=clock, pace=Tempo(0),
        )  # fmt: skip
    else:
        device = ONE_WAY_SHOES[url.driver](random=Random(1))
    device.mechanism.load(Random(7).sample(DECK, len(DECK)), deck=1)
    maker = Maker(folder / f"{golden.name}.capture", golden.url, device, clock, golden.note)
    await golden.play(maker)
    maker.file.close()


def main() -> None:
    folder = Path(sys.argv[1])
    for golden in GOLDEN:
        asyncio.run(make(golden, folder))


if __name__ == "__main__":
    main()
