"""Serial ports: UART, USB CDC-ACM, converters, and the pty of a simulator.

pyserial opens the port and sets the line; from then on one descriptor of our own is read and written on the event
loop. Whatever goes wrong afterwards is one error, TransportLostError; what goes wrong before is one of

    port-missing       there is no such node, or nothing behind it
    port-permission    the node belongs to a group that this user is not in
    port-busy          another program has it
    port-failed        anything else: no serial port, a speed that it cannot do
"""

from __future__ import annotations

import array
import asyncio
import contextlib
import errno
import fcntl
import grp
import os
import stat
import termios
from pathlib import Path
from typing import Final

import serial

from firmware_bridge.device_url import DeviceUrl
from firmware_bridge.errors import TransportLostError, TransportUnavailableError
from firmware_bridge.transports.base import OnData, OnLost

READ_SIZE: Final = 4096
UNSENT_LIMIT: Final = 65536  # bytes; more than a device that lives leaves waiting

_MISSING: Final = frozenset({errno.ENOENT, errno.ENOTDIR, errno.ENODEV, errno.ENXIO})
_NOT_ADMITTED: Final = frozenset({errno.EACCES, errno.EPERM})
_BUSY: Final = frozenset({errno.EBUSY, errno.EAGAIN})
_GONE_HINT: Final = "Check the cable and the device's power. The link comes back by itself."


async def open_serial_port(url: DeviceUrl, *, on_data: OnData, on_lost: OnLost) -> SerialTransport:
    """Open the port at `url.path`. Raises TransportUnavailableError; no descriptor is then left open."""
    descriptor = open_descriptor(url.path, url.baud)
    try:
        return SerialTransport(descriptor, url.path, on_data, on_lost, listen_only=url.listen)
    except BaseException:
        os.close(descriptor)
        raise


def open_descriptor(path: str, baud: int) -> int:
    """A descriptor of the port: raw, non-blocking, ours alone. Raises TransportUnavailableError.

    DTR is raised by the kernel at open and stays up; HUPCL is cleared, so that it stays up at close too: a device that
    takes an edge of DTR for a reset is reset at most once.
    """
    port = serial.Serial(exclusive=True)
    try:
        port.baudrate = baud
        port.port = path
        port.open()
        try:
            descriptor = os.dup(port.fileno())
        finally:
            port.close()  # its own descriptor and its four pipe ends; the lock lives on in the duplicate
        try:
            _set_line(descriptor)
        except BaseException:
            os.close(descriptor)
            raise
    except (OSError, termios.error, ValueError, OverflowError) as error:
        raise _unavailable(path, baud, error) from error
    return descriptor


def _set_line(descriptor: int) -> None:
    line = termios.tcgetattr(descriptor)
    line[0] &= ~termios.BRKINT  # a break on the line must not throw away what was received
    line[2] &= ~termios.HUPCL
    # pyserial leaves VMIN at 0, where "nothing yet" and "unplugged" both read as no bytes.
    line[6][termios.VMIN] = 1
    line[6][termios.VTIME] = 0
    termios.tcsetattr(descriptor, termios.TCSANOW, line)
    os.set_blocking(descriptor, False)
    fcntl.ioctl(descriptor, termios.TIOCEXCL)  # pyserial's lock binds only programs that ask for it


def _unavailable(path: str, baud: int, error: Exception) -> TransportUnavailableError:
    """The sentence, the next step and the code for a port that did not open."""
    number = _error_number(error)
    if number in _MISSING:
        sentence = f"There is no serial port {path}."
        hint = "Plug the device in and switch it on; if it is, look for its name under /dev/cardshoe."
        return TransportUnavailableError(sentence, hint, "port-missing")
    if number in _NOT_ADMITTED:
        return TransportUnavailableError(
            f"This user may not use the serial port {path}.", _permission_hint(path), "port-permission"
        )
    if number in _BUSY:
        sentence = f"Another program has the serial port {path}."
        hint = f"`fuser -v {path}` names it; stop it, or give this table another device."
        return TransportUnavailableError(sentence, hint, "port-busy")
    if number == errno.ENOTTY:
        sentence = f"{path} is not a serial port."
        return TransportUnavailableError(sentence, "Correct the path in the device URL.", "port-failed")
    reason = os.strerror(number) if number else str(error)
    sentence = f"The serial port {path} cannot be used at {baud} baud: {reason}."
    hint = "Check the speed (baud=), then unplug the device and plug it in again; the kernel's log may say more."
    return TransportUnavailableError(sentence, hint, "port-failed")


def _error_number(error: BaseException) -> int | None:
    """The number of what the system refused, which pyserial sometimes leaves in the error behind its own."""
    number = error.errno if isinstance(error, OSError) else None
    if number is None and isinstance(error, termios.error):
        number = error.args[0]
    if number is None and error.__context__ is not None:
        return _error_number(error.__context__)
    return number


def _permission_hint(path: str) -> str:
    try:
        node = Path(path).stat()
    except OSError:
        return "A folder on the way to it is closed to this user: check the path in the device URL."
    try:
        group = grp.getgrgid(node.st_gid).gr_name
    except KeyError:
        group = str(node.st_gid)
    both = stat.S_IRGRP | stat.S_IWGRP
    if node.st_gid and node.st_mode & both == both:
        return f"It belongs to the group {group}: add the user to it (`usermod -aG {group} USER`) and log in again."
    return (
        f"It belongs to the group {group}, which may not read and write it either: install this program's udev rules."
    )


class SerialTransport:
    """An open port. Takes the descriptor over and closes it."""

    def __init__(
        self, descriptor: int, path: str, on_data: OnData, on_lost: OnLost, *, listen_only: bool = False
    ) -> None:
        self._descriptor = descriptor
        self._path = path
        self._on_data = on_data
        self._on_lost = on_lost
        self._listen_only = listen_only
        self._unsent = bytearray()
        self._loop = asyncio.get_running_loop()
        self._loop.add_reader(descriptor, self._read)

    def write(self, data: bytes) -> None:
        if self._descriptor < 0 or self._listen_only or not data:
            return
        if not self._unsent:
            data = data[self._send(data) :]
            if self._descriptor < 0 or not data:
                return
            self._loop.add_writer(self._descriptor, self._write_unsent)
        self._unsent += data
        if len(self._unsent) > UNSENT_LIMIT:
            sentence = f"The device at {self._path} takes no more data."
            self._lose(TransportLostError(sentence, _GONE_HINT, "transport-stalled"))

    def close(self) -> None:
        descriptor, self._descriptor = self._descriptor, -1
        if descriptor < 0:
            return
        self._unsent.clear()
        if not self._loop.is_closed():
            self._loop.remove_reader(descriptor)
            self._loop.remove_writer(descriptor)
        _let_go(descriptor)

    def _read(self) -> None:
        try:
            data = os.read(self._descriptor, READ_SIZE)
        except (BlockingIOError, InterruptedError):
            return
        except OSError as error:
            self._lose(self._gone(error))
            return
        if data:
            self._on_data(data)
        else:
            self._lose(self._gone())

    def _write_unsent(self) -> None:
        del self._unsent[: self._send(self._unsent)]
        if self._descriptor >= 0 and not self._unsent:
            self._loop.remove_writer(self._descriptor)

    def _send(self, data: bytes | bytearray) -> int:
        """How many bytes the kernel took; the way may be lost afterwards."""
        try:
            return os.write(self._descriptor, data)
        except (BlockingIOError, InterruptedError):
            return 0
        except OSError as error:
            self._lose(self._gone(error))
            return 0

    def _gone(self, error: OSError | None = None) -> TransportLostError:
        lost = TransportLostError(f"The serial port {self._path} is gone.", _GONE_HINT)
        lost.__cause__ = error
        return lost

    def _lose(self, error: TransportLostError) -> None:
        self.close()
        self._on_lost(error)


def _let_go(descriptor: int) -> None:
    """Close, without waiting for a device that takes nothing, and whatever state the port is in."""
    with contextlib.suppress(OSError, termios.error):
        if _held_by_kernel(descriptor):
            # Closing would wait for these bytes to leave, half a minute where the device does not take them.
            termios.tcflush(descriptor, termios.TCOFLUSH)
    with contextlib.suppress(OSError):
        # A pty outlives its last user and would stay closed to everyone else.
        fcntl.ioctl(descriptor, termios.TIOCNXCL)
    with contextlib.suppress(OSError):
        os.close(descriptor)


def _held_by_kernel(descriptor: int) -> int:
    """Bytes that the kernel has taken and not yet sent. Always 0 for a pty."""
    count = array.array("i", [0])
    fcntl.ioctl(descriptor, termios.TIOCOUTQ, count)
    return count[0]
