"""All readers of input from others, each with the exceptions that it may raise; any other exception is a defect."""

from __future__ import annotations

import asyncio
import atexit
import io
import json
import os
import re
import shutil
import stat
import struct
from collections.abc import Callable, Sequence
from contextlib import closing, redirect_stderr, redirect_stdout, suppress
from functools import cache
from pathlib import Path
from random import Random
from tempfile import mkdtemp
from typing import Any, Final, NamedTuple, get_args
from uuid import UUID

import click
import msgspec

from controller.api.bodies import decode_request, encode
from controller.api.view import LinkView, view_of
from controller.commands.capture.capture_command import capture as capture_command
from controller.commands.evaluate import evaluate as evaluate_command
from controller.daemon.configuration import ConfigurationError, read_configuration
from controller.daemon.table_service import input_of
from controller.games.specification import Unit
from controller.journal import JournalError
from controller.journal.reader import JournalReader
from controller.journal.sealing import load_key_file
from controller.people_words.tokens import Tokens, UnreadableLineError
from controller.roles import Role
from controller.table.decide import decide
from controller.table.evolve import fold
from controller.table.inputs import AnyInput, PersonActed, RefusedAtDoor
from controller.table.operations import AnyOperation
from controller.table.state import TableState
from firmware_bridge.captures.capture_format import FromDevice
from firmware_bridge.captures.reader import read_capture
from firmware_bridge.card_table import read_card_table
from firmware_bridge.cards import Card, UnknownCardError
from firmware_bridge.device_keys import read_device_keys
from firmware_bridge.device_url import parse_device_url
from firmware_bridge.drivers.base import Driver, Heard, Reported
from firmware_bridge.drivers.cardlink.framing import END, FrameReader, enclose
from firmware_bridge.drivers.detect import detect_driver
from firmware_bridge.drivers.registry import load_driver
from firmware_bridge.drivers.setting import DeviceLine, DriverSetting
from firmware_bridge.errors import BadDeviceUrlError, CardTableError, KeyFileError
from simulators.devices.base import Tempo
from simulators.devices.faults import BadFaultError, parse_fault
from simulators.devices.mechanism import Profile, full_capabilities
from simulators.devices.simulated_device import SimulatedDevice
from simulators.ports.usbip import UsbipConnection, UsbIpFront
from simulators.scenarios.format import BadScenarioError, read_scenario
from simulators.scenarios.player import DifferenceError, play
from simulators.usb.descriptors import UsbDescription
from simulators.usb.usb_device import UsbDeviceSide
from simulators.usb.usb_front import UsbFront
from tests.captures.make import CARD_TABLE
from tests.captures.make import FOLDER as CAPTURES
from tests.support.journal_codec import table_codec
from tests.table.every_input import every_operation
from tests.table.harness import TableHarness

ROOT: Final = Path(__file__).parents[2]
MEMORY: Final = Path("/dev/shm")  # noqa: S108  # the folder in it is new and belongs to this user alone


class Target(NamedTuple):
    """A target. `run` reads an input; `contract` has the exceptions that it may raise. `seeds` gives real inputs.

    `short` is the number of runs in a test.
    """

    name: str
    run: Callable[[bytes], object]
    contract: tuple[type[BaseException], ...]
    seeds: Callable[[], Sequence[bytes]]
    short: int


# -- initial inputs -----------------------------------------------------------------------------------------------


@cache
def folder() -> Path:
    """Return this process's folder for what is read from files."""
    made = Path(mkdtemp(prefix="cardshoe-fuzz-", dir=MEMORY if MEMORY.is_dir() else None))
    atexit.register(shutil.rmtree, made, ignore_errors=True)
    return made


def in_file(name: str, data: bytes) -> Path:
    path = folder() / name
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, stat.S_IRUSR | stat.S_IWUSR)
    with os.fdopen(descriptor, "wb") as file:
        file.write(data)
    return path


def files(pattern: str, under: Path = ROOT) -> Callable[[], Sequence[bytes]]:
    return lambda: [path.read_bytes() for path in sorted(under.glob(pattern))]


def from_device(driver: str) -> Callable[[], Sequence[bytes]]:
    """Return what a device of that driver sent in the golden captures, with the bytes of each link joined."""

    def seeds() -> list[bytes]:
        captures = [read_capture([path]) for path in sorted(CAPTURES.glob(f"{driver}*.capture"))]
        records = [recording.records for capture in captures for recording in capture.recordings]
        return [b"".join(one.data for one in link if isinstance(one, FromDevice)) for link in records]

    return seeds


def contents(streams: Callable[[], Sequence[bytes]]) -> Callable[[], Sequence[bytes]]:
    """Return the frames of cardlink streams without CRC and escapes, for `in_frames`."""
    return lambda: [END.join(frame.content for frame in FrameReader().receive(stream)) for stream in streams()]


def in_frames(data: bytes) -> bytes:
    """Return undamaged frames around mutated content."""
    return b"".join(enclose(piece) for piece in data.split(END) if len(piece) <= 500)


def to_device() -> Sequence[bytes]:
    """Return what the host sent to a cardlink device in the golden captures."""
    found: list[bytes] = []
    for path in sorted(CAPTURES.glob("cardlink-s*.capture")):
        records = [json.loads(line) for line in path.read_bytes().splitlines()]
        found.append(b"".join(bytes.fromhex(one["hex"]) for one in records if one["is"] == "to_device"))
    return found


@cache
def tables() -> tuple[TableHarness, ...]:
    """Return tables in the middle of a round, with and without an open irregularity."""
    dealing, exposing = TableHarness(), TableHarness(Unit.SINGLES)
    dealing.start().to_dealing().take()
    exposing.start().to_dealing().deal()
    betting = TableHarness(game_id="P3")
    betting.start().to_betting()
    return dealing, exposing, betting


@cache
def kept_entries() -> tuple[tuple[str, bytes], ...]:
    """Return inputs and events of played tables as a journal keeps them."""
    codec = table_codec()
    entries = []
    for table in tables():
        for given, numbered in table.steps:
            written = codec.encode(1, given, [event for _, event in numbered], 1)
            entries += [("input", written.input), *(("event", event) for event in written.events)]
    return tuple(dict.fromkeys(entries))


@cache
def requests() -> Sequence[bytes]:
    """Return a request of every operation."""
    made: dict[type[Any], list[Any]] = {}
    for operation in every_operation(tables()[1].state):
        made.setdefault(type(operation), []).append(operation)
    assert len(made) == len(get_args(AnyOperation)), "every operation is among them"
    head = {"id": "8d8ac610-566d-4ef0-9c22-186b2a5ed793", "round": 1}
    return [encode({**head, "operation": one}) for several in made.values() for one in several[:4]]


@cache
def journal_file() -> Sequence[bytes]:
    from tests.journal.vocabulary import Cards, append, open_journal

    with closing(open_journal(folder() / "seed")) as journal:
        append(journal, 1)
        journal.save(Cards())
        append(journal, 2)
    return [journal.path.read_bytes()]


# -- the readers --------------------------------------------------------------------------------------------------


def take(state: TableState, given: AnyInput) -> None:
    """Decide the input and examine the result, as a daemon does."""
    decided = decide(state, given)
    written = table_codec().encode(1, given, decided.events, 1)
    for body in (written.input, *written.events):
        assert body.isascii() or body.decode("utf-8")
    numbered = tuple(enumerate(decided.events, start=state.entry + 2))
    encode(view_of(fold(state, numbered), LinkView()))


def listen(make: Callable[[], Driver], data: bytes) -> None:
    """Feed the bytes in pieces, as time passes. What the driver hears reaches a table."""
    driver = make()
    state = tables()[0].state
    now = 0.0
    for start in range(0, len(data), 61):
        now += 0.05
        for heard in (*driver.receive(data[start : start + 61], now), *driver.tick(now)):
            state = _hear(driver, heard, state, now)
        driver.outgoing()
    for later in (1.0, 5.0, 60.0):
        assert all(isinstance(heard, get_args(Heard)) for heard in driver.tick(now + later))


def _hear(driver: Driver, heard: Heard, state: TableState, now: float) -> TableState:
    given = input_of(heard)
    take(state, given)
    if isinstance(heard, Reported):
        driver.acknowledge(heard.boot, heard.number, now)
    return fold(state, tuple(enumerate(decide(state, given).events, start=state.entry + 2)))


class ClientLine(asyncio.Transport):
    """The connection of a USB/IP client that reads everything."""

    def write(self, data: object) -> None:
        assert data

    def abort(self) -> None:
        """Do nothing: the connection closes itself."""

    close = abort


def attach(data: bytes) -> None:
    """Feed a USB/IP client's bytes to a device that is plugged in."""

    async def said() -> None:
        usb = UsbDeviceSide(UsbDescription("SHOE-9"))
        front = UsbIpFront(UsbFront(made_device(), usb), usb)
        await front.plug()
        connection = UsbipConnection(front)
        connection.connection_made(ClientLine())
        for start in range(0, len(data), 61):
            connection.data_received(data[start : start + 61])
        connection.connection_lost(None)
        await front.close()

    asyncio.run(said())


def usbip_client() -> Sequence[bytes]:
    """Return client sessions: one asks for the list, one attaches a device, configures it, reads, writes, and cancels a
    read.
    """

    def submit(number: int, inward: int, endpoint: int, length: int, setup: bytes = b"") -> bytes:
        return struct.pack(">5IIiIII8s", 1, number, 0x10002, inward, endpoint, 0, length, 0, 0, 0, setup)

    wanted = struct.pack(">HHI32s", 0x0111, 0x8003, 0, b"1-1")
    configured, read = submit(1, 0, 0, 0, b"\x00\x09\x01"), submit(2, 1, 1, 512)
    written = submit(3, 0, 1, 5) + b"\xc0\x01\x02\x03\xc0"
    called_off = struct.pack(">5II24s", 2, 4, 0x10002, 0, 0, 2, b"")
    return [struct.pack(">HHI", 0x0111, 0x8005, 0), wanted + configured + read + written + called_off]


def driver_of(name: str) -> Callable[[], Driver]:
    def make() -> Driver:
        setting = DriverSetting(
            bytes([1]) * 16, DeviceLine("SHOE-9"), lambda serial: None, (0, 0), card_table(), True, replayed=True
        )
        return load_driver(name)(setting, 0.0)

    return make


@cache
def card_table() -> dict[str, Card]:
    return read_card_table(CARD_TABLE)


def host_side(data: bytes) -> None:
    listen(driver_of("cardlink"), in_frames(data))


def made_device() -> SimulatedDevice:
    profile = Profile("shuffler", "SHOE-9", full_capabilities("shuffler"))
    return SimulatedDevice(profile, key=bytes(32), random=Random(1), fresh=Random(2), clock=lambda: 0.0, pace=Tempo(0))


def device_side(data: bytes) -> None:
    device = made_device()
    device.link.on_command = lambda command_id, order: None  # type: ignore[attr-defined]  # what moves needs a loop
    device.receive(data)
    device.tick()
    device.outgoing()


def run_click(command: click.Command, arguments: Sequence[str]) -> None:
    """Run a command of the program, as `cardshoe` does. Its reported problems are its contract."""
    with redirect_stdout(io.StringIO()), redirect_stderr(io.StringIO()):
        command.main(list(arguments), standalone_mode=False)


def show_capture(data: bytes) -> None:
    path = str(in_file("a.capture", data))
    which = len(data) % 3
    ways = (["show", path], ["show", "--json", "--faces", path], ["replay", "--fast", path])
    run_click(capture_command, [*ways[which], "--card-table", str(CARD_TABLE)])


def play_scenario(data: bytes) -> None:
    for _ in play(read_scenario("fuzzed", data.decode("utf-8", "replace"))):
        pass


def read_entry(data: bytes) -> None:
    """Read an entry. The first byte decides whether it is read as an input."""
    codec = table_codec()
    sealed = codec.encode(1, RefusedAtDoor("reader", 1, 1), [], 1).sealed
    if data[:1] == b"i":
        codec.decode_input(1, data[1:], sealed)
    else:
        codec.decode_events(1, [data[1:]], sealed, 1)


def read_journal(data: bytes) -> None:
    from tests.journal.vocabulary import LOCAL_KEY, TYPES

    path = in_file("a.journal", data)
    reader: JournalReader[Any, Any] = JournalReader.open_to_read(path, TYPES, local_key=LOCAL_KEY)
    with closing(reader):
        list(reader.decisions())
        list(reader.entries())
        reader.opening_state()
        reader.checkpoint()
        reader.verify()


def operate(data: bytes) -> None:
    request = decode_request(data)
    UUID(request.id)
    for table in tables():
        for role in (Role.DEALER, Role.SHIFT_MANAGER):
            take(table.state, PersonActed(request.id, "pat", role, request.round, request.operation))


def evaluate(data: bytes) -> None:
    """Run `evaluate`. Each line is an option; the first is the game."""
    lines = [line for line in data.decode("utf-8", "replace").split("\n") if line]
    run_click(evaluate_command, lines)


EVALUATIONS: Final = (
    b"NC\n--player\nKD 10C 2H\n--dealer\nAS AD AC",
    b"TP\n--player\n3: KD 10C 2H\n--player\nQS JS 9C\n--dealer\nAS AD AC\n--wager\n3: ann: tie=5\n--wager\npairs=2",
    b"F3\n--player\nKD,TC,2H\n--banker\n9S 9D 9C\n--json\n--reading\nno_hand=bets_lose",
    b"P3\n--player\nkd10c2h\n--dealer\nAS AD AC\n--wager\nante=5",
)
URLS: Final = (
    b"serial:///dev/cardshoe/SHOE-1?baud=9600&driver=bee_tek&listen=1", b"usb:///1209:0001/CARDSHOE-0042",
    b"tcp://192.168.1.9:4001/?driver=angel_eye&arm=1", b"tcp://[::1]:4001/", b"sim:///shuffler?seed=7",
    b"serial:///dev/serial/by-id/usb-A%20B",
)  # fmt: skip


def read_url(data: bytes) -> None:
    url = parse_device_url(data.decode("utf-8", "replace"))
    assert parse_device_url(str(url)) == url


def read_tokens(data: bytes) -> None:
    """Try every way to read a line, one after the other."""
    tokens = Tokens(data.decode("utf-8", "replace").split())
    for read in (tokens.cards, tokens.place, tokens.maybe_place, tokens.places, tokens.wager, tokens.facts):
        with suppress(UnreadableLineError):
            read()
    with suppress(UnreadableLineError):
        tokens.numbers("a number")
    tokens.done()


def configurations() -> Sequence[bytes]:
    """Return the examples of the pages, complete and with each section that may be added."""
    pages = ("docs/configuration.md", "docs/captures.md")
    whole, *more = [block for page in pages for block in _TOML.findall((ROOT / page).read_text())]
    return [text.encode() for text in (whole, *(whole + one for one in more if "[cards]" not in one))]


def card_tables() -> Sequence[bytes]:
    lines = [f'{card.code} = ["{tag}"]' for tag, card in card_table().items() if tag.endswith("0000")]
    return ["\n".join(["[cards]", *lines]).encode()]


_TOML: Final = re.compile(r"```toml\n(.*?)```", re.DOTALL)
TARGETS: Final = (
    Target("cardlink frames", lambda data: FrameReader().receive(data), (), from_device("cardlink"), 2000),
    Target("cardlink host", lambda data: listen(driver_of("cardlink"), data), (), from_device("cardlink"), 40),
    Target("cardlink messages", host_side, (), contents(from_device("cardlink-s")), 60),
    Target("cardlink device", device_side, (), to_device, 300),
    Target("cardlink orders", lambda data: device_side(in_frames(data)), (), contents(to_device), 300),
    Target("usbip client", attach, (), usbip_client, 200),
    Target("angel_eye", lambda data: listen(driver_of("angel_eye"), data), (), from_device("angel_eye"), 100),
    Target("bee_tek", lambda data: listen(driver_of("bee_tek"), data), (), from_device("bee_tek"), 100),
    Target("line_reader", lambda data: listen(driver_of("line_reader"), data), (), from_device("line_reader"), 100),
    Target("driver guess", detect_driver, (), from_device(""), 2000),
    Target("card table, CSV", lambda data: read_card_table(in_file("a.csv", data)), (CardTableError,),
           lambda: [CARD_TABLE.read_bytes()], 400),
    Target("card table, TOML", lambda data: read_card_table(in_file("a.toml", data)), (CardTableError,),
           card_tables, 400),
    Target("device keys", lambda data: read_device_keys(in_file("device.keys", data)), (KeyFileError,),
           lambda: [b"SHOE-1 " + b"ab01" * 16 + b"\n# one\nSHOE-2 " + b"01ab" * 16 + b"\n"], 1000),
    Target("journal key", lambda data: load_key_file(in_file("journal.key", data)), (JournalError,),
           lambda: [b"ab" * 32 + b"\n"], 1000),
    Target("device URL", read_url, (BadDeviceUrlError,), lambda: URLS, 2000),
    Target("capture", show_capture, (click.ClickException,), files("*.capture", CAPTURES), 60),
    Target("journal row", read_entry, (JournalError,),
           lambda: [kind[:1].encode() + body for kind, body in kept_entries()], 1000),
    Target("journal file", read_journal, (JournalError,), journal_file, 150),
    Target("scenario", play_scenario, (BadScenarioError, DifferenceError),
           files("simulators/scenarios/[fn]*/*.scenario"), 40),
    Target("words of a scenario", read_tokens, (UnreadableLineError,),
           lambda: [line for text in files("simulators/scenarios/nc/*.scenario")() for line in text.splitlines()],
           2000),
    Target("card", lambda data: Card.parse(data.decode("utf-8", "replace")), (UnknownCardError,),
           lambda: [b"KD", b"10C", b" ts ", b"AS"], 2000),
    Target("configuration", lambda data: read_configuration(in_file("table.toml", data)), (ConfigurationError,),
           configurations, 200),
    Target("operation", operate, (msgspec.MsgspecError, ValueError), requests, 150),
    Target("hands to evaluate", evaluate, (click.ClickException,), lambda: EVALUATIONS, 100),
    Target("fault", lambda data: parse_fault(data.decode("utf-8", "replace")), (BadFaultError,),
           lambda: [b"jam@5", b"loss=0.01", b"delay=3", b"extra-card@1"], 2000),
)  # fmt: skip
BY_NAME: Final = {target.name: target for target in TARGETS}
