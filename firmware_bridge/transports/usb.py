"""USB devices without a serial converter: cardlink on the bulk pair of a vendor interface, through libusb.

One thread reads from each IN endpoint, and one writes. None waits longer than TURN_MS before it checks whether to end.
The last to end releases the device, so that no thread uses a released device and the event loop waits for none of them.

Whole transfers from the bulk and the interrupt endpoint are delivered in the order of arrival. Frames of two endpoints
must not be mixed, so a device with both puts whole frames into every transfer (docs/cardlink.md, "Transport"). A device
with bulk endpoints alone may cut its stream anywhere.
"""

from __future__ import annotations

import asyncio
import errno
import os
import threading
from collections.abc import Callable
from time import monotonic
from typing import Any, Final

import usb.core

from firmware_bridge.device_url import DeviceUrl
from firmware_bridge.errors import TransportLostError, TransportUnavailableError
from firmware_bridge.messages import message
from firmware_bridge.transports.base import GONE_HINT, UNSENT_LIMIT, OnData, OnLost
from firmware_bridge.transports.blocking import call_on_loop, run_in_thread
from firmware_bridge.transports.usb_lookup import GONE, FindBackend, OpenUsb, libusb, open_usb

OPEN_WITHIN: Final = 5.0  # seconds; a device that answers needs a few milliseconds
TURN_MS: Final = 200  # milliseconds of one read or write
LARGEST_TRANSFER: Final = 4096  # bytes
LARGEST_WRITE: Final = 4096
READ_AHEAD: Final = 16  # transfers that a reader may be ahead of the event loop


async def open_usb_device(
    url: DeviceUrl, *, on_data: OnData, on_lost: OnLost, find_backend: FindBackend = libusb
) -> UsbTransport:
    """Open the device that `url` names. Raise TransportUnavailableError, leaving nothing open."""
    try:
        async with asyncio.timeout(OPEN_WITHIN):
            opened = await run_in_thread(lambda: open_usb(url, find_backend), OpenUsb.release, name="cardshoe-usb-open")
    except TimeoutError:
        sentence = message("The USB device at {place} does not answer.", place=url.path.lstrip("/"))
        raise TransportUnavailableError(
            sentence, message("Switch the device off and on again."), "usb-failed"
        ) from None
    return UsbTransport(opened, url.path.lstrip("/"), on_data, on_lost, listen_only=url.listen)


class UsbTransport:
    """An open device. Owns `opened` and releases it."""

    def __init__(
        self, opened: OpenUsb, place: str, on_data: OnData, on_lost: OnLost, *, listen_only: bool = False
    ) -> None:
        self._loop = asyncio.get_running_loop()
        self._opened = opened
        self._place = place
        self._on_data = on_data
        self._on_lost = on_lost
        self._listen_only = listen_only
        self._open = True
        self._ending = threading.Event()
        self._room = threading.BoundedSemaphore(READ_AHEAD)
        self._unsent = bytearray()
        self._something_to_send = threading.Condition()
        works = [lambda: self._read_from(opened.bulk_in)]
        if opened.interrupt_in is not None:
            works.append(lambda: self._read_from(opened.interrupt_in))
        if not listen_only:
            works.append(self._write_on)
        self._working = len(works)
        self._counting = threading.Lock()
        threads = [
            threading.Thread(target=self._work, args=(work,), name="cardshoe-usb", daemon=True) for work in works
        ]
        try:
            while threads:
                threads[0].start()
                del threads[0]
        except RuntimeError:  # the system starts no more threads
            self.close()
            for _ in threads:
                self._count_down()
            raise

    def write(self, data: bytes) -> None:
        if not self._open or self._listen_only or not data:
            return
        with self._something_to_send:
            self._unsent += data
            too_much = len(self._unsent) > UNSENT_LIMIT
            self._something_to_send.notify()
        if too_much:
            sentence = message("The USB device {place} no longer accepts data.", place=self._place)
            self._lose(TransportLostError(sentence, GONE_HINT, "transport-stalled"))

    def close(self) -> None:
        self._open = False
        self._stop()

    def _stop(self) -> None:
        """Make the threads end. May be called from any thread."""
        self._ending.set()
        with self._something_to_send:
            self._unsent.clear()
            self._something_to_send.notify()

    def _lose(self, error: TransportLostError) -> None:
        if self._open:
            self.close()
            self._on_lost(error)

    def _take(self, data: bytes) -> None:
        self._room.release()
        if self._open:
            self._on_data(data)

    # -- on the threads -------------------------------------------------------------------------------------------

    def _work(self, work: Callable[[], None]) -> None:
        """Run one thread. An exception ends the connection; the last thread to end releases the device."""
        try:
            work()
        except Exception as error:
            if not call_on_loop(self._loop, self._lose, self._gone(error)):
                self._stop()
        self._count_down()

    def _count_down(self) -> None:
        with self._counting:
            self._working -= 1
            last = not self._working
        if last:
            self._opened.release()

    def _gone(self, error: Exception) -> TransportLostError:
        number = error.errno if isinstance(error, OSError) else None
        sentence = message("The USB device {place} is gone.", place=self._place)
        if number not in GONE:
            reason = os.strerror(number) if number else type(error).__name__
            sentence = message(
                "The USB device {place} can no longer be used: {reason}.", place=self._place, reason=reason
            )
        lost = TransportLostError(sentence, GONE_HINT)
        lost.__cause__ = error
        return lost

    def _read_from(self, endpoint: Any) -> None:
        """Read a whole transfer at a time until the end. Raise the error from the device or libusb."""
        packet = max(1, endpoint.wMaxPacketSize)
        size = max(packet, LARGEST_TRANSFER // packet * packet)  # whole packets, so that none of them overflows
        stalls = StallRecovery(endpoint)
        transfer = bytearray()
        while not self._ending.is_set():
            began = monotonic()
            try:
                part = bytes(endpoint.read(size, TURN_MS))
            except usb.core.USBTimeoutError:
                part = b""
            except usb.core.USBError as error:
                stalls.clear_or_raise(error)
                transfer.clear()
                continue
            if part:
                stalls.worked()
                transfer += part
            # A read ends with its transfer, with a full buffer, or at its timeout, which libusb does not report if
            # bytes came before it. The rest of the transfer then comes with the next read.
            cut = len(part) % packet == 0 < len(part) < size and monotonic() - began >= TURN_MS / 1000
            if transfer and not cut:
                self._deliver(bytes(transfer))
                transfer.clear()

    def _deliver(self, data: bytes) -> None:
        """Pass data to the loop; wait while the loop is too far behind."""
        while not self._room.acquire(timeout=TURN_MS / 1000):
            if self._ending.is_set():
                return
        if not call_on_loop(self._loop, self._take, data):
            self._stop()

    def _write_on(self) -> None:
        """Write until the end. Raise the error from the device or libusb."""
        endpoint = self._opened.bulk_out
        stalls = StallRecovery(endpoint)
        while True:
            with self._something_to_send:
                self._something_to_send.wait_for(lambda: self._unsent or self._ending.is_set())
                if self._ending.is_set():
                    return
                piece = bytes(self._unsent[:LARGEST_WRITE])
            try:
                taken = endpoint.write(piece, TURN_MS)
            except usb.core.USBTimeoutError:
                continue  # nothing was taken: if part was taken, there is no error
            except usb.core.USBError as error:
                stalls.clear_or_raise(error)
                continue
            stalls.worked()
            with self._something_to_send:
                del self._unsent[:taken]


class StallRecovery:
    """Clears the halt of an endpoint that stalls. A second stall without a success in between is an error."""

    def __init__(self, endpoint: Any) -> None:
        self._endpoint = endpoint
        self._cleared = False

    def worked(self) -> None:
        self._cleared = False

    def clear_or_raise(self, error: usb.core.USBError) -> None:
        """Clear the halt, or raise the error unless it was the first stall."""
        if error.errno != errno.EPIPE or self._cleared:
            raise error
        self._cleared = True
        self._endpoint.clear_halt()
