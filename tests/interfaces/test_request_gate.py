"""One request of a connection at a time, so that the parser gets little before the caller is known."""

from __future__ import annotations

import json
import re
from collections.abc import AsyncIterator
from contextlib import suppress

import pytest
import pytest_mock

from controller.api import serving
from tests.end_to_end.stage import short_folder
from tests.interfaces.test_listener import PAUSE, Served


@pytest.fixture
async def served() -> AsyncIterator[Served]:
    with short_folder() as folder:
        served = Served(folder)
        yield served
        for caller in served.callers:
            await caller.close()
        await served.server.close()


CHUNKS = b"1\r\nx\r\n" * 20_000 + b"0\r\n\r\n"


@pytest.fixture
def parsed(mocker: pytest_mock.MockerFixture) -> list[bytes]:
    """Return what aiohttp's parser receives, piece by piece."""
    given: list[bytes] = []
    receive = serving.Protocol.data_received

    def note(self: serving.Protocol, data: bytes) -> None:
        if data:
            given.append(data)
        receive(self, data)

    mocker.patch.object(serving.Protocol, "data_received", note)
    return given


@pytest.mark.parametrize(
    "field", [b"Transfer-Encoding: chunked", b"transfer-encoding:chunked", b"X: y\r\n Transfer-Encoding: gzip, chunked"]
)
async def test_a_body_in_chunks_is_refused_before_any_of_it_is_parsed(
    served: Served, parsed: list[bytes], field: bytes
) -> None:
    await served.start()
    caller = await served.call()
    await caller.say(b"POST /v1/operations HTTP/1.1\r\nHost: table\r\n" + field + b"\r\n\r\n" + CHUNKS)
    status, body = await caller.answer()
    assert (status, json.loads(body)["code"], parsed) == (411, "chunked", [])


async def test_chunks_behind_another_request_are_not_parsed_early(served: Served, parsed: list[bytes]) -> None:
    await served.start()
    caller = await served.call()
    first = b"GET /healthz HTTP/1.1\r\nHost: table\r\n\r\n"
    await caller.say(first + b"POST / HTTP/1.1\r\nHost: table\r\nTransfer-Encoding: chunked\r\n\r\n" + CHUNKS)
    await caller.ended()
    assert parsed == [first]


async def test_requests_in_one_piece_are_parsed_one_after_the_other(served: Served, parsed: list[bytes]) -> None:
    await served.start()
    caller = await served.call()
    one = b"GET /healthz HTTP/1.1\r\nHost: table\r\n\r\n"
    body = json.dumps(PAUSE).encode()
    operation = b"POST /v1/operations HTTP/1.1\r\nHost: table\r\nContent-Length: %d\r\n\r\n%s" % (len(body), body)
    await caller.say(one + operation + b"\r\n" + one)
    assert [(await caller.answer())[0] for _ in range(3)] == [200, 200, 200]
    assert parsed == [one, operation, one]


async def test_a_request_in_pieces_of_one_byte_is_answered(served: Served, parsed: list[bytes]) -> None:
    await served.start()
    caller = await served.call()
    one = b"GET /healthz HTTP/1.1\r\nHost: table\r\n\r\n"
    for byte in one:
        await caller.say(bytes((byte,)))
    assert ((await caller.answer())[0], parsed) == (200, [one])


async def test_a_head_without_end_is_closed(served: Served, parsed: list[bytes]) -> None:
    await served.start()
    caller = await served.call()
    with suppress(ConnectionError):
        await caller.say(b"GET / HTTP/1.1\r\n" + b"X: y\r\n" * 8_000)
        assert await caller.ended() == b""
    assert parsed == []


async def test_input_that_is_not_http_is_refused_immediately(served: Served, parsed: list[bytes]) -> None:
    await served.start()
    caller = await (await served.call()).say(b"\x16\x03\x01" + b"x" * 60_000)
    assert b" 400 " in await caller.ended()
    assert len(b"".join(parsed)) < 100


@pytest.mark.parametrize("zeros", [20, 5000])
async def test_gate_and_parser_agree_on_a_length_with_many_zeros(
    served: Served, parsed: list[bytes], zeros: int
) -> None:
    """Otherwise the gate would take the body for the next request."""
    await served.start()
    caller = await served.call()
    body = json.dumps(PAUSE).encode()
    length = b"0" * zeros + b"%d" % len(body)
    operation = b"POST /v1/operations HTTP/1.1\r\nHost: table\r\nContent-Length: %s\r\n\r\n%s" % (length, body)
    await caller.say(operation)
    assert ((await caller.answer())[0], parsed) == (200, [operation])


HEALTH = b"GET /healthz HTTP/1.1\r\nHost: table\r\n\r\n"


@pytest.mark.parametrize(
    "head",
    [
        b"GET /v1/state HTTP/1.1\nHost: table\n\n",
        b"GET /v1/state HTTP/1.1\rHost: table\r\r",
        b"POST /v1/operations HTTP/1.1\r\nHost: table\r\nContent-Length: 0\r\nContent-Length: %d\r\n\r\n" % len(HEALTH),
        b"POST /v1/operations HTTP/1.1\r\nHost: table\r\nContent-Length: 0, %d\r\n\r\n" % len(HEALTH),
        b"POST /v1/operations HTTP/1.1\r\nHost: table\r\nContent-Length: +0\r\n\r\n",
        b"POST /v1/operations HTTP/1.1\r\nHost: table\r\nContent-Length:\r\n 0\r\n\r\n",
        b"POST /v1/operations HTTP/1.1\r\nHost: table\r\nTransfer-Encoding : identity\r\nContent-Length: 0\r\n\r\n",
        b"GET /v1/state HTTP/1.1\r\nHost: table\x00\r\n\r\n",
        b"GET /v1/state HTTP/1.0\r\n\r\n",
    ],
)
async def test_an_ambiguous_head_hides_no_second_request(served: Served, head: bytes) -> None:
    """The second request is not answered: the connection ends after the first answer."""
    await served.start()
    caller = await (await served.call()).say(head + HEALTH)
    assert len(re.findall(rb"HTTP/1\.\d \d{3} ", await caller.ended())) == 1


@pytest.mark.parametrize(
    "path", ["/console/../../etc/passwd", "/%2e%2e/%2e%2e/etc/passwd", "/console/%00", "//etc/passwd"]
)
async def test_no_path_leads_out_of_the_pages(served: Served, path: str) -> None:
    await served.start()
    assert (await (await served.call()).ask("GET", path))[0] in (400, 404)
