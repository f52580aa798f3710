"""A disk with a volatile write cache, as an NBD server: what was not flushed may be lost at a power cut.

The base is a file that is read and never written. Above it are durable sectors, and above these the writes since the
last flush. At a cut any of those writes, whole or truncated at a sector, are kept, in any order; the rest is lost. A
disk that lies acknowledges a flush and keeps nothing. Source: the NBD protocol, its fixed newstyle handshake, simple
replies; without FUA, so that QEMU flushes.
"""

from __future__ import annotations

import asyncio
import os
import struct
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from random import Random
from typing import Final

from simulators.ports.tcp import close

SECTOR: Final = 512  # bytes; a disk writes them whole or not at all
OPTION_MAGIC: Final = b"IHAVEOPT"
REPLY_MAGIC: Final = 0x3E889045565A9
EXPORT_NAME, ABORT, INFO, GO = 1, 2, 6, 7
ACKNOWLEDGED, EXPORT_INFO, UNSUPPORTED = 1, 3, 1 << 31 | 1
HAS_FLAGS_AND_FLUSHES: Final = 1 | 4
READ, WRITE, DISCONNECT, FLUSH = 0, 1, 2, 3
REQUEST: Final = struct.Struct(">IHHQQI")
EINVAL: Final = 22


class VolatileDisk:
    """Durable content remains after `cut`, for the next `serving`.

    `operations`: writes and flushes so far. `stop_at`: the disk stops answering at that one, or the next with something
    to lose, as in a power failure; 0: never. `stopped` is set when it did. `lies`: a flush does nothing.
    """

    def __init__(self, below: Path) -> None:
        self._below = below
        self.durable: dict[int, bytes] = {}
        self.operations = 0
        self.stop_at = 0
        self.lies = False
        self.stopped = asyncio.Event()
        self._writes: list[tuple[int, bytes]] = []
        self._cached: dict[int, bytes] = {}
        self._serving: set[asyncio.Task[None]] = set()

    def drive(self, socket: Path) -> str:
        """Return the disk as QEMU's `-drive` takes it."""
        return f"file=nbd+unix:///?socket={socket},format=raw,cache=writeback"

    @asynccontextmanager
    async def serving(self, socket: Path) -> AsyncIterator[None]:
        """Serve at that socket, which does not exist yet."""
        self._file = os.open(self._below, os.O_RDONLY)
        self._size = os.fstat(self._file).st_size
        server = await asyncio.start_unix_server(self._serve, socket)
        try:
            yield
        finally:
            await close(server)
            for task in list(self._serving):
                task.cancel()
            await asyncio.gather(*self._serving, return_exceptions=True)
            await server.wait_closed()
            os.close(self._file)

    def cut(self, random: Random) -> int:
        """Cut the power: any part of what was not flushed is kept. Return the number of unflushed writes."""
        unflushed, self._writes = self._writes, []
        self._cached.clear()
        self.stop_at = 0
        self.stopped.clear()
        random.shuffle(unflushed)
        for first, data in unflushed:
            kept = 0 if self.lies else random.choice((0, len(data), random.randrange(0, len(data), SECTOR)))
            self._keep(self.durable, first, data[:kept])
        return len(unflushed)

    # -- the disk --------------------------------------------------------------------------------------------------

    def _read(self, offset: int, length: int) -> bytes:
        data = bytearray(os.pread(self._file, length, offset))
        first = offset // SECTOR
        for place in range(length // SECTOR):
            newer = self._cached.get(first + place) or self.durable.get(first + place)
            if newer is not None:
                data[place * SECTOR : (place + 1) * SECTOR] = newer
        return bytes(data)

    def _write(self, offset: int, data: bytes) -> None:
        self._writes.append((offset // SECTOR, data))
        self._keep(self._cached, offset // SECTOR, data)

    def _flush(self) -> None:
        if self.lies:
            return
        self.durable.update(self._cached)
        self._cached.clear()
        self._writes.clear()

    @staticmethod
    def _keep(where: dict[int, bytes], first: int, data: bytes) -> None:
        for place in range(len(data) // SECTOR):
            where[first + place] = data[place * SECTOR : (place + 1) * SECTOR]

    def _is_due(self) -> bool:
        """Return whether the disk continues."""
        self.operations += 1
        if self._writes and self.operations >= self.stop_at > 0:
            self.stopped.set()
        return not self.stopped.is_set()

    # -- the protocol ----------------------------------------------------------------------------------------------

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._serving.add(task)
        try:
            with suppress(OSError, asyncio.IncompleteReadError, asyncio.CancelledError):
                if await self._agree(reader, writer):
                    while await self._answer(reader, writer):
                        pass
        finally:
            self._serving.discard(task)
            writer.close()
            with suppress(OSError):
                await writer.wait_closed()

    async def _agree(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        """Do the handshake, and return whether requests follow."""
        writer.write(b"NBDMAGIC" + OPTION_MAGIC + struct.pack(">H", 3))  # fixed newstyle, no padding
        await reader.readexactly(4)
        while True:
            _, option, length = struct.unpack(">8sII", await reader.readexactly(16))
            await reader.readexactly(length)
            if option == EXPORT_NAME:
                writer.write(struct.pack(">QH", self._size, HAS_FLAGS_AND_FLUSHES))
                return True
            if option in (INFO, GO):
                about = struct.pack(">HQH", 0, self._size, HAS_FLAGS_AND_FLUSHES)
                writer.write(_reply(option, EXPORT_INFO, about) + _reply(option, ACKNOWLEDGED))
                if option == GO:
                    return True
            else:
                writer.write(_reply(option, ACKNOWLEDGED if option == ABORT else UNSUPPORTED))
                if option == ABORT:
                    return False

    async def _answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        """Answer one request, and return whether others may follow."""
        _, _, kind, handle, offset, length = REQUEST.unpack(await reader.readexactly(REQUEST.size))
        data = await reader.readexactly(length) if kind == WRITE else b""
        error, answer = 0, b""
        if kind == DISCONNECT:
            return False
        if kind in (WRITE, FLUSH):
            if kind == WRITE:
                self._write(offset, data)  # a cut may also keep the one in progress
            if not self._is_due():
                await asyncio.Event().wait()
            if kind == FLUSH:
                self._flush()
        elif kind == READ:
            answer = self._read(offset, length)
        else:
            error = EINVAL
        writer.write(struct.pack(">IIQ", 0x67446698, error, handle) + answer)
        await writer.drain()
        return True


def _reply(option: int, kind: int, data: bytes = b"") -> bytes:
    return struct.pack(">QIII", REPLY_MAGIC, option, kind, len(data)) + data
