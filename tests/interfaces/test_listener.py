"""The listener of the API: admission, time limits, socket paths, and reports of refusals.

The sockets are real, with the server in this process. Timeouts are shortened: a test waits for an act of the server,
never for a time.
"""

from __future__ import annotations

import asyncio
import errno
import gzip
import json
import os
from collections.abc import AsyncIterator
from contextlib import suppress
from pathlib import Path

import pytest
import pytest_mock
import structlog.testing

from controller.api import answers, callers, connections, event_streams, unix_socket
from controller.api.bodies import OperationAnswer, OperationRequest
from controller.api.feed import EventFeed, Published
from controller.api.people import Acting, People, Person, Reader
from controller.api.refusals import BURST
from controller.api.server import ApiServer
from controller.api.view import LinkView, TableView, view_of
from controller.daemon.host import HostClock
from controller.roles import Role
from controller.table.model import PinLock
from controller.table.offers import Offer
from controller.table.state import TableState
from tests.end_to_end.stage import short_folder

OWN = os.geteuid()
ANOTHER = OWN + 4711
JOURNAL = "0a1b"
PAUSE = {"id": "7c9e6679-7425-40de-944b-e07fc1f90ae7", "round": 0, "operation": {"operation": "resume_table"}}


class Table:
    """A table that answers and remembers its requests. `refuses`: it refuses every operation as new."""

    def __init__(self) -> None:
        self.feed = EventFeed(self._read)
        self.journal = JOURNAL
        self.entry = 0
        self.state = TableState()
        self.refuses = False
        self.asked: list[tuple[str, Acting]] = []
        self.refused: list[tuple[str, int | None, int]] = []

    async def _read(self, after: int, limit: int) -> list[Published]:
        return []

    def view(self) -> TableView:
        return view_of(self.state, self.link_view())

    def link_view(self) -> LinkView:
        return LinkView()

    def shown_by(self) -> object:
        return self.state

    def utc_ns(self) -> int:
        return 0

    def offers(self) -> tuple[Offer, ...]:
        return ()

    def stands_for(self, caller: callers.Caller) -> str:
        return ""

    def pin_lock(self, person: str, caller: callers.Caller) -> PinLock:
        return PinLock(person, caller.uid, screen=caller.screen)

    async def pin_tried(self, person: str, caller: callers.Caller, *, right: bool) -> None:
        raise NotImplementedError

    async def refused_at_door(self, what: str, caller: callers.Caller, count: int) -> None:
        self.refused.append((what, caller.uid, count))

    async def operate(self, request: OperationRequest, by: Acting) -> OperationAnswer:
        self.asked.append((request.id, by))
        self.entry += 1
        return OperationAnswer(not self.refuses, self.entry, "phase" if self.refuses else "")

    async def answers(self) -> bool:
        return True


class Caller:
    """A client that writes bytes and reads them."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader, self.writer = reader, writer

    async def say(self, data: bytes) -> Caller:
        self.writer.write(data)
        await self.writer.drain()
        return self

    async def ask(self, verb: str, path: str, body: bytes = b"") -> tuple[int, bytes]:
        head = f"{verb} {path} HTTP/1.1\r\nHost: table\r\nContent-Length: {len(body)}\r\n\r\n"
        await self.say(head.encode() + body)
        return await self.answer()

    async def answer(self) -> tuple[int, bytes]:
        head = await self.reader.readuntil(b"\r\n\r\n")
        length = int(head.lower().partition(b"content-length: ")[2].partition(b"\r\n")[0])
        return int(head.split()[1]), await self.reader.readexactly(length)

    async def operate(self, **fields: object) -> tuple[int, str]:
        status, body = await self.ask("POST", "/v1/operations", json.dumps(PAUSE | fields).encode())
        return status, json.loads(body)["code"]

    async def ended(self) -> bytes:
        """Read until the server ends the connection."""
        try:
            return await self.reader.read()
        except ConnectionError:
            return b""

    async def close(self) -> None:
        self.writer.close()
        with suppress(ConnectionError):
            await self.writer.wait_closed()


class Served:
    """A server at a socket, and its clients."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / "api.sock"
        self.table = Table()
        self.callers: list[Caller] = []

    async def start(self, *, people: tuple[int, ...] = (OWN,), readers: tuple[int, ...] = ()) -> None:
        known = People(
            (Person("dana", "Dana", Role.DEALER, uids=people),), (Reader("wall", readers),) if readers else ()
        )
        self.server = ApiServer(self.table, known, self.path, HostClock().now)
        await self.server.start()

    async def call(self) -> Caller:
        caller = Caller(*await asyncio.open_unix_connection(str(self.path)))
        self.callers.append(caller)
        return caller


@pytest.fixture
async def served() -> AsyncIterator[Served]:
    with short_folder() as folder:
        served = Served(folder)
        yield served
        for caller in served.callers:
            await caller.close()
        await served.server.close()


# -- admission


async def test_a_refused_user_is_told_before_sending_anything(served: Served) -> None:
    """However much the user sends, none of it is parsed as HTTP."""
    await served.start(people=(ANOTHER,))
    served.server._acceptor._own = ANOTHER  # as if the daemon were another user's
    for said in (b"", b"GET /healthz HTTP/1.1\r\nHost: table\r\n\r\n", b"x" * 200_000):
        caller = await served.call()
        caller.writer.write(said)
        status, body = await caller.answer()
        assert (status, json.loads(body)["code"]) == (403, "not-admitted")
    await asyncio.gather(*served.server._refusals._telling)
    assert served.table.refused == [("not-admitted", OWN, 1)]


async def test_the_daemons_own_user_may_ask_for_health_and_nothing_else(served: Served) -> None:
    await served.start(people=(ANOTHER,))
    caller = await served.call()
    assert await caller.ask("GET", "/healthz") == (200, b"ok\n")
    for verb, path in (("GET", "/v1/events"), ("GET", "/v1/state"), ("POST", "/v1/operations"), ("POST", "/nowhere")):
        status, body = await caller.ask(verb, path)
        assert (status, json.loads(body)["code"]) == (403, "not-admitted")


async def test_a_reader_looks_and_does_not_operate(served: Served) -> None:
    await served.start(people=(ANOTHER,), readers=(OWN,))
    caller = await served.call()
    assert (await caller.ask("GET", "/healthz"))[0] == 200
    assert await caller.operate() == (403, "reader")
    assert await caller.operate(person="dana") == (403, "reader")
    assert served.table.asked == []
    await caller.say(b"GET /v1/events HTTP/1.1\r\nHost: table\r\n\r\n")
    assert (await caller.reader.readuntil(b": up to date")).startswith(b"HTTP/1.1 200")


async def test_the_connections_of_one_user_are_limited(served: Served, mocker: pytest_mock.MockerFixture) -> None:
    mocker.patch.object(unix_socket, "OF_ONE_USER", 3)
    await served.start()
    first = [await served.call() for _ in range(3)]
    for caller in first:
        assert (await caller.ask("GET", "/healthz"))[0] == 200
    more = await served.call()
    status, body = await more.answer()
    assert (status, json.loads(body)["code"]) == (503, "connections")
    await first[0].close()
    while True:  # until the server has noticed the closed one
        again = await served.call()
        if (await again.ask("GET", "/healthz"))[0] == 200:
            break


async def test_places_are_kept_for_the_daemons_own_user(served: Served, mocker: pytest_mock.MockerFixture) -> None:
    mocker.patch.object(unix_socket, "IN_ALL", unix_socket.KEPT_FOR_HEALTH)
    await served.start()
    assert (await (await served.call()).ask("GET", "/healthz"))[0] == 200
    served.server._acceptor._own = ANOTHER
    status, body = await (await served.call()).answer()
    assert (status, json.loads(body)["code"]) == (503, "connections")


async def test_the_health_connection_does_not_count(served: Served, mocker: pytest_mock.MockerFixture) -> None:
    """It is not closed when idle either."""
    mocker.patch.object(unix_socket, "IN_ALL", 0)
    mocker.patch.object(connections, "HEAD_WITHIN", 0.0)
    mocker.patch.object(connections, "IDLE", 0.0)
    await served.start(people=(ANOTHER,))
    health = Caller(*await asyncio.open_connection(sock=await served.server.own_connection()))
    served.callers.append(health)
    for _ in range(3):
        assert await health.ask("GET", "/healthz") == (200, b"ok\n")
        assert (await (await served.call()).answer())[0] == 503


# -- timeouts


@pytest.mark.parametrize(
    "said",
    [
        b"",
        b"P",
        b"POST /v1/operations HTTP/1.1\r\nHost: ta",
    ],
)
async def test_a_silent_or_incomplete_connection_is_closed(
    served: Served, mocker: pytest_mock.MockerFixture, said: bytes
) -> None:
    mocker.patch.object(connections, "HEAD_WITHIN", 0.05)
    await served.start()
    caller = await (await served.call()).say(said)
    assert await caller.ended() == b""


async def test_half_a_body_is_refused(served: Served, mocker: pytest_mock.MockerFixture) -> None:
    mocker.patch.object(answers, "BODY_WITHIN", 0.05)
    mocker.patch.object(connections, "IDLE", 0.05)
    await served.start()
    caller = await served.call()
    await caller.say(b"POST /v1/operations HTTP/1.1\r\nHost: table\r\nContent-Length: 999\r\n\r\n{")
    status, body = await caller.answer()
    assert (status, json.loads(body)["code"]) == (408, "too-slow")
    assert await caller.ended() == b""
    assert served.table.asked == []


async def test_a_connection_with_too_large_a_request_is_closed(served: Served) -> None:
    await served.start()
    caller = await served.call()
    head = b"POST /v1/operations HTTP/1.1\r\nHost: table\r\nContent-Length: 9999999\r\n\r\n"
    with suppress(ConnectionError):
        await caller.say(head + b"x" * (connections.OF_ONE_REQUEST + 1))
        assert b"200" not in await caller.ended()
    assert served.table.asked == []


async def test_a_connection_idle_between_requests_is_closed(served: Served, mocker: pytest_mock.MockerFixture) -> None:
    mocker.patch.object(connections, "IDLE", 0.05)
    await served.start()
    caller = await served.call()
    assert await caller.operate() == (200, "")
    assert await caller.ended() == b""


async def test_a_second_request_has_the_time_limit_of_the_first(
    served: Served, mocker: pytest_mock.MockerFixture
) -> None:
    """The time limit of an idle connection would be longer."""
    await served.start()
    caller = await served.call()
    assert await caller.operate() == (200, "")
    mocker.patch.object(connections, "HEAD_WITHIN", 0.05)
    await caller.say(b"POST /v1")
    assert await caller.ended() == b""


async def test_a_stream_that_is_not_read_is_ended(served: Served, mocker: pytest_mock.MockerFixture) -> None:
    mocker.patch.object(event_streams, "WRITE_WITHIN", 0.05)
    await served.start()
    caller = await (await served.call()).say(b"GET /v1/events HTTP/1.1\r\nHost: table\r\n\r\n")
    await caller.reader.readuntil(b": up to date")
    caller.writer.transport.pause_reading()  # type: ignore[attr-defined]  # a socket's transport reads
    async with asyncio.timeout(60):
        entry = 0
        while served.server._shared.streams._streams:
            entry += 1
            served.table.feed.publish([Published(entry, b"x" * 50_000)])
            await asyncio.sleep(0)


async def test_a_follower_that_disconnects_frees_its_place_immediately(served: Served) -> None:
    """No event at the table would reveal it."""
    await served.start()
    for _ in range(3 * event_streams.STREAMS):
        caller = await (await served.call()).say(b"GET /v1/events HTTP/1.1\r\nHost: table\r\n\r\n")
        await caller.reader.readuntil(b": up to date")
        await caller.close()
        async with asyncio.timeout(60):
            await asyncio.gather(*served.server._shared.streams._streams)


@pytest.mark.parametrize("waits", ["take", "begin_operation"])
async def test_a_pending_request_ends_when_its_client_disconnects(
    served: Served, mocker: pytest_mock.MockerFixture, waits: str
) -> None:
    """Otherwise a client that connects, asks and hangs up in a loop would fill the memory."""
    await served.start()
    waiting, ended = asyncio.Event(), asyncio.Event()

    async def wait(uid: int) -> None:
        waiting.set()
        try:
            await asyncio.Event().wait()
        finally:
            ended.set()

    mocker.patch.object(served.server._socket.turns, waits, wait)
    caller = await served.call()
    body = json.dumps(PAUSE).encode()
    await caller.say(b"POST /v1/operations HTTP/1.1\r\nHost: table\r\nContent-Length: %d\r\n\r\n" % len(body) + body)
    await waiting.wait()
    await caller.close()
    async with asyncio.timeout(60):
        await ended.wait()
    assert served.table.asked == []


async def test_the_streams_of_one_user_are_limited(served: Served) -> None:
    await served.start()
    for _ in range(event_streams.STREAMS):
        caller = await (await served.call()).say(b"GET /v1/events HTTP/1.1\r\nHost: table\r\n\r\n")
        await caller.reader.readuntil(b": up to date")
    status, body = await (await served.call()).ask("GET", "/v1/events")
    assert (status, json.loads(body)["code"]) == (503, "streams")


@pytest.mark.parametrize(
    ("after", "code"),
    [
        (f"{JOURNAL}:8", "after-the-end"),
        ("8", "after-the-end"),
        ("0a1c:3", "other-journal"),
        ("0a1c:8", "other-journal"),
        ("0a1:0", "other-journal"),
    ],
)
async def test_a_follower_of_another_journal_is_told_where_to_begin(served: Served, after: str, code: str) -> None:
    """Such a follower would wait forever, or miss events."""
    await served.start()
    served.table.entry = 7
    caller = await served.call()
    await caller.say(f"GET /v1/events HTTP/1.1\r\nHost: table\r\nLast-Event-ID: {after}\r\n\r\n".encode())
    status, body = await caller.answer()
    answer = json.loads(body)
    assert (status, answer["code"]) == (409, code)
    assert (answer["journal"], answer["entry"]) == (JOURNAL, 7)
    where = f"Start with {JOURNAL}:0 to read all of it, or with {JOURNAL}:7 to read only what follows."
    assert answer["sentence"].endswith(where)
    assert not served.server._shared.streams._streams


@pytest.mark.parametrize("after", ["7", f"{JOURNAL}:7"])
async def test_an_id_names_the_journal(served: Served, after: str) -> None:
    await served.start()
    served.table.entry = 7
    caller = await served.call()
    await caller.say(f"GET /v1/events HTTP/1.1\r\nHost: table\r\nLast-Event-ID: {after}\r\n\r\n".encode())
    await caller.reader.readuntil(b": up to date")
    served.table.feed.publish([Published(number, b"{}") for number in (7, 8)])
    assert b"\r\nid: 0a1b:8\ndata: {}\n\n" in await caller.reader.readuntil(b"data: {}\n\n")


# -- no descriptors


async def test_without_a_descriptor_it_waits_and_logs_once(served: Served, mocker: pytest_mock.MockerFixture) -> None:
    mocker.patch.object(connections, "PAUSE", 0.0)
    await served.start()
    listener = served.server._acceptor._listener.socket
    refused = asyncio.Event()
    left = 5

    class Poor:
        """A listening socket in a process without free descriptors for the first attempts."""

        def accept(self) -> object:
            nonlocal left
            left -= 1
            if left >= 0:
                raise OSError(errno.EMFILE, os.strerror(errno.EMFILE))
            refused.set()
            return listener.accept()

        def fileno(self) -> int:
            return listener.fileno()

    served.server._acceptor._loop.remove_reader(listener)
    served.server._acceptor._listening = (Poor(),)  # type: ignore[assignment]  # it has the interface that is used
    served.server._acceptor._pause_accepting(0.0)
    with structlog.testing.capture_logs() as logs:
        caller = await served.call()
        assert (await caller.ask("GET", "/healthz"))[0] == 200
        await refused.wait()
    served.server._acceptor._loop.remove_reader(listener)
    served.server._acceptor._listening = (listener,)
    assert [(line["event"], line["what"]) for line in logs] == [("door.refused", "accept-failed")]
    await asyncio.gather(*served.server._refusals._telling)
    assert served.table.refused == [("accept-failed", None, 1)]


async def test_no_request_body_is_decompressed(served: Served) -> None:
    """A compressed body of a few bytes would become a large body."""
    await served.start()
    caller = await served.call()
    packed = gzip.compress(json.dumps(PAUSE).encode())
    head = "POST /v1/operations HTTP/1.1\r\nHost: table\r\nContent-Encoding: gzip\r\n"
    await caller.say(f"{head}Content-Length: {len(packed)}\r\n\r\n".encode() + packed)
    status, body = await caller.answer()
    assert (status, json.loads(body)["code"]) == (400, "bad-request")
    assert served.table.asked == []


# -- requests to the table


async def test_operations_that_the_table_refuses_are_limited(served: Served) -> None:
    """Accepted operations are not limited in number."""
    await served.start()
    caller = await served.call()
    for _ in range(2 * BURST):
        assert await caller.operate() == (200, "")
    served.table.refuses = True
    asked = len(served.table.asked)
    codes = [(await caller.operate())[1] for _ in range(BURST + 5)]
    assert codes == ["phase"] * BURST + ["refused-often"] * 5
    assert len(served.table.asked) == asked + BURST
    await asyncio.gather(*served.server._refusals._telling)
    assert served.table.refused == [("refused-often", OWN, 1)]


@pytest.mark.parametrize("spelling", ["{}", "{{{}}}", "urn:uuid:{}"])
async def test_an_id_is_the_same_however_it_is_written(served: Served, spelling: str) -> None:
    await served.start()
    caller = await served.call()
    for written in (str(PAUSE["id"]), str(PAUSE["id"]).upper(), str(PAUSE["id"]).replace("-", "")):
        assert await caller.operate(id=spelling.format(written)) == (200, "")
    assert {asked for asked, _ in served.table.asked} == {PAUSE["id"]}
    assert await caller.operate(id="7c9e") == (400, "bad-request")


@pytest.mark.parametrize("body", [b"Content-Length: 999\r\n\r\n{", b"Transfer-Encoding: chunked\r\n\r\n1\r\n{\r\n"])
async def test_a_client_that_hangs_up_in_mid_body_leaves_no_trace(
    served: Served, caplog: pytest.LogCaptureFixture, body: bytes
) -> None:
    await served.start()
    for _ in range(3):
        caller = await served.call()
        await caller.say(b"POST /v1/operations HTTP/1.1\r\nHost: table\r\n" + body)
        await caller.close()
    assert await (await served.call()).operate() == (200, "")
    assert caplog.records == []
