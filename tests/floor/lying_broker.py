"""A broker that lies: it answers a client according to MQTT 5, and then sends what nobody asked for."""

from __future__ import annotations

import asyncio
import struct
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, suppress
from itertools import cycle, repeat

from controller.floor.address import Address, Broker
from simulators.ports.tcp import close
from tests.end_to_end.browser import free_port

CONNACK = b"\x20\x03\x00\x00\x00"
PINGREQ, PINGRESP = b"\xc0\x00", b"\xd0\x00"
MOST = 128 * 1024 * 1024  # bytes that it sends; the sockets of one connection hold a few MiB of them
CONNECT, PUBLISH, SUBSCRIBE, PING = 0x10, 0x30, 0x80, 0xC0


def packet(kind: int, body: bytes) -> bytes:
    return bytes((kind,)) + length(len(body)) + body


def length(number: int) -> bytes:
    """Return a length as MQTT encodes it."""
    digits = bytearray()
    while True:
        number, digit = divmod(number, 128)
        digits.append(digit | (128 if number else 0))
        if not number:
            return bytes(digits)


def publish(topic: str, payload: bytes, qos: int = 0, number: int = 1, properties: bytes = b"") -> bytes:
    name = topic.encode()
    about = struct.pack("!H", number) if qos else b""
    said = struct.pack("!H", len(name)) + name + about + length(len(properties)) + properties + payload
    return packet(PUBLISH | qos << 1, said)


def user_properties(count: int) -> bytes:
    return (b"\x26" + struct.pack("!H", 1) + b"a" + struct.pack("!H", 0)) * count


def forever(*packets: bytes) -> Iterator[bytes]:
    """Yield without end, in pieces of a useful size."""
    return cycle([one * max(1, 65536 // len(one)) for one in packets])


class LyingBroker:
    """A broker that sends `then` once it has answered `after`, a kind of packet. `sent` counts the bytes sent of
    `then`.

    When `deaf` it reads nothing afterwards; without `answers` it answers only CONNECT.
    """

    def __init__(
        self, then: Iterator[bytes], after: int = CONNECT, *, deaf: bool = False, answers: bool = True
    ) -> None:
        self._answers = answers
        self.sent = 0
        self.ended = asyncio.Event()
        self._then = then
        self._after = after
        self._deaf = deaf
        self._attack: asyncio.Task[None] | None = None

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            with suppress(OSError, asyncio.IncompleteReadError):
                while True:
                    kind, body = await _read(reader)
                    if self._answers or kind == CONNECT:
                        writer.write(_answer(kind, body))
                    if kind == self._after and self._attack is None:
                        self._attack = asyncio.create_task(self._send(writer))
                        if self._deaf:
                            await self._attack
                            await asyncio.Event().wait()
        finally:
            writer.transport.abort()

    async def _send(self, writer: asyncio.StreamWriter) -> None:
        writer.transport.set_write_buffer_limits(0)
        with suppress(OSError):
            for piece in self._then:
                writer.write(piece)
                await writer.drain()
                self.sent += len(piece)
                if self.sent >= MOST:
                    break
        self.ended.set()


async def _read(reader: asyncio.StreamReader) -> tuple[int, bytes]:
    kind, size, shift = (await reader.readexactly(1))[0], 0, 0
    while True:
        digit = (await reader.readexactly(1))[0]
        size |= (digit & 127) << shift
        shift += 7
        if digit < 128:
            return kind & 0xF0, await reader.readexactly(size)


def _answer(kind: int, body: bytes) -> bytes:
    if kind == CONNECT:
        return CONNACK
    if kind == SUBSCRIBE:
        return packet(0x90, body[:2] + b"\x00\x01")
    if kind == PUBLISH:
        name = struct.unpack("!H", body[:2])[0]
        return packet(0x40, body[2 + name : 4 + name])
    return PINGRESP if kind == PING else b""


@asynccontextmanager
async def lying(
    then: Iterator[bytes], after: int = CONNECT, *, deaf: bool = False, answers: bool = True
) -> AsyncIterator[tuple[LyingBroker, Broker]]:
    port, found = free_port(), LyingBroker(then, after, deaf=deaf, answers=answers)
    server = await asyncio.start_server(found.serve, "127.0.0.1", port)
    try:
        yield found, Broker(Address("127.0.0.1", port, False), None)
    finally:
        await close(server)


def once(piece: bytes) -> Iterator[bytes]:
    """Yield the packet, followed by as many zeros as its length promised."""
    yield piece
    yield from repeat(bytes(65536))
