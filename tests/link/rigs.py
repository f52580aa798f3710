"""A transport of each kind, with a far end that the test controls."""

from __future__ import annotations

import asyncio
import threading
from abc import ABC, abstractmethod
from pathlib import Path
from typing import ClassVar, cast

from firmware_bridge.device_url import DeviceUrl, parse_device_url
from firmware_bridge.errors import TransportLostError, TransportUnavailableError
from firmware_bridge.transports.base import Transport
from firmware_bridge.transports.registry import open_transport
from firmware_bridge.transports.usb import open_usb_device
from simulators.ports.memory import MemoryTransport, memory_pair
from tests.support.usb_backend import SimulatedUsb, UsbGadget

from .parts import Changes, Pty, open_descriptors

SERIAL_NUMBER = "CARDSHOE-1"
USB_THREADS = "cardshoe-usb"


def usb_threads() -> list[threading.Thread]:
    return [thread for thread in threading.enumerate() if thread.name.startswith(USB_THREADS)]


class Wire:
    """A transport's user: the received bytes, and the reported loss."""

    def __init__(self, changes: Changes) -> None:
        self.data = bytearray()
        self.pieces: list[bytes] = []
        self.losses: list[TransportLostError] = []
        self.changes = changes
        self.thread = threading.get_ident()

    def on_data(self, data: bytes) -> None:
        assert data
        assert threading.get_ident() == self.thread, "called beside the event loop"
        self.data += data
        self.pieces.append(data)
        self.changes.note()

    def on_lost(self, error: TransportLostError) -> None:
        assert threading.get_ident() == self.thread, "called beside the event loop"
        self.losses.append(error)
        self.changes.note()

    async def until(self, count: int) -> None:
        await self.changes.until(lambda: len(self.data) >= count or bool(self.losses))
        assert not self.losses, self.losses


class Rig(ABC):
    """A far end that is plugged in when it is made. `received` holds its input."""

    largest_send: ClassVar[int] = 2048  # bytes that the far end may send in one call

    def __init__(self) -> None:
        self.changes = Changes()
        self.wire = Wire(self.changes)
        self.received = bytearray()

    async def begin(self) -> None:  # noqa: B027  # most need nothing
        """Prepare what needs the loop."""

    @abstractmethod
    async def open(self, *, listen: bool = False) -> Transport: ...

    @abstractmethod
    def send(self, data: bytes) -> None:
        """Send at most `largest_send` bytes from the far end."""

    @abstractmethod
    def unplug(self) -> None:
        """Pull the cable. A second call has no effect."""

    @abstractmethod
    async def plug(self) -> None: ...

    async def end(self) -> None:
        self.unplug()

    def held(self) -> int:
        """Return what the host's side holds: descriptors, threads, handles."""
        return open_descriptors()

    async def released(self) -> None:  # noqa: B027  # most release immediately
        """Wait until everything is released."""

    async def until_received(self, count: int) -> None:
        await self.changes.until(lambda: len(self.received) >= count or bool(self.wire.losses))
        assert not self.wire.losses, self.wire.losses

    async def send_all(self, data: bytes) -> None:
        """Send any number of bytes, at the pace at which the host takes them."""
        sent = len(self.wire.data)
        for start in range(0, len(data), self.largest_send):
            piece = data[start : start + self.largest_send]
            self.send(piece)
            sent += len(piece)
            await self.wire.until(sent)

    def take(self, data: bytes) -> None:
        self.received += data
        self.changes.note()


class StallingRig(Rig):
    """A far end that can refuse to take bytes."""

    @abstractmethod
    def stall(self) -> None: ...


class MemoryRig(Rig):
    def __init__(self) -> None:
        super().__init__()
        self._far: MemoryTransport | None = None
        self._plugged = True

    async def open(self, *, listen: bool = False) -> Transport:
        if not self._plugged:
            raise TransportUnavailableError("Nothing is plugged in.", "Plug it in.", "port-missing")
        near, self._far = memory_pair(
            self.wire.on_data, self.wire.on_lost, self.take, lambda error: None, listen_only=listen
        )
        return near

    def send(self, data: bytes) -> None:
        assert self._far is not None
        self._far.write(data)

    def unplug(self) -> None:
        self._plugged = False
        if self._far is not None:
            self._far.close()

    async def plug(self) -> None:
        self._plugged = True


class PtyRig(StallingRig):
    def __init__(self, folder: Path) -> None:
        super().__init__()
        self._name = folder / SERIAL_NUMBER
        self._pty: Pty | None = None

    async def begin(self) -> None:
        await self.plug()

    async def open(self, *, listen: bool = False) -> Transport:
        url = DeviceUrl("serial", path=str(self._name), listen=listen)
        return await open_transport(url, on_data=self.wire.on_data, on_lost=self.wire.on_lost)

    def send(self, data: bytes) -> None:
        assert self._pty is not None
        self._pty.send(data)

    def stall(self) -> None:
        assert self._pty is not None
        asyncio.get_running_loop().remove_reader(self._pty.master)

    def unplug(self) -> None:
        if self._pty is not None:
            self._pty.hang_up()
            self._pty = None

    async def plug(self) -> None:
        self._pty = Pty(self._name, changes=self.changes)
        self._pty.received = self.received

    def held(self) -> int:
        return open_descriptors() - (2 if self._pty is not None else 0)


class TcpRig(StallingRig):
    def __init__(self) -> None:
        super().__init__()
        self._server: asyncio.Server | None = None
        self._line: asyncio.Transport | None = None
        self._accepted = Changes()
        self._port = 0
        self.line_error: Exception | None = None

    @property
    def port(self) -> int:
        return self._port

    async def begin(self) -> None:
        await self.plug()

    async def open(self, *, listen: bool = False) -> Transport:
        url = DeviceUrl("tcp", host="127.0.0.1", port=self._port, path="/", listen=listen)
        transport = await open_transport(url, on_data=self.wire.on_data, on_lost=self.wire.on_lost)
        await self._accepted.until(lambda: self._line is not None)
        return transport

    def send(self, data: bytes) -> None:
        assert self._line is not None
        self._line.write(data)

    def stall(self) -> None:
        assert self._line is not None
        self._line.pause_reading()

    def resume(self) -> None:
        assert self._line is not None
        self._line.resume_reading()

    def unplug(self) -> None:
        server, self._server = self._server, None
        if server is not None:
            server.close()
        if self._line is not None:
            self._line.abort()

    async def plug(self) -> None:
        loop = asyncio.get_running_loop()
        self._server = await loop.create_server(lambda: _TcpLine(self), "127.0.0.1", self._port)
        self._port = self._server.sockets[0].getsockname()[1]

    async def end(self) -> None:
        self.unplug()
        await self.released()

    async def released(self) -> None:
        """Close the far end's descriptor before any are counted, since it shares this process."""
        await self._accepted.until(lambda: self._line is None)

    def held(self) -> int:
        return open_descriptors() - (self._server is not None) - (self._line is not None)

    def line_made(self, line: asyncio.Transport) -> None:
        self._line = line
        self._accepted.note()

    def line_lost(self, error: Exception | None) -> None:
        self._line, self.line_error = None, error
        self._accepted.note()


class _TcpLine(asyncio.Protocol):
    def __init__(self, rig: TcpRig) -> None:
        self._rig = rig

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._rig.line_made(cast(asyncio.Transport, transport))

    def data_received(self, data: bytes) -> None:
        self._rig.take(data)

    def connection_lost(self, error: Exception | None) -> None:
        self._rig.line_lost(error)


class UsbRig(StallingRig):
    def __init__(self) -> None:
        super().__init__()
        self._loop = asyncio.get_running_loop()
        self.gadget = UsbGadget(SERIAL_NUMBER, self._take_from_thread)
        self.bus = SimulatedUsb(self.gadget)

    async def open(self, *, listen: bool = False) -> Transport:
        url = parse_device_url(f"usb:///1209:0001/{SERIAL_NUMBER}")
        url = DeviceUrl("usb", path=url.path, listen=listen)
        return await open_usb_device(
            url, on_data=self.wire.on_data, on_lost=self.wire.on_lost, find_backend=lambda: self.bus
        )

    def send(self, data: bytes) -> None:
        self.gadget.send(data)

    def stall(self) -> None:
        self.gadget.change(takes_nothing=True)

    def unplug(self) -> None:
        self.gadget.unplug()

    async def plug(self) -> None:
        self.gadget.plug()

    async def end(self) -> None:
        self.unplug()
        await self.released()

    async def released(self) -> None:
        """Wait while the loop runs: a thread may end only after the loop has taken its notice."""
        for thread in usb_threads():
            await asyncio.to_thread(thread.join)

    def held(self) -> int:
        return open_descriptors() + len(usb_threads()) + len(self.gadget.handles)

    def _take_from_thread(self, endpoint: int, data: bytes) -> None:
        self._loop.call_soon_threadsafe(self.take, data)
