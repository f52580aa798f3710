"""The device's side of USB without I/O: control requests, waiting packets, the host's transfers.

    device = UsbDevice(UsbDescription("CARDSHOE-SIM-1"), on_out=print)
    device.submit(Transfer(BULK_IN, length=512, on_done=print))     # the host's side; an adapter calls it
    device.send(b"frame", BULK_IN)                                  # the device's side

It belongs to one thread at a time, which calls `on_out` and `on_done`. A packet that a pulled cable cuts in two does
not arrive at all. Standard requests: USB 2.0, chapter 9.4; of the serial port: PSTN 1.2, 6.3.
"""

from __future__ import annotations

import errno
from collections import deque
from collections.abc import Callable
from typing import Final

from simulators.usb.control import ControlEndpoint, UsbFaults
from simulators.usb.descriptors import TO_HOST, UsbDescription

QUEUE_LIMIT: Final = 4096  # packets that wait on an endpoint; further packets are lost, as on a UART
HALT: Final = None  # in place of a packet: the endpoint halts here


class Transfer:
    """A transfer of the host. `endpoint` is an address; 0 is for a control transfer with its `setup`.

    The host takes `length` bytes. `status` is None while it is under way, then 0 or an error number: EPIPE for a stall,
    EOVERFLOW for a packet that is too long, ECONNRESET after a cancel, ESHUTDOWN without a device. `moved` counts the
    bytes that passed; `received` has those that came.
    """

    def __init__(
        self,
        endpoint: int,
        *,
        setup: bytes = b"",
        data: bytes = b"",
        length: int = 0,
        on_done: Callable[[Transfer], None] = lambda transfer: None,
    ) -> None:
        self.endpoint = endpoint
        self.setup = setup
        self.data = data
        self.length = length
        self.received = bytearray()
        self.moved = 0
        self.status: int | None = None
        self.on_done = on_done

    def finish(self, status: int) -> None:
        self.status = status
        self.on_done(self)


class UsbDeviceSide:
    """One device, plugged in. `on_out(endpoint, data)` takes what the host wrote.

    `on_line(up)` is called when the host raises or lowers DTR of the serial port.
    """

    def __init__(
        self,
        description: UsbDescription,
        *,
        on_out: Callable[[int, bytes], None] = lambda endpoint, data: None,
        on_line: Callable[[bool], None] = lambda up: None,
    ) -> None:
        self.description = description
        self.on_out = on_out
        self.on_line = on_line
        self.faults = UsbFaults()
        self.plugged = True
        self.plugs = 1
        self.moved = 0  # bytes on all endpoints but 0 since the plug
        self.control = ControlEndpoint(self)
        self.halted: set[int] = set()
        self._packets: dict[int, deque[bytes | None]] = {}
        self._asked: dict[int, deque[Transfer]] = {}

    # -- the device's side ----------------------------------------------------------------------------------------

    def send(self, data: bytes, endpoint: int, short: int = 0) -> None:
        """Send one transfer to the host in packets, the last of which is short, if necessary empty.

        With `short`, every packet has that many bytes and ends a transfer.
        """
        if not self.plugged or self.faults.silent:
            return
        longest = self._packet(endpoint)
        size = min(short or longest, longest)
        packets = [data[start : start + size] for start in range(0, len(data), size)]
        if len(packets[-1]) == longest:
            packets.append(b"")
        self._put(endpoint, *packets)

    def babble(self, data: bytes, endpoint: int) -> None:
        """Send one packet that is longer than the endpoint's descriptor allows."""
        self._put(endpoint, data.ljust(self._packet(endpoint) + 1, b"\0"))

    def halt(self, endpoint: int) -> None:
        """Once everything waiting on the endpoint has been read, halt it until the host clears it."""
        self._put(endpoint, HALT)

    def unplug(self) -> None:
        """End every transfer and drop every waiting packet."""
        self.plugged = False
        self._reset_control()
        self._forget(errno.ESHUTDOWN)

    def plug(self) -> None:
        """Plug the device in (again), not configured and with nothing waiting."""
        self.unplug()
        self.plugged = True
        self.plugs += 1
        self.moved = 0

    def waiting(self, endpoint: int) -> int:
        """Return how many packets the host has not read."""
        return len(self._packets.get(endpoint, ()))

    # -- the host's side ------------------------------------------------------------------------------------------

    def reset(self) -> None:
        """Reset the bus: the state is as after plugging in."""
        self._reset_control()
        self._forget(errno.ECONNRESET)

    def submit(self, transfer: Transfer) -> None:
        """Begin a transfer; it ends immediately, or as soon as it can."""
        if not self.plugged:
            transfer.finish(errno.ESHUTDOWN)
        elif transfer.endpoint in (0, TO_HOST):
            self._control(transfer)
        elif transfer.endpoint not in self.description.endpoints or not self.control.configuration:
            transfer.finish(errno.EPIPE)
        else:
            self._asked.setdefault(transfer.endpoint, deque()).append(transfer)
            self.go_on(transfer.endpoint)

    def cancel(self, transfer: Transfer) -> bool:
        """End a transfer with the bytes transferred so far. Return whether it was under way."""
        if transfer.status is None:
            self._end(transfer, errno.ECONNRESET)
            return True
        return False

    def go_on(self, endpoint: int | None = None) -> None:
        """Carry out pending transfers on one endpoint, or on all of them after a change of `faults`."""
        for address in [endpoint] if endpoint is not None else list(self._asked):
            while (asked := self._asked.get(address)) and address & ~TO_HOST and self._advance(asked[0]):
                pass

    def clear_halt(self, endpoint: int) -> None:
        self.halted.discard(endpoint)
        self.go_on(endpoint)

    # -- internals

    def _reset_control(self) -> None:
        had_line = self.control.dtr
        self.control.reset()
        if had_line:
            self.on_line(False)

    def _control(self, transfer: Transfer) -> None:
        answer = self.control.answer(transfer.setup, transfer.data)
        if answer is None:  # never answered, until the host gives up
            self._asked.setdefault(transfer.endpoint, deque()).append(transfer)
        elif isinstance(answer, int):
            transfer.finish(answer)
        else:
            transfer.received += answer
            transfer.moved = len(answer) if transfer.setup[0] & TO_HOST else len(transfer.data)
            transfer.finish(0)

    def _packet(self, endpoint: int) -> int:
        return self.description.endpoints[endpoint].packet

    def _end(self, transfer: Transfer, status: int) -> None:
        asked = self._asked.get(transfer.endpoint, deque())
        if transfer in asked:
            asked.remove(transfer)
        transfer.finish(status)

    def _put(self, endpoint: int, *packets: bytes | None) -> None:
        waiting = self._packets.setdefault(endpoint, deque())
        if self.plugged and len(waiting) + len(packets) <= QUEUE_LIMIT:
            waiting.extend(packets)
            self.go_on(endpoint)

    def _advance(self, transfer: Transfer) -> bool:
        """Advance the first transfer of an endpoint. Return whether anything could be done."""
        endpoint = transfer.endpoint
        waiting = self._packets.get(endpoint, deque())
        if waiting and waiting[0] is HALT and endpoint not in self.halted:
            waiting.popleft()
            self.halted.add(endpoint)
        if self._stalls(endpoint):
            self._end(transfer, errno.EPIPE)
        elif endpoint & TO_HOST:
            if not waiting:
                return False
            self._receive(transfer, waiting.popleft() or b"")
        elif self.faults.takes_nothing:
            return False
        else:
            self._take(transfer)
        return True

    def _stalls(self, endpoint: int) -> bool:
        if endpoint in self.halted:
            return True
        left = self.faults.stalls.get(endpoint, 0)
        if left > 0:
            self.faults.stalls[endpoint] = left - 1
            self.halted.add(endpoint)
        return left > 0

    def _receive(self, transfer: Transfer, packet: bytes) -> None:
        """Receive one packet. It ends the transfer if it is short or the last that the host takes."""
        longest = self._packet(transfer.endpoint)
        if len(packet) > min(longest, transfer.length - transfer.moved):
            self._end(transfer, errno.EOVERFLOW)
        elif self._pass(len(packet)):
            transfer.received += packet
            transfer.moved += len(packet)
            if len(packet) < longest or transfer.moved == transfer.length:
                self._end(transfer, 0)
        self._unplug_if_due()

    def _take(self, transfer: Transfer) -> None:
        """Take all packets of the host, or as many as pass before the cable comes out."""
        size = self._packet(transfer.endpoint)
        whole = True
        for start in range(0, len(transfer.data), size):
            piece = transfer.data[start : start + size]
            whole = self._pass(len(piece))
            if not whole:
                break
            transfer.moved += len(piece)
        if transfer.moved and not self.faults.silent:
            self.on_out(transfer.endpoint, transfer.data[: transfer.moved])
        if whole:
            self._end(transfer, 0)
        self._unplug_if_due()

    def _pass(self, count: int) -> bool:
        """Return whether `count` bytes get through before the cable comes out."""
        limit = self.faults.unplug_after
        room = max(0, limit - self.moved) if limit else count
        self.moved += min(count, room)
        return count <= room

    def _unplug_if_due(self) -> None:
        if 0 < self.faults.unplug_after <= self.moved:
            self.faults.unplug_after = 0
            self.unplug()

    def _forget(self, status: int) -> None:
        self.halted.clear()
        self._packets.clear()
        asked, self._asked = self._asked, {}
        for transfers in asked.values():
            while transfers:
                transfers.popleft().finish(status)
