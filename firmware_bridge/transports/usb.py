"""USB devices without a serial converter: cardlink on the bulk pair of a vendor interface, through libusb.

A thread for each IN endpoint reads, and one writes; none of them ever waits longer than TURN_MS before it looks whether
it should end. The last to end gives the device back, so that nobody uses what is disposed of, and the event loop waits
for nobody.

Whole transfers are handed on, from the bulk and the interrupt endpoint in the order in which they came. A frame must
not be mixed with one of the other endpoint, so a device that has both puts whole frames into every transfer
(docs/cardlink.md, "Transport"). One that has bulk endpoints alone may cut its stream as it likes.
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
from firmware_bridge.transports.base import GONE_HINT, UNSENT_LIMIT, OnData, OnLost
from firmware_bridge.transports.blocking import on_a_thread, tell_loop
from firmware_bridge.transports.usb_lookup import GONE, FindBackend, OpenUsb, libusb, open_usb

OPEN_WITHIN: Final = 5.0  # seconds; a device that answers needs a few milliseconds
TURN_MS: Final = 200  # milliseconds of one read or write
LARGEST_TRANSFER: Final = 4096  # bytes
LARGEST_WRITE: Final = 4096
NOT_YET_TAKEN: Final = 16  # transfers that a reader may be ahead of the event loop


async def open_usb_device(
    url: DeviceUrl, *, on_data: OnData, on_lost: OnLost, find_backend: FindBackend = libusb
) -> UsbTransport:
    """Open the device that `url` names. Raises TransportUnavailableError; nothing is then held."""
    try:
        async with asyncio.timeout(OPEN_WITHIN):
            opened = await on_a_thread(lambda: open_usb(url, find_backend), OpenUsb.release, name="cardshoe-usb-open")
    except TimeoutError:
        sentence = f"The USB device at {url.path.lstrip('/')} does not answer."
        raise TransportUnavailableError(sentence, "Switch it off and on.", "usb-failed") from None
    return UsbTransport(opened, url.path.lstrip("/"), on_data, on_lost, listen_only=url.listen)


class UsbTransport:
    """An open device. Takes `opened` over and releases it."""

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
        self._room = threading.BoundedSemaphore(NOT_YET_TAKEN)
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
        except RuntimeError:  # the system gives no more threads
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
            sentence = f"The USB device {self._place} takes no more data."
            self._lose(TransportLostError(sentence, GONE_HINT, "transport-stalled"))

    def close(self) -> None:
        self._open = False
        self._stop()

    def _stop(self) -> None:
        """Tell the threads that it is over; from any of them, too."""
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
        """One thread. Whatever ends it before its time is the end of the way; the last one gives the device back."""
        try:
            work()
        except Exception as error:
            if not tell_loop(self._loop, self._lose, self._gone(error)):
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
        sentence = f"The USB device {self._place} is gone."
        if number not in GONE:
            reason = os.strerror(number) if number else type(error).__name__
            sentence = f"The USB device {self._place} cannot be used any more: {reason}."
        lost = TransportLostError(sentence, GONE_HINT)
        lost.__cause__ = error
        return lost

    def _read_from(self, endpoint: Any) -> None:
        """Read until the end, a whole transfer at a time. Raises what the device or libusb said."""
        packet = max(1, endpoint.wMaxPacketSize)
        size = max(packet, LARGEST_TRANSFER // packet * packet)  # whole packets, so that none of them overflows
        patience = Stalls(endpoint)
        transfer = bytearray()
        while not self._ending.is_set():
            began = monotonic()
            try:
                part = bytes(endpoint.read(size, TURN_MS))
            except usb.core.USBTimeoutError:
                part = b""
            except usb.core.USBError as error:
                patience.lose_or_clear(error)
                transfer.clear()
                continue
            if part:
                patience.worked()
                transfer += part
            # A read ends with its transfer, with as many bytes as it can hold, or with its time; and libusb does not
            # say that it was the time when bytes had come. The rest of the transfer then comes with the next read.
            cut = len(part) % packet == 0 < len(part) < size and monotonic() - began >= TURN_MS / 1000
            if transfer and not cut:
                self._hand_on(bytes(transfer))
                transfer.clear()

    def _hand_on(self, data: bytes) -> None:
        """To the loop; wait while it is too far behind."""
        while not self._room.acquire(timeout=TURN_MS / 1000):
            if self._ending.is_set():
                return
        if not tell_loop(self._loop, self._take, data):
            self._stop()

    def _write_on(self) -> None:
        """Write until the end. Raises what the device or libusb said."""
        endpoint = self._opened.bulk_out
        patience = Stalls(endpoint)
        while True:
            with self._something_to_send:
                self._something_to_send.wait_for(lambda: self._unsent or self._ending.is_set())
                if self._ending.is_set():
                    return
                piece = bytes(self._unsent[:LARGEST_WRITE])
            try:
                taken = endpoint.write(piece, TURN_MS)
            except usb.core.USBTimeoutError:
                continue  # nothing was taken; what was taken in part is said without an error
            except usb.core.USBError as error:
                patience.lose_or_clear(error)
                continue
            patience.worked()
            with self._something_to_send:
                del self._unsent[:taken]


class Stalls:
    """An endpoint that stalls is cleared once; one that stalls again before it worked is given up."""

    def __init__(self, endpoint: Any) -> None:
        self._endpoint = endpoint
        self._cleared = False

    def worked(self) -> None:
        self._cleared = False

    def lose_or_clear(self, error: usb.core.USBError) -> None:
        """Raises the error unless it was the first stall."""
        if error.errno != errno.EPIPE or self._cleared:
            raise error
        self._cleared = True
        self._endpoint.clear_halt()
