"""A USB/IP server (protocol 1.1.1), from which any Linux machine attaches a simulated device as hardware.

    client                                   server
    OP_REQ_DEVLIST                    ->     OP_REP_DEVLIST, end of the connection
    OP_REQ_IMPORT, bus id             ->     OP_REP_IMPORT; then on the same connection
    CMD_SUBMIT, CMD_UNLINK            ->     RET_SUBMIT, RET_UNLINK, in the order in which they end

Source: Documentation/usb/usbip_protocol.rst of Linux. The end of the connection unplugs the device, on either side.
What Linux never sends ends the connection with a log line; every length is checked before it is waited for. The
protocol has no authentication, so it listens on loopback unless another address is given.
"""

from __future__ import annotations

import asyncio
import errno
import struct
from collections.abc import Callable
from typing import Final, cast

from firmware_bridge.messages import AnyText, message
from simulators.ports.tcp import close
from simulators.usb.descriptors import TO_HOST, UsbDescription
from simulators.usb.usb_device import Transfer, UsbDeviceSide
from simulators.usb.usb_front import UsbFront

PORT: Final = 3240  # as registered with IANA
VERSION: Final = 0x0111
BUS_ID: Final = b"1-1"
EVERYWHERE: Final = ("0.0.0.0", "::")  # noqa: S104  # for comparison, to give a hint
SAYS_WITHIN: Final = 10.0  # seconds within which a connection must send its first request
MOST_CONNECTIONS: Final = 16
LONGEST_TRANSFER: Final = 1 << 20  # bytes
MOST_TRANSFERS: Final = 256  # transfers in progress at the same time

REQ_DEVLIST, REP_DEVLIST, REQ_IMPORT, REP_IMPORT = 0x8005, 0x0005, 0x8003, 0x0003
CMD_SUBMIT, CMD_UNLINK, RET_SUBMIT, RET_UNLINK = 1, 2, 3, 4
OPERATION: Final = struct.Struct(">HHI")  # version, code, status
BASIC: Final = struct.Struct(">IIIII")  # command, seqnum, devid, direction, endpoint
SUBMIT: Final = struct.Struct(">IiiiI8s")  # flags, length, start frame, packets, interval, setup
RETURN: Final = struct.Struct(">iiiii8x")  # status, actual length, start frame, packets, errors
UNLINK: Final = struct.Struct(">I24x")  # the seqnum of the transfer that ends
UNLINKED: Final = struct.Struct(">i24x")
HEADER_SIZE: Final = BASIC.size + SUBMIT.size
BUS_ID_SIZE: Final = 32
_INFO: Final = struct.Struct(">256s32sIIIHHHBBBBBB")
_DIRECTION_IN: Final = 1
_NOT_ISOCHRONOUS: Final = (0, -1)  # both values are in use for "no packets"
_FULL_SPEED, _HIGH_SPEED = 2, 3


class MalformedError(ValueError):
    """Raised when the input is not USB/IP, or exceeds what this server accepts."""


def device_record(description: UsbDescription, busy: bool) -> bytes:
    """Return the device's record: path, bus id, numbers, speed, ids, class, configuration."""
    speed = _HIGH_SPEED if description.high_speed else _FULL_SPEED
    return _INFO.pack(
        b"/sys/devices/simulated/usb1/1-1", BUS_ID, 1, 2, speed, description.vendor, description.product, 0x0100,
        0xEF, 2, 1, int(busy), 1, len(description.interfaces),
    )  # fmt: skip


class UsbIpFront:
    """Listens from `listen` until `close`. The device is present from `plug` until `unplug`.

    One client has it at a time. `say` is called with a line for each connection that is refused.
    """

    def __init__(
        self,
        front: UsbFront,
        usb: UsbDeviceSide,
        host: str = "127.0.0.1",
        port: int = PORT,
        say: Callable[[AnyText], None] = lambda line: None,
    ) -> None:
        self.usb = usb
        self.say = say
        self.connections: set[UsbipConnection] = set()
        self.owner: UsbipConnection | None = None
        self._front = front
        self._host = host
        self._port = port
        self._server: asyncio.Server | None = None
        usb.unplug()

    @property
    def port(self) -> int:
        """The port on which it listens; for port 0 the system chooses one."""
        return self._port

    @property
    def command(self) -> str:
        """The command that attaches the device on another machine, as root."""
        place = [] if self._port == PORT else [f"--tcp-port {self._port}"]
        host = self._host if self._host not in EVERYWHERE else "NAME-OF-THIS-MACHINE"
        return " ".join(["usbip", *place, "attach", "-r", host, "-b", BUS_ID.decode()])

    @property
    def plugged(self) -> bool:
        return self.usb.plugged

    async def listen(self) -> None:
        """Listen. Raise OSError if that is not possible."""
        loop = asyncio.get_running_loop()
        self._server = await loop.create_server(lambda: UsbipConnection(self), self._host, self._port)
        self._port = self._server.sockets[0].getsockname()[1]

    async def close(self) -> None:
        await self.unplug()
        server, self._server = self._server, None
        if server is not None:
            await close(server)
        for connection in list(self.connections):
            connection.end()
        if server is not None:
            await server.wait_closed()

    async def plug(self) -> None:
        if not self.usb.plugged:
            self.usb.plug()
            self._front.start()

    async def unplug(self) -> None:
        """Take the device away from the client, which attaches it again after the next plug."""
        self._front.stop()
        self.usb.unplug()
        if self.owner is not None:
            self.owner.end()

    def give(self, connection: UsbipConnection) -> bool:
        """Give the device to a client, if it is plugged in and free. To the client it seems just plugged in."""
        if not self.usb.plugged or self.owner is not None:
            return False
        self.owner = connection
        self.usb.reset()
        return True

    def ended(self, connection: UsbipConnection) -> None:
        """Note that a client has disconnected, and drop its transfers."""
        self.connections.discard(connection)
        if self.owner is connection:
            self.owner = None
            self.usb.reset()


class UsbipConnection(asyncio.Protocol):
    """One client. It first asks for the device, then submits transfers."""

    def __init__(self, front: UsbIpFront) -> None:
        self._front = front
        self._buffer = bytearray()
        self._line: asyncio.Transport | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._attached = False
        self._under_way: dict[int, Transfer] = {}

    # -- the loop's calls -----------------------------------------------------------------------------------------

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._line = cast(asyncio.Transport, transport)
        self._front.connections.add(self)
        if len(self._front.connections) > MOST_CONNECTIONS:
            self._refuse("there are too many connections")
            return
        self._timer = asyncio.get_running_loop().call_later(SAYS_WITHIN, self._refuse, "it sent no request")

    def data_received(self, data: bytes) -> None:
        self._buffer += data
        try:
            while self._line is not None and self._take():
                pass
        except MalformedError as error:
            self._refuse(str(error))

    def pause_writing(self) -> None:
        """Stop reading from a client that does not read, so that answers do not pile up."""
        if self._line is not None:
            self._line.pause_reading()

    def resume_writing(self) -> None:
        if self._line is not None:
            self._line.resume_reading()

    def connection_lost(self, error: Exception | None) -> None:
        self._line = None
        self._stop_timer()
        self._under_way.clear()
        self._front.ended(self)

    def end(self) -> None:
        """End the connection immediately; `connection_lost` does the rest."""
        self._stop_timer()
        if self._line is not None:
            line, self._line = self._line, None
            line.abort()

    def _refuse(self, why: str) -> None:
        peer = self._line.get_extra_info("peername") if self._line is not None else None
        host = peer[0] if peer else "?"
        self._front.say(message("A USB/IP connection from {host} was ended: {why}.", host=host, why=why))
        self.end()

    def _stop_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _write(self, data: bytes) -> None:
        if self._line is not None:
            self._line.write(data)

    # -- messages from the client ------------------------------------------------------------------------------------

    def _take(self) -> bool:
        """Take one message if it is complete, and return whether to go on. Raise MalformedError if it is malformed."""
        return self._take_command() if self._attached else self._take_operation()

    def _part(self, size: int) -> bytes:
        part = bytes(self._buffer[:size])
        del self._buffer[:size]
        return part

    def _take_operation(self) -> bool:
        if len(self._buffer) < OPERATION.size:
            return False
        version, code, _ = OPERATION.unpack_from(self._buffer)
        if version >> 8 != VERSION >> 8:
            raise MalformedError(f"it speaks version {version:#06x}, and not {VERSION:#06x}")
        if code == REQ_DEVLIST:
            self._part(OPERATION.size)
            self._list()
            return False
        if code != REQ_IMPORT:
            raise MalformedError(f"there is no operation {code:#06x}")
        if len(self._buffer) < OPERATION.size + BUS_ID_SIZE:
            return False
        self._import(self._part(OPERATION.size + BUS_ID_SIZE)[OPERATION.size :])
        return self._attached

    def _list(self) -> None:
        self._stop_timer()
        usb = self._front.usb
        answer = OPERATION.pack(VERSION, REP_DEVLIST, 0) + struct.pack(">I", int(usb.plugged))
        if usb.plugged:
            answer += device_record(usb.description, bool(usb.control.configuration))
            answer += b"".join(bytes((*interface.triple, 0)) for interface in usb.description.interfaces)
        self._write(answer)
        if self._line is not None:
            self._line.close()  # after everything is written

    def _import(self, bus_id: bytes) -> None:
        self._stop_timer()
        self._attached = bus_id.rstrip(b"\0") == BUS_ID and self._front.give(self)
        answer = OPERATION.pack(VERSION, REP_IMPORT, 0 if self._attached else 1)
        self._write(answer + device_record(self._front.usb.description, busy=False) if self._attached else answer)
        if not self._attached and self._line is not None:
            self._line.close()

    def _take_command(self) -> bool:
        if len(self._buffer) < HEADER_SIZE:
            return False
        command, seqnum, _, direction, number = BASIC.unpack_from(self._buffer)
        if command == CMD_UNLINK:
            (victim,) = UNLINK.unpack(self._part(HEADER_SIZE)[BASIC.size :])
            self._unlink(seqnum, victim)
            return True
        if command != CMD_SUBMIT:
            raise MalformedError(f"there is no command {command}")
        _, length, _, packets, _, setup = SUBMIT.unpack_from(self._buffer, BASIC.size)
        if direction not in (0, _DIRECTION_IN) or number > 15 or not 0 <= length <= LONGEST_TRANSFER:
            raise MalformedError(f"a transfer of {length} bytes on endpoint {number}, direction {direction}")
        if packets not in _NOT_ISOCHRONOUS:
            raise MalformedError(f"an isochronous transfer on endpoint {number}")
        if seqnum in self._under_way or len(self._under_way) >= MOST_TRANSFERS:
            raise MalformedError(f"transfer {seqnum} is already under way, or {MOST_TRANSFERS} others are")
        outward = 0 if direction else length
        if len(self._buffer) < HEADER_SIZE + outward:
            return False
        data = self._part(HEADER_SIZE + outward)[HEADER_SIZE:]
        self._submit(seqnum, number | (TO_HOST if direction else 0), length, setup, data)
        return True

    def _submit(self, seqnum: int, endpoint: int, length: int, setup: bytes, data: bytes) -> None:
        if endpoint == TO_HOST:
            endpoint = 0
        if endpoint == 0 and bool(setup[0] & TO_HOST) != (length > len(data)) and length:
            raise MalformedError("a control transfer whose setup says another direction")
        transfer = Transfer(
            endpoint, setup=setup, data=data, length=length, on_done=lambda done: self._done(seqnum, done)
        )
        self._under_way[seqnum] = transfer
        self._front.usb.submit(transfer)

    def _done(self, seqnum: int, transfer: Transfer) -> None:
        """Answer a transfer that has ended. An unlinked one has its own answer, and one without a device none."""
        if self._under_way.pop(seqnum, None) is None or transfer.status == errno.ESHUTDOWN:
            return
        status, data = -(transfer.status or 0), bytes(transfer.received[: transfer.length])
        head = BASIC.pack(RET_SUBMIT, seqnum, 0, 0, 0)
        self._write(head + RETURN.pack(status, len(data) or transfer.moved, 0, -1, 0) + data)

    def _unlink(self, seqnum: int, victim: int) -> None:
        """Unlink a transfer. The status is 0 if it has ended already: its own answer has gone before."""
        transfer = self._under_way.pop(victim, None)
        status = -errno.ECONNRESET if transfer is not None else 0
        if transfer is not None:
            self._front.usb.cancel(transfer)
        self._write(BASIC.pack(RET_UNLINK, seqnum, 0, 0, 0) + UNLINKED.pack(status))
