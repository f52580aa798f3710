"""Nothing from a device shows a face that is not exposed: not in logs, files, sizes, or the output for a capture.

The same cards are drawn from two decks, over links of every driver that are lost and restored. All output of the
program is compared byte for byte; sealed data by size.
"""

from __future__ import annotations

import asyncio
import base64
import json
import re
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from random import Random
from typing import Final, Literal, NamedTuple

import pytest
from click.testing import CliRunner
from structlog.testing import capture_logs

from controller.api.bodies import encode
from controller.api.view import LinkView
from controller.commands.capture import report
from controller.commands.capture.capture_command import capture as capture_command
from controller.daemon.captures import load_cipher
from controller.daemon.journal_types import JOURNAL_TYPES
from controller.daemon.table_service import input_of
from controller.journal.codec import Moment
from controller.journal.file import Identity, connect_reader
from controller.journal.signing import SigningKey
from controller.journal.store import Journal
from controller.table.events import AnyEvent
from controller.table.inputs import AnyInput
from controller.table.saved_state import SavedState
from firmware_bridge.capabilities import DeviceIdentity
from firmware_bridge.captures.capture_format import CaptureHeader, CaptureOrigin
from firmware_bridge.captures.recorder import Bounds, CaptureFile, CaptureRecorder
from firmware_bridge.cards import DECK, Card, Concealed, Evidence
from firmware_bridge.commands import AnyCommand, Dispense, ReleaseExit, Shuffle
from firmware_bridge.device_url import parse_device_url
from firmware_bridge.drivers.base import Answered, Contradicted, Driver, Heard, Reported
from firmware_bridge.drivers.registry import load_driver
from firmware_bridge.drivers.setting import DriverSetting
from firmware_bridge.link_keeper import Health, LinkState
from simulators.devices.base import Tempo
from simulators.devices.bee_tek import BeeTekDevice
from simulators.devices.line_reader import LineReaderDevice
from simulators.devices.mechanism import Profile, full_capabilities
from simulators.devices.one_way_shoes import ONE_WAY_SHOES
from simulators.devices.simulated_device import SimulatedDevice
from simulators.driver_conformance.every_driver import Shoe
from simulators.ports.in_process import simulated_key, simulated_serial
from tests.link.parts import Bench, Desk, HandClock, running

CARDS_DRAWN: Final = 24
LENGTHS: Final = (6, 59, 60, 61, 128)  # the lengths of identifiers; sealed evidence is padded to blocks
TAGS: Final = {card: f"E2-{card.number:03d}".ljust(LENGTHS[card.number % len(LENGTHS)], "x") for card in DECK}


class TagReader(LineReaderDevice):
    """A reader whose tags have different lengths."""

    def _line(self, card: Concealed | None, foreign: bool) -> bytes:
        return (TAGS[card.expose()] if card is not None else "none").encode() + b"\r\n"


class BeeTekOfTens(BeeTekDevice):
    """A device that writes a ten with two digits, as some do."""

    def outgoing(self) -> bytes:
        return re.sub(rb"<Card:T", b"<Card:10", super().outgoing())


class Line(NamedTuple):
    """A device and its driver's URL. `cards_at_once`: how many are sent together, as a backlog."""

    name: str
    url: str
    cards_at_once: int = 1


LINES: Final = (
    Line("cardlink-sets", "sim:///shuffler"),
    Line("cardlink-singles", "sim:///shoe"),
    Line("angel_eye", "serial:///dev/cardshoe/SHOE-9?driver=angel_eye"),
    Line("bee_tek", "serial:///dev/cardshoe/SHOE-9?driver=bee_tek"),
    Line("bee_tek, four at once", "serial:///dev/cardshoe/SHOE-9?driver=bee_tek", 4),
    Line("line_reader", "serial:///dev/cardshoe/SHOE-9?driver=line_reader"),
)
EVERY_LINE = pytest.mark.parametrize("line", LINES, ids=lambda line: line.name)


def device_at(line: Line, clock: HandClock) -> Shoe:
    url = parse_device_url(line.url)
    if url.driver == "cardlink":
        kind: Literal["shuffler", "shoe"] = "shuffler" if url.path == "/shuffler" else "shoe"
        serial = simulated_serial(kind)
        profile = Profile(kind, serial, full_capabilities(kind))
        return SimulatedDevice(
            profile, key=simulated_key(serial), random=Random(1), fresh=Random(2), clock=clock, pace=Tempo(0)
        )
    made = {**ONE_WAY_SHOES, "bee_tek": BeeTekOfTens, "line_reader": TagReader}[url.driver]
    return made(random=Random(1))


class Behind:
    """The device's side as `Bench` expects it: its answer to bytes."""

    def __init__(self, device: Shoe) -> None:
        self.device = device

    def receive(self, data: bytes) -> bytes:
        self.device.receive(data)
        return self.talk()

    def talk(self) -> bytes:
        self.device.tick()
        return self.device.outgoing()


class Overheard(NamedTuple):
    """The program's output while cards were drawn. `sealed`: sizes only."""

    log: list[str]
    health: list[str]
    sealed: list[int]
    entries: list[int]
    files: dict[str, int]


class Listener:
    """A recorded link and the journal of its reports, for a table that is not simulated."""

    def __init__(self, folder: Path, line: Line, deck: list[Card]) -> None:
        self.folder = folder
        self.line = line
        self.deck = deck
        self.url = parse_device_url(line.url)
        self.desk = Desk()
        self.clock = HandClock(self.desk.changes)
        self.device = device_at(line, self.clock)
        self.device.mechanism.load(deck, deck=1)
        self.held = (0, 0)
        self.command_id = 0
        self.cards: list[str] = []
        self.logged: list[str] = []
        self.nonces = Random(3)
        self.capture = folder / "a.capture"
        self.key_file = folder / "capture.key"
        self.key_file.write_text("11" * 32)
        self.key_file.chmod(0o600)
        self.journal: Journal[AnyInput, AnyEvent] = Journal.open(
            folder / "journal", JOURNAL_TYPES, local_key=bytes(32),
            identity=Identity("5e" * 16, "T-1", False), signer=SigningKey(bytes(32)),
        )  # fmt: skip
        self.journal.begin_file(SavedState(), Moment(0, 0))
        self.recorder = CaptureRecorder(
            CaptureFile(self.capture, self._header, Bounds(60_000, 99), load_cipher(self.key_file)),
            clock=self.clock, log=None, keeps_keys=True,
        )  # fmt: skip
        self.bench = Bench(
            self.desk, self.clock, make_driver=self._make_driver, deliver=self._deliver, recorder=self.recorder
        )
        self.behind = Behind(self.device)
        self.bench.device = self.behind  # type: ignore[assignment]  # it answers bytes like the other

    def _header(self, continues: str, device: DeviceIdentity | None) -> CaptureHeader:
        url, driver = str(self.url), self.url.driver
        date = "2026-11-21T12:00:00+00:00"
        return CaptureHeader(
            1, "a" * 32, date, url, driver, CaptureOrigin.HARDWARE, True, continues=continues, device=device
        )

    def _make_driver(self, now: float) -> Driver:
        nonce = self.nonces.randbytes(16)
        self.recorder.driver_made(nonce, self.held)
        cards = {tag: card for card, tag in TAGS.items()}
        noted = self.recorder.link_keys
        setting = DriverSetting(nonce, self.url.line, simulated_key, self.held, cards, False, note_keys=noted)
        return load_driver(self.url.driver)(setting, now)

    def _deliver(self, heard: Heard) -> None:
        self.journal.append(input_of(heard), (), round=1, moment=Moment(0, 0))
        self.desk.deliver(heard)
        if isinstance(heard, Reported):
            self.held = (heard.boot, heard.number)
            self.bench.keeper.acknowledge(*self.held)

    # -- the course ------------------------------------------------------------------------------------------------

    async def listen(self) -> None:
        """Draw cards on two links; the first is lost with its last card on the wire."""
        async with running(self.bench.keeper):
            await self._until_ready()
            if self.device.mechanism.profile.kind == "shuffler":
                await self._order(Shuffle())
                self.device.mechanism.inside = list(self.deck)  # in the order of the test, whatever was shuffled
            await self._draw(CARDS_DRAWN // 2)
            self.bench.far_ends[-1].close()
            await self.desk.until_state(LinkState.LOST)
            await self._until_ready()
            await self._draw(CARDS_DRAWN // 2)
        self.recorder.close()
        self.journal.close()

    async def _until_ready(self) -> None:
        ready = [health.state for health in self.desk.healths].count(LinkState.READY)
        while [health.state for health in self.desk.healths].count(LinkState.READY) == ready:
            await self._settle()
            if [health.state for health in self.desk.healths].count(LinkState.READY) == ready:
                await self.clock.pass_next_wait()
        if self.url.driver == "cardlink":
            await self._order(ReleaseExit())

    async def _order(self, command: AnyCommand) -> None:
        self.command_id += 1
        answered = len([one for one in self.desk.heard if isinstance(one, Answered)])
        assert self.bench.keeper.command(self.command_id, command)
        while len([one for one in self.desk.heard if isinstance(one, Answered)]) == answered:
            await self._settle()

    async def _settle(self) -> None:
        """Run until neither side has anything to send."""
        for _ in range(20):
            await asyncio.sleep(0)
            if self.bench.far_ends and (data := self.behind.talk()):
                self.bench.far_ends[-1].write(data)

    async def _draw(self, count: int) -> None:
        at_once = self.line.cards_at_once
        while count > 0:
            self.clock.now += 0.8
            if self.device.mechanism.profile.kind == "shuffler":
                await self._order(Dispense(3))
                taken = self.device.mechanism.lift_set()
            else:
                taken = [card for _ in range(at_once) for card in self.device.mechanism.draw()]
            assert taken
            self.cards += [card.code for card in taken]
            count -= len(taken)
            await self._settle()

    # -- the program's output --------------------------------------------------------------------------------------

    def sealed(self) -> Iterator[int]:
        """Yield the size of the sealed part of every line of the captures."""
        for path in sorted(self.folder.glob("a.capture*")):
            for text in path.read_bytes().splitlines():
                line = json.loads(text)
                yield len(base64.b64decode(line["sealed"])) if line["is"] == "sealed" else -len(text)

    def entries(self) -> list[int]:
        query = "SELECT length(body) + length(sealed) FROM decision ORDER BY last"
        with closing(connect_reader(self.folder / "journal" / "000001.journal")) as connection:
            return [size for (size,) in connection.execute(query)]

    def shown(self, *options: str) -> list[str]:
        """Return what `cardshoe capture` prints of the files for a person with their key."""
        files = [str(path) for path in sorted(self.folder.glob("a.capture*"), key=_age, reverse=True)]
        if self.url.driver == "line_reader":
            table = self.folder / "tags.csv"
            table.write_text("".join(f"{tag},{card.code}\n" for card, tag in TAGS.items()))
            options = (*options, "--card-table", str(table))
        done = CliRunner().invoke(capture_command, [*options, "--key-file", str(self.key_file), *files])
        assert done.exit_code == 0, done.output
        return done.output.splitlines()


def _age(path: Path) -> int:
    """Return the age of a rotated file: the oldest has the highest number."""
    return int(path.suffix[1:]) if path.suffix[1:].isdigit() else 0


def listened(folder: Path, line: Line, deck: list[Card]) -> Listener:
    folder.mkdir()

    async def listen() -> Listener:
        listener = Listener(folder, line, deck)
        with capture_logs() as logged:
            await listener.listen()
        listener.logged = [json.dumps(entry, default=str) for entry in logged]
        return listener

    return asyncio.run(listen())


def overheard(listener: Listener) -> Overheard:
    return Overheard(
        log=listener.logged,
        health=[encode(_as_seen(health)).decode() for health in listener.desk.healths],
        sealed=list(listener.sealed()),
        entries=listener.entries(),
        files={path.name: path.stat().st_size for path in listener.folder.iterdir()},
    )


def _as_seen(health: Health) -> LinkView:
    return LinkView(health.state, health.last_heard, health.link, health.code, health.sentence, health.hint)


def two_decks() -> tuple[list[Card], list[Card]]:
    """Return two decks with different numbers of tens among the drawn cards, and different lengths of tags."""
    tens_first = sorted(DECK, key=lambda card: card.rank != 10)
    tens_last = sorted(Random(5).sample(DECK, len(DECK)), key=lambda card: card.rank == 10)
    return tens_first, tens_last


@EVERY_LINE
def test_a_recorded_lost_link_reveals_no_card(tmp_path: Path, line: Line) -> None:
    one, two = [listened(tmp_path / str(number), line, deck) for number, deck in enumerate(two_decks())]
    assert one.cards != two.cards
    assert len(one.cards) == len(two.cards) >= CARDS_DRAWN
    assert overheard(one) == overheard(two)


@EVERY_LINE
def test_a_shown_capture_reveals_cards_only_on_request(tmp_path: Path, line: Line) -> None:
    one, two = [listened(tmp_path / str(number), line, deck) for number, deck in enumerate(two_decks())]
    for way in (["show"], ["show", "--json"], ["replay", "--fast"], ["replay", "--fast", "--json"]):
        assert one.shown(*way) == two.shown(*way)
        assert one.shown(*way, "--faces") != two.shown(*way, "--faces")


@pytest.mark.parametrize("faces", [False, True])
def test_a_contradiction_is_shown_without_its_bytes(faces: bool) -> None:
    heard = Contradicted("report", 1, 7, Evidence(b"KD"))
    assert report.heard_line(12, heard, faces=faces).endswith('contradicted: what="report" boot=1 number=7')
    assert "evidence" not in report.as_data(12, 1, heard, faces=faces)
