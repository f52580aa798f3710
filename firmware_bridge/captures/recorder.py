"""Writes captures while links are open. This is a debugging aid: after a failure it stops and logs that once.

A separate thread writes the files, so that a hanging disk does not hold up the program.
"""

from __future__ import annotations

import errno
import os
import queue
import threading
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any, Final

import msgspec

from firmware_bridge.capabilities import DeviceIdentity
from firmware_bridge.captures import capture_format
from firmware_bridge.captures.capture_format import CaptureError, CaptureHeader, Cipher, MakeCipher, Record
from firmware_bridge.commands import AnyCommand
from firmware_bridge.drivers.base import LinkOver
from firmware_bridge.drivers.setting import FrameKeys
from firmware_bridge.errors import BridgeError, type_and_place
from firmware_bridge.messages import AnyText, Message, message

MEGABYTE: Final = 1_000_000
WAITING_LIMIT: Final = 4096  # records; a disk that is so far behind will not catch up
CLOSES_WITHIN: Final = 2.0  # seconds that the end of the program waits for the disk
_LONGEST_HEADER: Final = 65536  # bytes


class Bounds(msgspec.Struct, frozen=True):
    """The limits of a capture: bytes of the `largest` file, and the number of `files`, including the current file."""

    largest: int = 16 * MEGABYTE
    files: int = 4


class CaptureFile:
    """A capture that is being written, with rotation: FILE is the newest, then FILE.1, FILE.2.

    An existing file is continued if it is a capture, and refused otherwise. `make_header` is called with the id that
    the header continues, and with the device as far as it is known. Raise CaptureError when writing cannot begin,
    OSError or CaptureError when it cannot go on.
    """

    def __init__(
        self,
        path: Path,
        make_header: Callable[[str, DeviceIdentity | None], CaptureHeader],
        bounds: Bounds,
        make_cipher: MakeCipher | None,
    ) -> None:
        self._path = path
        self._make_header = make_header
        self._bounds = bounds
        self._make_cipher = make_cipher
        self._device: DeviceIdentity | None = None
        self._cipher: Cipher | None = None
        self._descriptor = -1
        self._older = [path.with_name(f"{path.name}.{number}") for number in range(1, bounds.files)]
        try:
            self._check_older()
            self._begin("")
        except OSError as error:
            self.close()
            raise CaptureError(
                message(
                    "The capture {path} cannot be written: {why}.", path=str(path), why=error.strerror or str(error)
                ),
                message("Name a file in a folder with room that this user may write to."),
            ) from error
        except CaptureError:
            self.close()
            raise

    def write(self, record: Record) -> None:
        """Append a record, rotating first if the file is full. Raise OSError if the disk fails."""
        if isinstance(record, capture_format.Ready):
            self._device = record.device
        line = self._line_of(record)
        if self._size + len(line) > self._bounds.largest and self._number:
            self._rotate()
            line = self._line_of(record)
        self._append(line)
        self._number += 1

    def close(self) -> None:
        descriptor, self._descriptor = self._descriptor, -1
        if descriptor >= 0:
            os.close(descriptor)

    def _line_of(self, record: Record) -> bytes:
        if self._cipher is None:
            return capture_format.encode_line(record)
        return capture_format.encode_line(capture_format.seal_record(record, self._number + 1, self._cipher))

    def _begin(self, continues: str) -> None:
        self._descriptor = os.open(
            self._path, os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600
        )
        self._size = os.fstat(self._descriptor).st_size
        self._number = 0  # records since the header
        if self._size:
            self._check_what_is_there()
        header = self._make_header(continues, self._device)
        line = capture_format.encode_line(header)
        self._id = header.id
        self._cipher = None if self._make_cipher is None else self._make_cipher(header.id, line)
        self._append(line)

    def _check_older(self) -> None:
        """Check that the files which rotation will move or remove are captures."""
        for path in self._older:
            if path.is_symlink() or (path.exists() and not _may_be_replaced(path)):
                raise CaptureError(
                    message("{path} exists already and is not a capture.", path=str(path)),
                    message("Name another file."),
                )

    def _check_what_is_there(self) -> None:
        first = os.pread(self._descriptor, _LONGEST_HEADER, 0).partition(b"\n")[0]
        if capture_format.format_of(first) != capture_format.FORMAT:
            raise CaptureError(
                message(
                    "{path} exists already and is not a capture that this version can continue.", path=str(self._path)
                ),
                message("Name another file; nothing was written."),
            )
        if os.pread(self._descriptor, 1, self._size - 1) != b"\n":  # truncated by a full disk or a power cut
            self._append(b"\n")

    def _rotate(self) -> None:
        self.close()
        self._check_older()
        names = [self._path, *self._older]
        names[-1].unlink(missing_ok=True)
        for newer, older in reversed(list(pairwise(names))):
            if newer.exists():
                newer.replace(older)
        self._begin(self._id)

    def _append(self, data: bytes) -> None:
        if os.write(self._descriptor, data) != len(data):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        self._size += len(data)


def _may_be_replaced(path: Path) -> bool:
    with path.open("rb") as file:
        first = file.readline(_LONGEST_HEADER)
    return not first or capture_format.format_of(first) is not None


class CaptureRecorder:
    """Writes the events of links (`firmware_bridge.link.Recorder`) to a capture file.

    `clock` is monotonic, in seconds. No method blocks or raises. `stopped` says why recording stopped, or is empty. Set
    `keeps_keys` only if the records are sealed or the device is simulated: then the keys of links may be recorded.
    """

    def __init__(self, file: CaptureFile, *, clock: Callable[[], float], log: Any, keeps_keys: bool = False) -> None:
        self.stopped: AnyText = ""
        self._keeps_keys = keeps_keys
        self._file = file
        self._clock = clock
        self._log = log
        self._began = clock()
        self._last_ms = 0
        self._closed = False
        self._waiting: queue.Queue[Record | None] = queue.Queue(WAITING_LIMIT)
        # A hanging disk must not keep the program from ending.
        self._thread = threading.Thread(target=self._write_all, name="cardshoe-capture", daemon=True)
        self._thread.start()

    # -- called by a link -----------------------------------------------------------------------------------------

    def opened(self) -> None:
        self._take(capture_format.Opened(self._ms()))

    def driver_made(self, nonce: bytes, held: tuple[int, int]) -> None:
        """Record what a driver was made from. The caller that makes the drivers records it, because the link does
        not know it.
        """
        self._take(capture_format.DriverMade(self._ms(), nonce.hex(), *held))

    def link_keys(self, keys: FrameKeys) -> None:
        """Record the keys of a link, for its driver. They are kept only in sealed captures and those of simulators."""
        if self._keeps_keys:
            self._take(capture_format.LinkKeys(self._ms(), *(key.hex() for key in keys)))

    def ready(self, device: DeviceIdentity) -> None:
        self._take(capture_format.Ready(self._ms(), device))

    def received(self, data: bytes) -> None:
        self._take(capture_format.FromDevice(self._ms(), data.hex()))

    def written(self, data: bytes) -> None:
        self._take(capture_format.ToDevice(self._ms(), data.hex()))

    def commanded(self, command_id: int, command: AnyCommand) -> None:
        self._take(capture_format.Commanded(self._ms(), command_id, command))

    def ended(self, over: LinkOver, *, by_driver: bool) -> None:
        self._take(capture_format.Lost(self._ms(), over.code, str(over.sentence), over.refused, by_driver))

    def close(self) -> None:
        """Write what is queued and close the file. Closing again does nothing; later records are dropped."""
        if not self._closed:
            self._closed = True
            try:
                self._waiting.put(None, timeout=CLOSES_WITHIN)
            except queue.Full:
                return
            self._thread.join(CLOSES_WITHIN)

    # -- internals ---------------------------------------------------------------------------------------------------

    def _ms(self) -> int:
        """Return the milliseconds since the last record, such that rounding errors do not add up."""
        now = max(round((self._clock() - self._began) * 1000), self._last_ms)
        since, self._last_ms = now - self._last_ms, now
        return since

    def _take(self, record: Record) -> None:
        if self._closed or self.stopped:
            return
        try:
            self._waiting.put_nowait(record)
        except queue.Full:
            self._stop(message("the disk does not keep up"))

    def _write_all(self) -> None:
        """Write records on the thread until `close`. After a failure, drain the queue without writing."""
        while (record := self._waiting.get()) is not None:
            if self.stopped:
                continue
            try:
                self._file.write(record)
            except (OSError, BridgeError, ValueError) as error:
                self._stop(_reason(error))
        try:
            self._file.close()
        except OSError as error:
            self._stop(_reason(error))

    def _stop(self, why: AnyText) -> None:
        if not self.stopped:
            self.stopped = why
            log_stopped(self._log, message("The capture has stopped: {why}.", why=why))


def _reason(error: Exception) -> AnyText:
    """Return a reason that is safe to log: the operating system's words or this program's own."""
    if isinstance(error, BridgeError):
        return error.message
    return getattr(error, "strerror", None) or type_and_place(error)


def log_stopped(log: Any, said: Message) -> None:
    """Log that the capture has stopped. A log on the same full disk may fail too."""
    try:
        log.warning("capture.stopped", code="capture-stopped", sentence=str(said))
    except Exception:
        return
