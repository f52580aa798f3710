"""An independent USB/IP client, written from the protocol's description: it sends what an attaching Linux would send.

It shares no code with the server, so that a mistake is not made twice.
"""

from __future__ import annotations

import asyncio
import struct
from typing import NamedTuple, Self

BUSID_SIZE = 32
RECORD_SIZE = 312


class Record(NamedTuple):
    """A device as the server lists it."""

    path: str
    busid: str
    busnum: int
    devnum: int
    speed: int
    vendor: int
    product: int
    release: int
    triple: tuple[int, int, int]
    configuration: int
    configurations: int
    interfaces: int


class Done(NamedTuple):
    """A completed transfer: status as Linux counts it (0 or negative), the actual length, and the data of an IN
    transfer.
    """

    status: int
    actual: int
    data: bytes


class UsbIpClient:
    """One connection. Answers may come in any order, and each is kept for its caller."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer
        self._seqnum = 0
        self._inward: set[int] = set()
        self._done: dict[int, Done] = {}
        self._unlinked: dict[int, int] = {}

    @classmethod
    async def connect(cls, port: int) -> Self:
        return cls(*await asyncio.open_connection("127.0.0.1", port))

    async def close(self) -> None:
        self._writer.close()
        await self._writer.wait_closed()

    def write(self, data: bytes) -> None:
        self._writer.write(data)

    def finish(self) -> None:
        """Send nothing more, and continue to listen."""
        self._writer.write_eof()

    async def rest(self) -> bytes:
        """Return whatever arrives until the server ends the connection."""
        try:
            return await self._reader.read()
        except ConnectionError:
            return b""

    async def list(self) -> list[tuple[Record, list[tuple[int, int, int]]]]:
        self.write(bytes.fromhex("0111800500000000"))
        version, code, status, count = struct.unpack(">HHII", await self._reader.readexactly(12))
        assert (version, code, status) == (0x0111, 0x0005, 0)
        found = []
        for _ in range(count):
            record = _record(await self._reader.readexactly(RECORD_SIZE))
            raw = await self._reader.readexactly(4 * record.interfaces)
            found.append((record, [(raw[at], raw[at + 1], raw[at + 2]) for at in range(0, len(raw), 4)]))
        assert await self._reader.read() == b"", "the server ends a connection that has listed"
        return found

    async def attach(self, busid: str = "1-1") -> Record | None:
        """Attach a device. Return None if the server does not have it or no longer has it."""
        self.write(bytes.fromhex("0111800300000000") + busid.encode().ljust(BUSID_SIZE, b"\0"))
        version, code, status = struct.unpack(">HHI", await self._reader.readexactly(8))
        assert (version, code) == (0x0111, 0x0003)
        return None if status else _record(await self._reader.readexactly(RECORD_SIZE))

    def submit(
        self, endpoint: int, *, data: bytes = b"", length: int = 0, setup: bytes = bytes(8), packets: int = -1
    ) -> int:
        """Submit a transfer and return its number. `endpoint` has the direction in its highest bit."""
        self._seqnum += 1
        inward = endpoint >> 7
        if inward:
            self._inward.add(self._seqnum)
        size = length if inward else len(data)
        head = struct.pack(">IIIII", 1, self._seqnum, 0x0001_0002, inward, endpoint & 0x7F)
        self.write(head + struct.pack(">Iiiii8s", 0, size, 0, packets, 0, setup) + data)
        return self._seqnum

    def unlink(self, victim: int) -> int:
        self._seqnum += 1
        self.write(struct.pack(">IIIIII24x", 2, self._seqnum, 0x0001_0002, 0, 0, victim))
        return self._seqnum

    async def done(self, seqnum: int) -> Done:
        while seqnum not in self._done:
            await self._take()
        return self._done.pop(seqnum)

    async def unlinked(self, seqnum: int) -> int:
        while seqnum not in self._unlinked:
            await self._take()
        return self._unlinked.pop(seqnum)

    async def control(
        self, kind: int, request: int, value: int = 0, index: int = 0, *, length: int = 0, data: bytes = b""
    ) -> Done:
        setup = struct.pack("<BBHHH", kind, request, value, index, length or len(data))
        return await self.done(self.submit(0x80 if kind & 0x80 else 0, data=data, length=length, setup=setup))

    async def _take(self) -> None:
        head = await self._reader.readexactly(48)
        code, seqnum, devid, direction, endpoint = struct.unpack_from(">IIIII", head)
        assert (devid, direction, endpoint) == (0, 0, 0)
        if code == 4:
            (self._unlinked[seqnum],) = struct.unpack_from(">i", head, 20)
            return
        assert code == 3
        status, actual, start, packets, errors = struct.unpack_from(">iiiii", head, 20)
        assert (start, packets, errors, head[40:]) == (0, -1, 0, bytes(8))
        data = await self._reader.readexactly(actual) if seqnum in self._inward else b""
        self._done[seqnum] = Done(status, actual, data)


def _record(raw: bytes) -> Record:
    numbers = struct.unpack_from(">IIIHHHBBBBBB", raw, 288)
    busnum, devnum, speed, vendor, product, release, first, second, third, configuration, count, interfaces = numbers
    path, busid = (raw[start:end].rstrip(b"\0").decode() for start, end in ((0, 256), (256, 288)))
    triple = (first, second, third)
    return Record(
        path, busid, busnum, devnum, speed, vendor, product, release, triple, configuration, count, interfaces
    )
