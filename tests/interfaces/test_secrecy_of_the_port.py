"""Two decks that differ only in face-down cards give every reader of a daemon the same bytes.

At the port and at the socket, for a display, an enrolled screen and a user, this covers states, streams, offers,
metrics, pages, cookies, refusals and the log; commitments are left out, and times and the port are the same. The daemon
also does the same work for both decks, line by line, so that no answer takes longer for one card than for another.
"""

from __future__ import annotations

import asyncio
import re
import sys
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from hashlib import sha256
from itertools import product
from os import getuid
from pathlib import Path
from random import Random
from types import FrameType
from typing import Any, Final
from uuid import UUID

import msgspec
import pytest
import pytest_mock
import structlog

from controller.api.pages import DOCUMENTS
from controller.api.people import People, Person
from controller.api.pins import SALT, hash_pin
from controller.api.screen_port import WebSetting
from controller.api.server import ApiServer
from controller.api.tcp_listener import TcpListener
from controller.api.view import LinkView
from controller.daemon.journal_start import load
from controller.daemon.journal_types import JOURNAL_TYPES
from controller.daemon.metrics_page import Disk, MetricsPage, disk_of
from controller.daemon.starting import FoldReport
from controller.daemon.table_service import TableService
from controller.games import GAMES
from controller.games.specification import Unit
from controller.journal.codec import Moment
from controller.journal.file import Identity
from controller.journal.signing import SigningKey
from controller.journal.store import Journal
from controller.journal.writer import JournalWriter
from controller.roles import Role
from controller.table import operations
from controller.table.events import AnyEvent
from controller.table.inputs import AnyInput, DaemonStarted
from controller.table.model import Screen
from controller.table.screens import id_of
from controller.table.state import TableState
from firmware_bridge.cards import Card
from firmware_bridge.messages import Message
from tests.architecture.sources import ROOT
from tests.end_to_end.stage import short_folder
from tests.interfaces.test_listener import Caller
from tests.interfaces.test_secrecy import (
    OverheardTable,
    overhear_a_deal,
    overhear_lost_links,
    two_decks,
    without_commitments,
)
from tests.support.journal_codec import JOURNAL_ID, LOCAL_KEY

TOKEN, NEW_TOKEN = "5e" * 32, "7a" * 32  # of the screen, and of the one that is enrolled
HASH: Final = sha256(TOKEN.encode()).hexdigest()
PIN: Final = "640917"
SECOND: Final = 10**9
FOR_PEOPLE: Final = ("/v1/lawful", "/v1/lawful?language=zh-Hans", "/v1/lawful?texts=messages", "/metrics")
"""Not for displays."""

USUAL: Final = {"NC": (Unit.SETS,), "F3": (Unit.SINGLES,)}  # counted in every run
FROM_A_PAGE: Final = "X-Cardshoe: 1\r\nContent-Type: application/json\r\n"


class Clock:
    """A clock that advances on request."""

    def __init__(self) -> None:
        self.passed = SECOND

    def now(self) -> Moment:
        return Moment(10**18 + self.passed, self.passed)


class NoKeeper:
    """A keeper that does nothing for the journal."""

    warnings: tuple[Message, ...] = ()

    def remember(self, given: AnyInput) -> None: ...

    async def committed(self, given: AnyInput, before: TableState, after: TableState) -> None: ...

    async def between_rounds(self, state: TableState) -> AnyInput | None: ...


class SentBefore:
    """The floor's publisher."""

    is_connected = True
    sent_up_to = 1


class NoNotifier:
    def tell(self, *lines: str) -> None: ...


class Reader:
    """One reader's input as it arrives. `cookie`: a screen's."""

    def __init__(self, call: Callable[[], Any], host: str) -> None:
        self._call = call
        self._host = host
        self.cookie = ""
        self.given: list[bytes] = []

    async def ask(self, verb: str, path: str, body: bytes = b"", more: str = "", until: bytes = b"") -> bytes:
        """Send a request. `until`: the end of the part of a stream that is kept."""
        caller = Caller(*await self._call())
        head = f"{verb} {path} HTTP/1.1\r\nHost: {self._host}\r\n{more}"
        head += f"Cookie: {self.cookie}\r\n" if self.cookie else ""
        await caller.say(f"{head}Connection: close\r\nContent-Length: {len(body)}\r\n\r\n".encode() + body)
        if until:
            said = await caller.reader.readuntil(until)
            said += await caller.reader.readuntil(b"\n\n") if until == b"event: beat" else b""
        else:
            said = await caller.ended()
        await caller.close()
        self.given.append(said)
        return said


class ServedTable:
    """The daemon's table with its server, in this process."""

    def __init__(self, folder: Path, writer: JournalWriter[AnyInput, AnyEvent], state: TableState) -> None:
        self.clock = Clock()
        self._link = LinkView(state="ready", age=0.25)
        self._service = TableService("T-1", state, writer, self.clock, lambda: self._link, NoKeeper())
        person = Person("sam", "Sam", Role.PIT_SUPERVISOR, hash_pin(PIN, bytes(SALT)), (getuid(),))
        listener = TcpListener(0)
        self.port = listener.port
        self._socket = folder / "api.sock"
        self._look_at_disk = disk_of(writer.folder)
        self._server = ApiServer(
            self._service,
            People((person,)),
            self._socket,
            self.clock.now,
            by_people=False,
            screens=WebSetting(listener, "T-1", ()),
            metrics=MetricsPage(self._service, lambda: self._link, self._disk, self.clock, SentBefore()),
        )
        at_port = lambda: asyncio.open_connection("127.0.0.1", self.port)  # noqa: E731
        at_socket = lambda: asyncio.open_unix_connection(str(self._socket))  # noqa: E731
        host = f"localhost:{self.port}"
        self.display, self.screen, self.stranger = (Reader(at_port, host) for _ in range(3))
        self.screen.cookie = f"cardshoe-T-1-{self.port}={TOKEN}"
        self.user = Reader(at_socket, "table")
        self.readers = (self.display, self.screen, self.user)

    def _disk(self) -> Disk:
        """Return a fixed disk, because its free space depends on other programs."""
        return self._look_at_disk()._replace(free=0)

    async def begin(self, given: AnyInput) -> None:
        assert isinstance(given, DaemonStarted)
        await self._service.begin(given)
        self._running = asyncio.create_task(self._service.run())
        await self._server.start()

    @property
    def state(self) -> TableState:
        return self._service.state

    async def take(self, given: AnyInput) -> None:
        await self._service._ask(given)
        self.clock.passed += SECOND

    async def look(self) -> None:
        """Read everything that changes with the table."""
        for reader in self.readers:
            for_people = FOR_PEOPLE if reader is not self.display else ()
            for path in (
                "/v1/state",
                "/v1/state?language=zh-Hans",
                "/v1/state?texts=messages",
                "/healthz",
                "/readyz",
                *for_people,
            ):
                await reader.ask("GET", path)
            for path in ("/v1/screen", "/v1/screen?language=zh-Hans", "/v1/screen?texts=messages"):
                await reader.ask("GET", path, until=b"event: beat")

    async def look_at_all(self) -> None:
        """Read everything, including what is read once. Refusals come last, because the journal records them."""
        for reader in self.readers:
            await reader.ask("GET", "/v1/events", until=b": up to date\n\n")
            await reader.ask("GET", "/v1/rounds/1")
            await reader.ask("GET", "/v1/rounds/1?language=zh-Hans")
            await reader.ask("GET", "/v1/rounds/1?texts=messages")
            await reader.ask("GET", "/v1/round")
        for path in DOCUMENTS:
            await self.display.ask("GET", path)
        for path in (*FOR_PEOPLE, f"/v1/operations/{UUID(int=1)}"):
            await self.display.ask("GET", path)
        await self.display.ask("POST", "/v1/operations", b"{}", FROM_A_PAGE)
        await self.stranger.ask("GET", "/v1/state", more="Origin: http://evil.example\r\n")
        asked = {"id": str(UUID(int=1)), "person": "sam", "pin": PIN, "name": "Right"}
        said = await self.stranger.ask("POST", "/v1/screen/enrolment", msgspec.json.encode(asked), FROM_A_PAGE)
        assert b"Set-Cookie: " in said

    async def end(self) -> None:
        await self._server.close()
        self._running.cancel()
        await asyncio.wait([self._running])
        self._service.close()

    def given(self) -> list[bytes]:
        """Return all readers' input in order, without what differs between runs: commitments, the date, the port."""
        everything = [said for reader in (*self.readers, self.stranger) for said in reader.given]
        told = [re.sub(rb"\r\nDate: [^\r]*", b"", said) for said in without_commitments(everything)]
        return [said.replace(b"%d" % self.port, b"PORT") for said in told]


@asynccontextmanager
async def served_table() -> AsyncIterator[ServedTable]:
    with short_folder() as folder:

        def opened() -> Journal[AnyInput, AnyEvent]:
            identity = Identity(JOURNAL_ID, "T1", simulated=True)
            journal: Journal[AnyInput, AnyEvent] = Journal.open(
                folder / "journal",
                JOURNAL_TYPES,
                local_key=LOCAL_KEY,
                identity=identity,
                signer=SigningKey(LOCAL_KEY),
                random=Random(1).randbytes,
            )
            report = FoldReport(NoNotifier(), lambda: 0.0, lambda: False)
            load(journal, Moment(10**18, SECOND), report)
            return journal

        writer = await JournalWriter.start(opened)
        table = ServedTable(folder, writer, TableState(screens=(Screen(id_of(HASH), "Left", HASH),)))
        try:
            yield table
        finally:
            await table.end()
            await writer.close()


LOOKS: Final = 6  # looks during a deal, at equal distances


async def overhear_the_port(course: OverheardTable) -> tuple[list[bytes], list[Any]]:
    """Return what all readers receive, and the log, while the inputs of that course come in."""
    inputs = [given for given, _ in course.steps]
    with structlog.testing.capture_logs() as logged:
        async with served_table() as table:
            await table.begin(inputs[0])
            for number, given in enumerate(inputs[1:], start=1):
                await table.take(given)
                if number % max(1, len(inputs) // LOOKS) == 0:
                    await table.look()
            assert table.state == msgspec.structs.replace(course.state, screens=table.state.screens)
            await table.look()
            await table.look_at_all()
            return table.given(), logged


@pytest.mark.parametrize(
    ("overhear", "game_id", "unit"),
    [
        (overhear_a_deal, "NC", Unit.SETS),
        (overhear_a_deal, "TP", Unit.SINGLES),
        (overhear_a_deal, "F3", Unit.SINGLES),
        (overhear_lost_links, "NC", Unit.SETS),
    ],
)
async def test_every_reader_is_given_the_same(
    mocker: pytest_mock.MockerFixture,
    overhear: Callable[[str, Unit, list[Card]], OverheardTable],
    game_id: str,
    unit: Unit,
) -> None:
    mocker.patch("secrets.token_hex", return_value=NEW_TOKEN)
    one, two = [await overhear_the_port(overhear(game_id, unit, deck)) for deck in two_decks()]
    for said, other in zip(one[0], two[0], strict=True):
        assert said == other
    assert one[1] == two[1] != [], "the log"
    assert any(b"cardshoe_cards_dealt_total{" in said for said in one[0])


async def test_a_shown_face_makes_the_outputs_differ(mocker: pytest_mock.MockerFixture) -> None:
    """Otherwise the test above would pass whatever readers receive."""
    mocker.patch("secrets.token_hex", return_value=NEW_TOKEN)
    found = []
    for deck in two_decks():
        course = overhear_a_deal("NC", Unit.SETS, deck)
        course.deny(Role.SHIFT_MANAGER)
        course.do(operations.ExposeHand("D"))
        found.append(await overhear_the_port(course))
    assert found[0][0] != found[1][0]


# -- the amount of work


class Work:
    """Counts the executed lines of the controller."""

    def __init__(self) -> None:
        self.lines = 0

    @contextmanager
    def counted(self) -> Iterator[None]:
        before = sys.gettrace()
        sys.settrace(self._enter)
        try:
            yield
        finally:
            sys.settrace(before)

    def _enter(self, frame: FrameType, event: str, argument: object) -> Any:
        return self._step if frame.f_code.co_filename.startswith(CONTROLLER) else None

    def _step(self, frame: FrameType, event: str, argument: object) -> Any:
        self.lines += event == "line"
        return self._step


CONTROLLER: Final = str(ROOT / "controller")


class WorkedTable(OverheardTable):
    """A table that counts the executed lines for each input and everything shown after it. `work`: lines by input."""

    def __init__(self, game_id: str, unit: Unit, deck: list[Card]) -> None:
        super().__init__(game_id, unit, deck)
        self.work: list[tuple[str, int]] = []

    def _take(self, given: AnyInput) -> None:
        work = Work()
        with work.counted():
            super()._take(given)
        self.work.append((type(given).__name__, work.lines))


@pytest.mark.parametrize(
    ("game_id", "unit"),
    [
        pytest.param(game_id, unit, marks=() if unit in USUAL.get(game_id, ()) else pytest.mark.exhaustive)
        for game_id, unit in product(GAMES, Unit)
    ],
)
def test_the_same_work_is_done(mocker: pytest_mock.MockerFixture, game_id: str, unit: Unit) -> None:
    mocker.patch("tests.interfaces.test_secrecy.OverheardTable", WorkedTable)
    done = []
    for deck in (two_decks()[0], *two_decks()):  # the first fills the caches
        table = overhear_a_deal(game_id, unit, deck)
        assert isinstance(table, WorkedTable)
        done.append(table.work)
    assert sum(lines for _, lines in done[1]) > 10_000
    assert done[1] == done[2]
