"""The port for screens in this process: time limits, places, and the end of a shift.

The sockets are real. Timeouts are shortened, never waited for.
"""

from __future__ import annotations

import asyncio
import errno
import gc
import json
import socket
from collections.abc import AsyncIterator
from contextlib import closing, suppress
from hashlib import sha256
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import msgspec
import pytest
import pytest_mock
from aiohttp import web

from controller.api import answers, connections, event_streams, screen_port, tcp_listener
from controller.api.callers import Caller, Turns
from controller.api.feed import Published
from controller.api.people import Acting, People, Person, PersonRefusedError
from controller.api.pins import PinDesk
from controller.api.refusals import Refusals
from controller.api.screen_port import WebServer, WebSetting
from controller.api.server import ApiServer
from controller.api.tcp_listener import PortRefusedError, TcpListener
from controller.api.view import LinkView
from controller.daemon.host import HostClock
from controller.daemon.table_service import TableService
from controller.journal.codec import Moment
from controller.roles import Role
from controller.table.model import Screen
from controller.table.screens import id_of
from controller.table.state import TableState
from tests.end_to_end.stage import short_folder
from tests.interfaces import test_listener, test_request_gate
from tests.interfaces.test_listener import Table
from tests.table import test_stale_screens

HOUR_NS = 3600 * 10**9
TOKEN = "5e" * 32
HASH = sha256(TOKEN.encode()).hexdigest()


class Served:
    """A server at a port, with one screen, and its clients."""

    def __init__(self, folder: Path) -> None:
        self.table = Table()
        self.table.state = TableState(screens=(Screen(id_of(HASH), "Left", HASH),))
        self.listener = TcpListener(0)
        self.port = self.listener.port
        self.people = People((Person("dana", "Dana", Role.DEALER),))
        setting = WebSetting(self.listener, "T-1", ())
        self.server = ApiServer(self.table, self.people, folder / "api.sock", HostClock().now, screens=setting)
        self.callers: list[test_listener.Caller] = []

    @property
    def head(self) -> bytes:
        return f"Host: localhost:{self.port}\r\nX-Cardshoe: 1\r\nContent-Type: application/json\r\n".encode()

    @property
    def cookie(self) -> bytes:
        return f"Cookie: cardshoe-T-1-{self.port}={TOKEN}\r\n".encode()

    async def call(self) -> test_listener.Caller:
        caller = test_listener.Caller(*await asyncio.open_connection("127.0.0.1", self.port))
        self.callers.append(caller)
        return caller

    async def ask(
        self, caller: test_listener.Caller, cookie: bytes = b"", path: bytes = b"/healthz"
    ) -> tuple[int, bytes]:
        await caller.say(b"GET %s HTTP/1.1\r\n%s%s\r\n" % (path, self.head, cookie))
        return await caller.answer()


@pytest.fixture
async def served() -> AsyncIterator[Served]:
    with short_folder() as folder:
        made = Served(folder)
        await made.server.start()
        yield made
        for caller in made.callers:
            await caller.close()
        await made.server.close()


@pytest.mark.parametrize("said", [b"", b"P", b"POST /v1/operations HTTP/1.1\r\nHost: local"])
async def test_a_silent_or_incomplete_connection_is_closed(
    served: Served, mocker: pytest_mock.MockerFixture, said: bytes
) -> None:
    mocker.patch.object(connections, "HEAD_WITHIN", 0.05)
    assert await (await (await served.call()).say(said)).ended() == b""


@pytest.mark.parametrize("path", [b"/v1/operations", b"/v1/screen/enrolment"])
async def test_half_a_body_is_refused(served: Served, mocker: pytest_mock.MockerFixture, path: bytes) -> None:
    """It comes from a screen, or from a browser that asks to become a screen."""
    mocker.patch.object(answers, "BODY_WITHIN", 0.05)
    mocker.patch.object(connections, "IDLE", 0.05)
    caller = await served.call()
    cookie = served.cookie if path == b"/v1/operations" else b""
    await caller.say(b"POST %s HTTP/1.1\r\n%s%sContent-Length: 999\r\n\r\n{" % (path, served.head, cookie))
    status, body = await caller.answer()
    assert (status, json.loads(body)["code"]) == (408, "too-slow")
    assert await caller.ended() == b""
    assert served.table.asked == []


async def test_a_body_in_chunks_is_refused(served: Served) -> None:
    caller = await served.call()
    head = b"POST /v1/screen/enrolment HTTP/1.1\r\n%sTransfer-Encoding: chunked\r\n\r\n" % served.head
    await caller.say(head + test_request_gate.CHUNKS)
    status, body = await caller.answer()
    assert (status, json.loads(body)["code"]) == (411, "chunked")


async def test_the_oldest_connection_without_a_screen_makes_room(
    served: Served, mocker: pytest_mock.MockerFixture
) -> None:
    mocker.patch.object(screen_port, "IN_ALL", 3)
    screen = await served.call()
    assert (await served.ask(screen, served.cookie))[0] == 200
    strangers = [await served.call() for _ in range(2)]
    for stranger in strangers:
        assert (await served.ask(stranger))[0] == 200
    newest = await served.call()
    assert await strangers[0].ended() == b""
    for one, cookie in ((newest, b""), (strangers[1], b""), (screen, served.cookie)):
        assert (await served.ask(one, cookie))[0] == 200


async def test_a_display_that_follows_keeps_its_place(served: Served, mocker: pytest_mock.MockerFixture) -> None:
    """Connections that ask for nothing, or for half of something, make room for one another."""
    mocker.patch.object(screen_port, "IN_ALL", 3)
    display = await (await served.call()).say(b"GET /v1/events HTTP/1.1\r\n%s\r\n" % served.head)
    await display.reader.readuntil(b": up to date")
    half = b"POST /v1/operations HTTP/1.1\r\n%sContent-Length: 99\r\n\r\n{" % served.head
    idle = [await (await served.call()).say(said) for said in (b"", b"GET / HT", half, half, half, half)]
    for one in idle[:4]:
        await one.ended()
    served.table.feed.publish([Published(1, b"{}")])
    assert b"data: {}" in await display.reader.readuntil(b"data: {}")


async def test_among_screens_the_one_with_most_connections_makes_room(
    served: Served, mocker: pytest_mock.MockerFixture
) -> None:
    mocker.patch.object(screen_port, "IN_ALL", 3)
    screens = [await served.call() for _ in range(3)]
    for screen in screens:
        assert (await served.ask(screen, served.cookie))[0] == 200
    newest = await served.call()
    assert await screens[0].ended() == b""
    assert (await served.ask(newest))[0] == 200


async def test_a_place_taken_before_the_connection_is_complete_is_given_up(served: Served) -> None:
    """Many come together, and one of them is the oldest."""
    acceptor = cast("WebServer", served.server._screens)._acceptor
    await served.ask(await served.call())
    connection = next(iter(acceptor._inside))
    late = connections.Connection(connection._inner, connection.caller, lambda: None)
    late.abort()
    transport = cast("asyncio.Transport", connection._transport)
    late.connection_made(transport)
    assert transport.is_closing()


async def test_the_number_of_following_displays_is_limited(served: Served, mocker: pytest_mock.MockerFixture) -> None:
    mocker.patch.object(event_streams, "DISPLAY_STREAMS", 2)
    for _ in range(2):
        caller = await (await served.call()).say(b"GET /v1/events HTTP/1.1\r\n%s\r\n" % served.head)
        assert b"Content-Security-Policy" in await caller.reader.readuntil(b": up to date")
    status, body = await served.ask(await served.call(), path=b"/v1/events")
    assert (status, json.loads(body)["code"]) == (503, "streams")
    screen = await (await served.call()).say(b"GET /v1/events HTTP/1.1\r\n%s%s\r\n" % (served.head, served.cookie))
    assert (await screen.reader.readuntil(b": up to date")).startswith(b"HTTP/1.1 200")


async def test_a_screen_learns_that_the_daemon_ends_in_order() -> None:
    with short_folder() as folder:
        served = Served(folder)
        await served.server.start()
        screen = await (await served.call()).say(b"GET /v1/screen HTTP/1.1\r\n%s%s\r\n" % (served.head, served.cookie))
        assert b"event: stopped" not in await screen.reader.readuntil(b"event: beat")
        await served.server.close()
        assert (await screen.reader.read()).count(b"event: stopped\ndata: {}\n\n") == 1
        await screen.close()


def test_a_machine_without_the_second_address_has_the_first(mocker: pytest_mock.MockerFixture) -> None:
    listen = tcp_listener._listen_at

    def without(family: Any, address: str, port: int) -> Any:
        if address == "::1":
            raise OSError(errno.EADDRNOTAVAIL, "no such address")
        return listen(family, address, port)

    mocker.patch("controller.api.tcp_listener._listen_at", without)
    with closing(TcpListener(0)) as listener:
        assert [one.getsockname()[0] for one in listener.sockets] == ["127.0.0.1"]


def test_a_port_that_is_not_available_is_reported(mocker: pytest_mock.MockerFixture) -> None:
    mocker.patch("controller.api.tcp_listener._listen_at", side_effect=OSError(errno.EACCES, "denied"))
    with pytest.raises(PortRefusedError, match="port: 80 cannot be opened: Permission denied") as refused:
        TcpListener(80)
    assert "name another port" in str(refused.value.hint)


# -- a shift


class Clock:
    """A time of day that may be set, and a clock that advances."""

    def __init__(self) -> None:
        self.utc_ns, self.boottime_ns = 10**18, 5 * HOUR_NS

    def now(self) -> Moment:
        return Moment(self.utc_ns, self.boottime_ns)


async def test_a_changed_clock_does_not_extend_a_shift() -> None:
    clock = Clock()
    until = clock.utc_ns + 10 * HOUR_NS
    state = TableState(screens=(Screen("left", "Left", "", "dana", until), Screen("right", "Right", "")))
    writer = SimpleNamespace(folder=Path("nowhere"), reader=None)
    service = TableService("T-1", state, cast("Any", writer), cast("Any", clock), LinkView, cast("Any", None))
    service.shifts.length_ns = 10 * HOUR_NS
    assert [service.stands_for(Caller(screen=one)) for one in ("left", "right", "none", "")] == ["dana", "", "", ""]
    clock.utc_ns -= 100 * HOUR_NS
    clock.boottime_ns += 10 * HOUR_NS - 1
    assert service.stands_for(Caller(screen="left")) == "dana"
    clock.boottime_ns += 1
    assert service.stands_for(Caller(screen="left")) == ""
    service.close()


@pytest.mark.parametrize("people", [(), (Person("dana", "Dana", Role.PIT_SUPERVISOR),)])
async def test_a_person_who_is_not_a_configured_dealer_is_not_signed_on(people: tuple[Person, ...]) -> None:
    """The daemon was restarted without that dealer, or with another rank for the person."""
    with pytest.raises(PersonRefusedError) as refused:
        await People(people).identify(Caller(screen="left"), "", "", cast("PinDesk", None), "dana")
    assert refused.value.code == "not-signed-on"


async def test_the_dealer_signed_on_acts_at_the_screen_without_a_pin() -> None:
    people = People((Person("dana", "Dana", Role.DEALER),))
    acting = await people.identify(Caller(screen="left"), "", "", cast("PinDesk", None), "dana")
    assert acting == Acting("dana", Role.DEALER, None, "screen", "left")


class Waiting:
    """An operation that waits for its turn at a screen until `go`."""

    def __init__(self, mocker: pytest_mock.MockerFixture) -> None:
        self.waits, self.go = asyncio.Event(), asyncio.Event()
        begin = Turns.begin_operation

        async def begin_later(turns: Turns, caller: Caller) -> None:
            self.waits.set()
            await self.go.wait()
            await begin(turns, caller)

        mocker.patch.object(Turns, "begin_operation", begin_later)

    async def enter(self, served: Served) -> test_listener.Caller:
        caller = await served.call()
        body = json.dumps(test_listener.PAUSE).encode()
        head = b"POST /v1/operations HTTP/1.1\r\n%s%sContent-Length: %d\r\n\r\n"
        await caller.say(head % (served.head, served.cookie, len(body)) + body)
        async with asyncio.timeout(60):
            await self.waits.wait()
        return caller


async def test_an_operation_that_waits_until_the_shift_is_over_is_refused(
    served: Served, mocker: pytest_mock.MockerFixture
) -> None:
    stands_for = mocker.patch.object(served.table, "stands_for", return_value="dana")
    waiting = Waiting(mocker)
    caller = await waiting.enter(served)
    stands_for.return_value = ""
    waiting.go.set()
    status, body = await caller.answer()
    assert (status, json.loads(body)["code"], served.table.asked) == (403, "not-signed-on", [])


@pytest.mark.parametrize("people", [(), (Person("dana", "Dana", Role.PIT_SUPERVISOR),)])
async def test_a_waiting_operation_of_a_removed_person_is_refused(
    served: Served, mocker: pytest_mock.MockerFixture, people: tuple[Person, ...]
) -> None:
    """The person may also get another rank."""
    mocker.patch.object(served.table, "stands_for", return_value="dana")
    waiting = Waiting(mocker)
    caller = await waiting.enter(served)
    served.people.change(people, ())
    waiting.go.set()
    status, body = await caller.answer()
    assert (status, json.loads(body)["code"], served.table.asked) == (403, "person", [])


async def test_an_operation_that_waits_within_the_shift_is_taken(
    served: Served, mocker: pytest_mock.MockerFixture
) -> None:
    mocker.patch.object(served.table, "stands_for", return_value="dana")
    waiting = Waiting(mocker)
    caller = await waiting.enter(served)
    waiting.go.set()
    assert (await caller.answer())[0] == 200
    assert [by.person for _, by in served.table.asked] == ["dana"]


async def test_a_strangers_input_is_quoted_and_not_translated(served: Served) -> None:
    """A request that cannot be read, from a browser without a cookie, in a translated language."""
    caller = await served.call()
    for number in range(20):
        field = f"box {number} and card 1 from {'a, ' * 200}"
        body = json.dumps({field: "x"}).encode()
        head = b"POST /v1/screen/enrolment?language=zh-Hans HTTP/1.1\r\n%sContent-Length: %d\r\n\r\n"
        await caller.say(head % (served.head, len(body)) + body)
        status, answer = await caller.answer()
        found = json.loads(answer)
        assert (status, found["code"]) == (400, "bad-request")
        assert found["sentence"] == "无法读取请求。请改正后重发。"
        assert f"box {number} and card 1" in found["detail"]


async def second_request(
    served: Served, table: test_stale_screens.Screens, operation: dict[str, object], person: str
) -> str:
    """Return the code for the second request of what was requested once at the screen, without a PIN."""
    served.table.state = table.state
    served.table.utc_ns = lambda: table.utc_ns  # type: ignore[method-assign]  # soon after the first
    asked = {
        "id": test_listener.PAUSE["id"],
        "round": table.state.round.number,
        "operation": operation,
        "person": person,
    }
    body = json.dumps(asked | {"repeats": test_stale_screens.asked(table)}).encode()
    caller = await served.call()
    head = b"POST /v1/operations HTTP/1.1\r\n%s%sContent-Length: %d\r\n\r\n"
    await caller.say(head % (served.head, served.cookie, len(body)) + body)
    return str(json.loads((await caller.answer())[1])["code"])


def requested(what: str) -> test_stale_screens.Screens:
    """Return screens after the first request, made at the server's screen."""
    table = test_stale_screens.prepared(what)
    table.screen = id_of(HASH)
    table.state = msgspec.structs.replace(table.state, screens=(Screen(id_of(HASH), "Left", HASH),))
    test_stale_screens.ASKS[what](table)
    return table


@pytest.mark.parametrize(("person", "code"), [("dealer", "pin"), ("", "not-signed-on")])
async def test_a_dealer_whose_shift_is_over_gives_no_second_signature(served: Served, person: str, code: str) -> None:
    """The first request used the sign-on instead of a PIN, which therefore does not serve both."""
    served.people.change((Person("dealer", "Dana", Role.DEALER),), ())
    assert await second_request(served, requested("conclude"), {"operation": "conclude_round"}, person) == code
    assert served.table.asked == []


@pytest.mark.parametrize(
    ("role", "code"),
    [(Role.PIT_SUPERVISOR, ""), (Role.DEALER, "pin"), (None, "person")],
    ids=["there", "demoted", "gone"],
)
async def test_a_removed_person_gives_no_second_signature(served: Served, role: Role | None, code: str) -> None:
    served.people.change((Person("sam", "Sam", role),) if role is not None else (), ())
    table = requested("void")
    confirm = {"operation": "confirm_irregularity", "irregularity": table.open.id, "revision": table.open.revision}
    assert await second_request(served, table, confirm, "sam") == code
    assert [by.person for _, by in served.table.asked] == ([] if code else ["sam"])


async def kept(what: str, caller: Caller, count: int) -> None:
    raise AssertionError("nobody is refused")


async def asked(request: web.BaseRequest) -> web.StreamResponse:
    raise AssertionError("nothing is asked")


@pytest.mark.parametrize("end", ["close", "end_all"])
async def test_a_connection_that_ends_before_it_is_made_leaves_no_socket_and_no_failed_task(end: str) -> None:
    """A port that is full ends connections this early, and so does a server that stops."""
    loop = asyncio.get_running_loop()
    reported: list[dict[str, Any]] = []
    loop.set_exception_handler(lambda _, context: reported.append(context))
    listener = TcpListener(0)
    acceptor = screen_port.PortAcceptor(listener, Refusals(kept, HostClock().now))
    acceptor.open(web.Server(asked))
    with closing(listener), socket.create_connection(("127.0.0.1", listener.port)) as client:
        for listening in listener.sockets:
            acceptor._accept(listening)
        getattr(acceptor, end)()
        client.setblocking(False)
        with suppress(ConnectionResetError):
            assert await loop.sock_recv(client, 1) == b""
        acceptor.close()
        gc.collect()
    assert reported == []
