"""The API from outside: authentication, refusals, the same answer twice, and streams that resume exactly."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import AsyncIterator
from random import Random
from typing import Any

import aiohttp
import pytest
import pytest_mock

from controller.api import callers, serving
from controller.api.bodies import BEGINNING, EventId, OperationAnswer, OperationRequest, encode
from controller.api.client import HOST, ApiClient, TableUnreachableError
from controller.api.feed import EventFeed, Published
from controller.api.people import Acting, People, Person
from controller.api.server import ApiServer
from controller.api.view import LinkView, TableView
from controller.daemon.host import HostClock
from controller.roles import Role
from controller.table import operations
from controller.table.events import OperationRefused, OperationTaken
from controller.table.model import PinLock
from controller.table.offers import Offer
from controller.table.state import TableState
from simulators.people.crew import CREW
from tests.end_to_end.child import Orders
from tests.end_to_end.evidence import Evidence
from tests.end_to_end.processes import PATIENCE
from tests.end_to_end.stage import Stage, short_folder
from tests.support.noted import noted

DEALER, SUPERVISOR, MANAGER = CREW
UUID = "11111111-2222-4333-8444-555555555555"


@pytest.fixture
async def stage() -> AsyncIterator[Stage]:
    with short_folder() as folder:
        async with Stage(folder, rounds=2) as stage:
            yield stage


class Caller:
    """An HTTP client that shares no code with the product's own."""

    def __init__(self, stage: Stage) -> None:
        self._session = aiohttp.ClientSession(connector=aiohttp.UnixConnector(str(stage.socket)))
        self._stage = stage

    async def __aenter__(self) -> Caller:
        return self

    async def __aexit__(self, *error: object) -> None:
        await self._session.close()

    async def post(self, body: bytes) -> tuple[int, dict[str, Any]]:
        async with self._session.post(f"{HOST}/v1/operations", data=body) as response:
            text = await response.text()
            return response.status, json.loads(text) if text.startswith("{") else {"text": text}

    async def get_status(self, path: str, **headers: str) -> int:
        async with self._session.get(f"{HOST}{path}", headers=headers) as response:
            return response.status

    async def events(self, after: object, until: int) -> list[tuple[int, bytes]]:
        """Return the ids and data of the stream, up to that entry."""
        found: list[tuple[int, bytes]] = []
        async with self._session.get(f"{HOST}/v1/events", headers={"Last-Event-ID": str(after)}) as response:
            assert response.status == 200
            assert response.content_type == "text/event-stream"
            journal = None
            async for line in response.content:
                if line.startswith(b"id: "):
                    journal, _, written = line[4:].decode().strip().partition(":")
                    number = int(written)
                elif line.startswith(b"data: "):
                    found.append((number, line[6:]))
                    if number >= until:
                        break
        assert journal in (None, (await self._stage.state()).journal)
        return found


def said(operation: Any, *, person: str = "", pin: str = "", id_: str = UUID, round_number: int = 0) -> bytes:
    return encode(OperationRequest(id_, round_number, operation, person, pin))


@pytest.mark.parametrize(
    ("person", "pin", "code"),
    [
        ("supervisor", "111111", "pin"),
        ("supervisor", "", "pin"),
        ("manager", SUPERVISOR.pin, "pin"),
        ("stranger", "111111", "person"),
    ],
)
async def test_a_caller_without_proof_of_identity_is_refused(stage: Stage, person: str, pin: str, code: str) -> None:
    await stage.start_daemon()
    async with Caller(stage) as caller:
        status, answer = await caller.post(said(operations.PauseTable("lunch"), person=person, pin=pin))
        assert (status, answer["accepted"], answer["code"]) == (403, False, code)
        assert answer["sentence"].endswith(".")
        assert pin not in answer["sentence"] or not pin
        assert (await stage.state()).paused == ""
        status, answer = await caller.post(
            said(operations.PauseTable("lunch"), person="supervisor", pin=SUPERVISOR.pin)
        )
        assert (status, answer["accepted"]) == (200, True)
    assert (await stage.state()).paused == "lunch"


async def test_an_unprintable_text_reaches_neither_journal_nor_state(stage: Stage) -> None:
    reasons = ("\x1b[2J\x1b]0;x\x07", "lunch\u202e", "x" * 60_000)
    await stage.start_daemon()
    async with Caller(stage) as caller:
        before = await stage.state()
        for reason in reasons:
            with noted(repr(reason[:20])):
                status, answer = await caller.post(said(operations.PauseTable(reason)))
                assert (status, answer["code"]) == (400, "bad-request")
                assert "operation.reason" in answer["detail"]
                assert answer["detail"].isprintable()
                assert (await stage.state()).paused == before.paused == ""
    assert await stage.daemon.end() == 0
    assert b"x" * 1000 not in (stage.journal / "000001.journal").read_bytes()
    assert not any(reason in "".join(stage.daemon.err) for reason in reasons)


async def test_the_user_of_the_socket_stands_for_the_dealer_on_duty(stage: Stage) -> None:
    """The previous dealer is refused under his own name, and never taken for the one on duty, even after a restart."""
    await stage.start_device(dealer=False)
    await stage.start_daemon()
    over, pause = operations.TakeOver(), operations.PauseTable("lunch")
    resume = operations.ResumeTable()
    async with Caller(stage) as caller:
        for number, operation in enumerate((operations.DealerOn(), pause)):
            status, answer = await caller.post(said(operation, id_=f"{number}{UUID[1:]}"))
            assert (status, answer["accepted"]) == (200, True)
        assert (await stage.state()).dealer == "dealer"
        status, answer = await caller.post(said(over, person="supervisor", pin=SUPERVISOR.pin, id_="2" + UUID[1:]))
        assert (status, answer["accepted"]) == (200, True)
    await stage.kill_daemon()
    await stage.start_daemon()
    async with Caller(stage) as caller:
        status, answer = await caller.post(said(resume, id_="3" + UUID[1:]))
        assert (status, answer["code"]) == (403, "pin")
        assert answer["sentence"] == "Sam is on duty: enter the PIN for Sam, or name the person who acts instead."
        status, answer = await caller.post(said(resume, person="dealer", id_="4" + UUID[1:]))
        assert (status, answer["code"]) == (200, "not-on-duty")
        status, answer = await caller.post(said(resume, pin=SUPERVISOR.pin, id_="5" + UUID[1:]))
        assert (status, answer["accepted"]) == (200, True)
        status, answer = await caller.post(said(over, person="dealer", id_="6" + UUID[1:]))
        assert (status, answer["accepted"]) == (200, True)
        assert (await stage.state()).dealer == "dealer"
    assert await stage.daemon.end() == 0
    assert await stage.device.end() == 0
    taken = [(one.operation, one.person) for one in Evidence(stage).of(OperationTaken)]
    assert taken[-2:] == [("resume_table", "supervisor"), ("take_over", "dealer")]


async def test_a_peer_with_another_user_id_is_not_admitted(stage: Stage) -> None:
    """The name in the request does not matter."""
    stage.configure(uid=54321)
    await stage.start_daemon()
    async with Caller(stage) as caller:
        status, answer = await caller.post(said(operations.OpenTable(), person="supervisor", pin=SUPERVISOR.pin))
        assert (status, answer["code"]) == (403, "not-admitted")
        for path in ("/v1/state", "/v1/events", "/nowhere"):
            assert await caller.get_status(path) == 403
        assert await caller.get_status("/healthz") == 200  # it shows nothing about the table
    async with ApiClient(stage.socket) as client:
        with pytest.raises(TableUnreachableError, match="not admitted"):
            await client.state()


async def test_requests_that_are_not_understood(stage: Stage) -> None:
    bodies = (
        b"",
        b"{",
        b"[]",
        b"\xff\xfe",
        b'{"id": "1", "round": 0}',
        b'{"id": "1", "round": 0, "operation": {"operation": "fly"}}',
        b'{"id": "1", "round": 0, "operation": {"operation": "open_table", "wings": 2}}',
        b'{"id": "1", "round": 0, "operation": {"operation": "open_table"}, "role": "shift_manager"}',
        b'{"id": "1", "round": "x", "operation": {"operation": "open_table"}}',
        b'{"id": "1", "round": 0, "operation": {"operation": "expose_hand", "place": "D", "cards": ["ZZ"]}}',
    )
    await stage.start_daemon()
    async with Caller(stage) as caller:
        before = (await stage.state()).entry
        for body in bodies:
            with noted(repr(body)):
                status, answer = await caller.post(body)
                assert (status, answer["accepted"], answer["code"]) == (400, False, "bad-request")
                assert answer["sentence"] == "The request cannot be read. Correct it and send it again."
                assert (await stage.state()).entry == before


async def test_a_request_that_is_too_long(stage: Stage) -> None:
    await stage.start_daemon()
    async with Caller(stage) as caller:
        status, _ = await caller.post(said(operations.PauseTable("x" * 100_000)))
        assert status == 413
        assert await caller.get_status("/v1/state") == 200


async def test_the_same_id_gets_the_same_answer_across_a_restart(stage: Stage) -> None:
    """An operation is done once, accepted or refused, however often it is sent."""
    await stage.start_device(dealer=False)
    await stage.start_daemon()
    accepted, refused = said(operations.OpenTable()), said(operations.PlaceYourBets(), id_="2" + UUID[1:])
    async with ApiClient(stage.socket) as client:
        await stage.events_until(client, "status_agrees")
    async with Caller(stage) as caller:
        first = [await caller.post(accepted), await caller.post(refused)]
        again = [await caller.post(accepted), await caller.post(refused)]
        at_once = await asyncio.gather(*(caller.post(accepted) for _ in range(5)))
    await stage.kill_daemon()
    await stage.start_daemon()
    async with Caller(stage) as caller:
        later = [await caller.post(accepted), await caller.post(refused)]
    assert [(status, answer["accepted"]) for status, answer in first] == [(200, True), (200, False)]
    assert first[1][1]["code"] == "no-deck"
    assert first == again == later
    assert at_once == [first[0]] * 5
    assert await stage.daemon.end() == 0
    assert await stage.device.end() == 0
    evidence = Evidence(stage)
    assert [taken.operation_id for taken in evidence.of(OperationTaken)] == [UUID]
    assert len(evidence.of(OperationRefused)) == 1


async def test_a_stream_resumes_with_exactly_the_missing_events(stage: Stage) -> None:
    random = Random(3)  # repeatable choices
    await stage.start_device()
    await stage.start_daemon()
    last = await stage.played()
    async with Caller(stage) as caller:
        every = await caller.events(0, last)
        numbers = [number for number, _ in every]
        assert numbers == sorted(set(numbers))
        for after in (0, 1, numbers[0], numbers[-2], *random.sample(range(last), 10)):
            assert await caller.events(after, last) == [event for event in every if event[0] > after]
    await stage.kill_daemon()
    await stage.start_daemon()  # the answers are not in its memory
    async with Caller(stage) as caller:
        for after in (0, 1, numbers[-2], *random.sample(range(last), 10)):
            assert await caller.events(after, last) == [event for event in every if event[0] > after]
        began = (await caller.events(last, last + 1))[-1]
        assert began[0] > last


async def test_a_follower_sees_each_event_once_across_restarts(stage: Stage) -> None:
    """This follower reconnects with the last id whenever the stream ends, as a browser does."""
    await stage.start_device()
    followed: list[tuple[int, dict[str, Any]]] = []
    for count in (20, 90, 200):
        await stage.start_daemon()
        async with ApiClient(stage.socket) as client, asyncio.timeout(PATIENCE):
            stream = client.events(EventId(entry=followed[-1][0]) if followed else BEGINNING)
            async for event in stream:
                if event is not None:
                    followed.append((event["entry"], event))
                    if len(followed) >= count:
                        break
            await stream.aclose()
        await stage.kill_daemon()
    await stage.start_daemon()
    async with Caller(stage) as caller:
        every = await caller.events(0, followed[-1][0])
    assert [(number, json.loads(data)) for number, data in every] == followed


class QuietTable:
    """A table at which nothing happens but what the test publishes."""

    state = TableState()

    def __init__(self) -> None:
        self.feed = EventFeed(self._read)

    async def _read(self, after: int, limit: int) -> list[Published]:
        return []

    def view(self) -> TableView:
        raise NotImplementedError

    def link_view(self) -> LinkView:
        raise NotImplementedError

    def shown_by(self) -> object:
        raise NotImplementedError

    def utc_ns(self) -> int:
        raise NotImplementedError

    def offers(self) -> tuple[Offer, ...]:
        raise NotImplementedError

    def stands_for(self, caller: callers.Caller) -> str:
        return ""

    @property
    def journal(self) -> str:
        return "0a1b"

    @property
    def entry(self) -> int:
        return 0

    def pin_lock(self, person: str, caller: callers.Caller) -> PinLock:
        return PinLock(person, caller.uid, screen=caller.screen)

    async def pin_tried(self, person: str, caller: callers.Caller, *, right: bool) -> None:
        raise NotImplementedError

    async def refused_at_door(self, what: str, caller: callers.Caller, count: int) -> None:
        raise NotImplementedError

    async def operate(self, request: OperationRequest, by: Acting) -> OperationAnswer:
        raise NotImplementedError

    async def answers(self) -> bool:
        return True


@pytest.mark.parametrize("turns", range(8))
async def test_a_stream_ends_with_the_server_even_with_a_pending_event(
    turns: int, mocker: pytest_mock.MockerFixture
) -> None:
    """The event comes a number of loop turns before the stop, while it is on its way to the follower."""
    mocker.patch.object(serving, "GRACE", 3600.0)  # a server that waited would outlast the guard against a hang
    table = QuietTable()
    people = People((Person("dana", "Dana", Role.DEALER, uids=(os.getuid(),)),))
    with short_folder() as folder:
        server = ApiServer(table, people, folder / "api.sock", HostClock().now)
        await server.start()
        async with ApiClient(folder / "api.sock") as client:
            stream = client.events()
            assert await anext(stream) is None
            table.feed.publish([Published(1, b'{"entry":1,"event":"round_began"}')])
            for _ in range(turns):
                await asyncio.sleep(0)
            await server.close()
            news = {"entry": 1, "event": "round_began"}
            assert [event async for event in stream] in ([], [news], [news, None])


async def test_an_invalid_last_event_id(stage: Stage) -> None:
    invalid = (
        "",
        "x",
        "1.5",
        "0x10",
        "\uff11\uff12",
        "\u0663",
        "+1",
        "1_2",
        " 1 2",
        "9" * 5000,
        ":1",
        "x:1",
        "0A:1",
        "0a:",
        "0a:1:2",
        "0a: 1",
        f"{'0' * 65}:1",
    )
    await stage.start_daemon()
    async with Caller(stage) as caller:
        for after in invalid:
            with noted(repr(after[:20])):
                assert await caller.get_status("/v1/events", **{"Last-Event-ID": after}) == 400


async def test_slow_and_vanishing_followers_delay_nothing(stage: Stage) -> None:
    """One follower reads nothing, and some hang up immediately. The rounds are played, and the daemon stops."""
    await stage.start_daemon(Orders(grace=3600.0))
    reader, writer = await asyncio.open_unix_connection(str(stage.socket), limit=1)
    writer.write(b"GET /v1/events HTTP/1.1\r\nHost: table\r\n\r\n")
    await reader.readexactly(1)
    for _ in range(5):
        _, hasty = await asyncio.open_unix_connection(str(stage.socket))
        hasty.write(b"GET /v1/events HTTP/1.1\r\nHost: table\r\n\r\n")
        hasty.close()
        await hasty.wait_closed()
    await stage.start_device()
    await stage.played()
    assert await stage.daemon.end() == 0
    writer.close()
    await writer.wait_closed()
    assert not any("Traceback" in line for line in stage.daemon.err), "\n".join(stage.daemon.err)


async def test_an_invalid_or_truncated_request_leaves_one_log_line(stage: Stage) -> None:
    daemon = await stage.start_daemon()
    for sent in (
        b"GET / HT\x01TP/9.9.9\r\n\r\n",
        b"POST /v1/operations HTTP/1.1\r\nHost: t\r\nContent-Length: 99\r\n\r\n{",
    ):
        _, writer = await asyncio.open_unix_connection(str(stage.socket))
        writer.write(sent)
        await writer.drain()
        writer.close()
    assert await daemon.end() == 0
    logged = [json.loads(line) for line in daemon.err]
    assert [line["logger"] for line in logged if line["event"] == "library.logged"] == ["aiohttp.server"]
    assert "HT\\u0001TP" not in "".join(daemon.err)
